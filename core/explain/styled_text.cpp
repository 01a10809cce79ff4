#include "core/explain/styled_text.h"

#include <algorithm>

#include "core/text/utf8.h"

namespace coalprof {
namespace {

// The 8 basic colours: they follow the reader's palette. Shapes differ too, for those who do not
// tell green from red.
std::string_view code_of(Ink ink) {
    switch (ink) {
        case Ink::heading:
            return "\x1b[1m";
        case Ink::good:
            return "\x1b[32m";
        case Ink::waste:
            return "\x1b[31m";
        case Ink::faint:
            return "\x1b[90m";
        case Ink::plain:
            break;
    }
    return {};
}
constexpr std::string_view end_code = "\x1b[0m";

// How many bytes of `text` fill at most `columns`, at least one character.
std::size_t bytes_in(std::string_view text, std::size_t columns) {
    std::size_t bytes = 0;
    std::size_t used = 0;
    while (bytes < text.size()) {
        const Utf8Char next = first_utf8_char(text.substr(bytes));
        used += terminal_columns(next.code_point);
        if (used > columns && bytes > 0) break;
        bytes += next.bytes;
    }
    return bytes;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const Utf8Char next = first_utf8_char(text);
        columns += terminal_columns(next.code_point);
        text.remove_prefix(next.bytes);
    }
    return columns;
}

void StyledLine::add(std::string_view text, Ink ink) {
    if (text.empty()) return;
    columns_ += columns_of(text);
    if (!pieces_.empty() && pieces_.back().ink == ink) {
        pieces_.back().text += text;
    } else {
        pieces_.push_back({std::string(text), ink});
    }
}

void StyledLine::advance_to(std::size_t column) {
    if (column > columns_) add(std::string(column - columns_, ' '));
}

std::string StyledLine::finish(bool color) const {
    std::string line;
    for (const Piece& piece : pieces_) {
        if (color) line += code_of(piece.ink);
        line += piece.text;
        if (color && piece.ink != Ink::plain) line += end_code;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
}

std::vector<std::string> folded(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
        std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        while (!word.empty()) {
            const std::size_t used = columns_of(lines.back());
            const std::size_t blank = used == 0 ? 0 : 1;
            if (used + blank + columns_of(word) > columns && used > 0) {
                lines.emplace_back();
                continue;
            }
            const std::string_view part = word.substr(0, bytes_in(word, columns));
            if (blank != 0) lines.back() += ' ';
            lines.back() += part;
            word.remove_prefix(part.size());
        }
    }
    for (std::string& line : lines) std::replace(line.begin(), line.end(), glue.front(), ' ');
    return lines;
}

}  // namespace coalprof
