#include "core/text/log_lines.h"

#include <algorithm>

namespace coalprof {

bool begins_like_command(std::string_view line) {
    const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    return words.starts_with("::") || words.starts_with("##");
}

std::string without_commands(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::size_t size = std::min(line.size() + 1, text.size());
        const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
        safe += text.substr(0, blanks);
        if (begins_like_command(line)) safe += '\\';
        safe += text.substr(blanks, size - blanks);
        text.remove_prefix(size);
    }
    return safe;
}

}  // namespace coalprof
