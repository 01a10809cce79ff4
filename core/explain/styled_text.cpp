#include "core/explain/styled_text.h"

#include <algorithm>

#include "core/text/describe.h"
#include "core/text/fold.h"
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

}  // namespace

void StyledLine::add(std::string_view text, Ink ink) {
    if (text.empty()) return;
    const std::string safe = printable(text);
    columns_ += terminal_columns(safe);
    if (!pieces_.empty() && pieces_.back().ink == ink) {
        pieces_.back().text += safe;
    } else {
        pieces_.push_back({safe, ink});
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
    std::vector<std::string> lines = folded(text, {.columns = columns, .cuts_words = true});
    for (std::string& line : lines) std::replace(line.begin(), line.end(), glue.front(), ' ');
    return lines;
}

}  // namespace coalprof
