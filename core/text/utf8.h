// UTF-8 through utf8proc: decoding, validity, and the number of terminal columns of a character.
// wcwidth() is not used: it asks the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coalprof {

// For the letters A to Z only, whatever the locale.
constexpr char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

struct Utf8Char {
    char32_t code_point = 0;
    std::size_t bytes = 1;
    bool valid = false;  // false: an invalid byte, which is code_point
};

// The first character of `text`, which is not empty. Overlong forms, surrogates and code points
// above U+10FFFF are invalid (Unicode 15, table 3-7); an invalid sequence is taken byte by byte.
Utf8Char first_utf8_char(std::string_view text);

bool is_valid_utf8(std::string_view text);
void append_utf8(std::string& text, char32_t code_point);

// Controls, line and paragraph separators, and the marks that reorder or hide text (bidirectional
// controls, zero-width characters): nothing that may reach a terminal unescaped.
bool is_control(char32_t code_point);

// 0 for combining marks, 2 for East Asian wide characters and emoji, else 1.
std::size_t terminal_columns(char32_t code_point);
std::size_t terminal_columns(std::string_view text);

// The longest beginning of `text` that takes at most `columns` columns, in whole characters.
std::string_view beginning(std::string_view text, std::size_t columns);

std::string_view version_of_utf8_library();

}  // namespace coalprof
