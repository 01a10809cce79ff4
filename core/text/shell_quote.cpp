#include "core/text/shell_quote.h"

#include <algorithm>

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

std::string shell_words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (!word.empty()) words.emplace_back(word);
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return shell_words(words);
}

}  // namespace coalprof
