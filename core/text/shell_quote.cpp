#include "core/text/shell_quote.h"

namespace coalprof {

std::string within_single_quotes(std::string_view text) {
    std::string escaped;
    for (const char c : text) escaped += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return escaped;
}

std::string shell_word(std::string_view text) {
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./%@";
    if (!text.empty() && text.find_first_not_of(plain) == text.npos) return std::string(text);
    return '\'' + within_single_quotes(text) + '\'';
}

std::string shell_words(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
    return line;
}

}  // namespace coalprof
