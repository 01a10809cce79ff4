#include "core/write/terminal_text.h"

#include <algorithm>

#include "core/text/describe.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
}

std::string without_high_characters(std::string_view text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Char character = first_utf8_char(text.substr(at));
        plain += character.code_point < 128 ? static_cast<char>(character.code_point) : '?';
        at += character.bytes;
    }
    return plain;
}

// The longest beginning of `text` that takes at most `columns` columns.
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

}  // namespace

std::size_t columns_of_text(std::string_view text) {
    if (is_plain(text)) return text.size();
    std::size_t columns = 0;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Char character = first_utf8_char(text.substr(at));
        columns += terminal_columns(character.code_point);
        at += character.bytes;
    }
    return columns;
}

std::string cell_text(std::string_view text, std::size_t columns, bool ascii) {
    if (is_plain(text) && text.size() <= columns) return std::string(text);
    std::string safe = printable(text);
    if (ascii) safe = without_high_characters(safe);
    if (columns_of_text(safe) <= columns) return safe;
    const std::string_view mark = ascii ? "..." : "…";
    const std::size_t mark_columns = std::min(columns_of_text(mark), columns);
    std::string cut(beginning(safe, columns - mark_columns));
    return cut.append(beginning(mark, mark_columns));
}

void put_folded(TextBuffer& out, std::string_view text, std::size_t width, std::size_t indent) {
    std::size_t column = 0;
    bool is_line_start = true;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = text.substr(at, end - at);
        const std::size_t columns = columns_of_text(word);
        if (!is_line_start && width > 0 && column + 1 + columns > width) {
            out.put('\n');
            out.fill(indent, ' ');
            column = indent;
            is_line_start = true;
        }
        if (!is_line_start) out.put(' ');
        out.put(word);
        column += columns + (is_line_start ? 0 : 1);
        is_line_start = false;
        at = end + 1;
    }
    out.put('\n');
}

}  // namespace coalprof
