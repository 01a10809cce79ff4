#include "core/text/utf8.h"

#include <utf8proc.h>

namespace coalprof {

Utf8Char first_utf8_char(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return {lead, 1, true};
    utf8proc_int32_t code_point = 0;
    const auto bytes = ::utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                          static_cast<utf8proc_ssize_t>(text.size()), &code_point);
    if (bytes <= 0) return {lead, 1, false};
    return {static_cast<char32_t>(code_point), static_cast<std::size_t>(bytes), true};
}

void append_utf8(std::string& text, char32_t code_point) {
    char bytes[4];
    const auto count = ::utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point),
                                              reinterpret_cast<utf8proc_uint8_t*>(bytes));
    text.append(bytes, static_cast<std::size_t>(count));
}

bool is_valid_utf8(std::string_view text) {
    while (!text.empty()) {
        const Utf8Char first = first_utf8_char(text);
        if (!first.valid) return false;
        text.remove_prefix(first.bytes);
    }
    return true;
}

bool is_control(char32_t code_point) {
    switch (::utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP: return true;
        default: return false;
    }
}

std::size_t terminal_columns(char32_t code_point) {
    if (code_point < 0x0300) return 1;
    const int columns = ::utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point));
    return static_cast<std::size_t>(columns);
}

std::size_t terminal_columns(std::string_view text) {
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (text[at] >= ' ' && text[at] < '\x7f') {  // nearly all
            ++columns;
            ++at;
            continue;
        }
        const Utf8Char character = first_utf8_char(text.substr(at));
        columns += terminal_columns(character.code_point);
        at += character.bytes;
    }
    return columns;
}

std::string_view beginning(std::string_view text, std::size_t columns) {
    std::size_t taken = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Char character = first_utf8_char(text.substr(at));
        taken += terminal_columns(character.code_point);
        if (taken > columns) return text.substr(0, at);
        at += character.bytes;
    }
    return text;
}

std::string_view version_of_utf8_library() { return ::utf8proc_version(); }

}  // namespace coalprof
