#include "core/text/split_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

std::vector<std::string> split_list(std::string_view text, std::string_view option) {
    std::vector<std::string> parts;
    std::unordered_set<std::string_view> known;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (end == begin)
            throw UsageError(fmt::format("{} {}: a value is missing", option, shown(text)),
                             std::string(text), begin, "lists look like a,b,c");
        const std::string_view part = text.substr(begin, end - begin);
        if (known.insert(part).second) parts.emplace_back(part);
        begin = end + 1;
    }
    return parts;
}

}  // namespace coalprof
