#include "core/text/shell_quote.h"

namespace coalprof {

std::string within_single_quotes(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return escaped;
}

}  // namespace coalprof
