// Lines of a drawing: pieces of text in a few inks, counted in terminal columns. Colour is added at
// the end and never changes the text itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

enum class Ink : std::uint8_t {
    plain,
    heading,  // bold
    good,     // asked for
    waste,    // fetched in addition
    faint,    // not touched
};

class StyledLine {
 public:
    // Escapes characters that a terminal would obey, as printable() does.
    void add(std::string_view text, Ink ink = Ink::plain);
    // Blanks up to column `column`, counted from 0; none if the line is already that long.
    void advance_to(std::size_t column);
    void add_at(std::size_t column, std::string_view text, Ink ink = Ink::plain) {
        advance_to(column);
        add(text, ink);
    }
    std::size_t columns() const { return columns_; }
    // Without blanks at the end and without a newline.
    std::string finish(bool color) const;

    struct Piece {
        std::string text;
        Ink ink;
    };
    const std::vector<Piece>& pieces() const { return pieces_; }

 private:
    std::vector<Piece> pieces_;
    std::size_t columns_ = 0;
};

// Both side by side.
std::vector<StyledLine> beside(std::vector<StyledLine> left, const std::vector<StyledLine>& right);

// Each ended by a newline.
std::string text_of(const std::vector<StyledLine>& lines, bool color);
// The lines as a picture for slides: blocks are drawn, not taken from a font. Light or dark as its
// reader prefers; no script.
std::string svg_of(const std::vector<StyledLine>& lines, std::string_view title);
// A page of nothing but the picture.
std::string html_page_of(const std::vector<StyledLine>& lines, std::string_view title);

// A blank at which folded() does not break; it comes out as a blank.
inline constexpr std::string_view glue = "\x1f";

// `text` broken at blanks into lines of at most `columns`; a word that is longer is cut.
std::vector<std::string> folded(std::string_view text, std::size_t columns);

}  // namespace coalprof
