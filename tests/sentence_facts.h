// What a sentence says apart from its words, which may change: tests pin this and leave the wording
// free.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace coalprof {

// The numbers of a text in order, with a blank between: "128 bytes at 0.5 of L2" is "128 0.5".
// Digits that follow a letter belong to a word.
inline std::string numbers_in(std::string_view text) {
    const auto is_digit = [&](std::size_t at) {
        return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    const auto is_word = [&](std::size_t at) {
        return std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    std::string numbers;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        const bool is_signed = text[at] == '-' && is_digit(at + 1) && at > 0 && text[at - 1] == ' ';
        if (!is_signed && !is_digit(at)) {
            for (++at; at < text.size() && is_word(begin) && is_word(at);) ++at;
            continue;
        }
        at += is_signed;
        while (is_digit(at) || (text[at] == '.' && is_digit(at + 1))) ++at;
        if (!numbers.empty()) numbers += ' ';
        numbers += text.substr(begin, at - begin);
    }
    return numbers;
}

// The same with what stands in single quotes, whole: "'i/16' moves 1 element" is "'i/16' 1".
inline std::string facts_in(std::string_view text) {
    const auto next_quote = [&](std::size_t at) {  // one that begins a word
        do at = text.find('\'', at);
        while (at != text.npos && at > 0 && text[at - 1] != ' ' && ++at > 0);
        return std::min(at, text.size());
    };
    std::string facts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t quote = next_quote(at);
        const std::size_t end = std::min(text.find('\'', quote + 1), text.size());
        const std::string numbers = numbers_in(text.substr(at, quote - at));
        const std::string_view name =
            quote < text.size() ? text.substr(quote, end + 1 - quote) : std::string_view{};
        for (const std::string_view fact : {std::string_view(numbers), name}) {
            if (!facts.empty() && !fact.empty()) facts += ' ';
            facts += fact;
        }
        at = end + 1;
    }
    return facts;
}

}  // namespace coalprof
