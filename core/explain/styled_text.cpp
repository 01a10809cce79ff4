#include "core/explain/styled_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/utf8.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

// The 8 basic colours: they follow the reader's palette. Shapes differ too, for people who cannot
// distinguish green from red.
std::string_view code_of(Ink ink) {
    switch (ink) {
        case Ink::heading: return "\x1b[1m";
        case Ink::good: return "\x1b[32m";
        case Ink::waste: return "\x1b[31m";
        case Ink::faint: return "\x1b[90m";
        case Ink::plain: break;
    }
    return {};
}
constexpr std::string_view end_code = "\x1b[0m";

constexpr double column_width = 8.4;  // pixels of a picture
constexpr double row_height = 18;
constexpr double picture_margin = 16;

constexpr std::array<std::string_view, 5> ink_classes{"plain", "heading", "good", "waste", "faint"};
std::string_view class_of(Ink ink) { return ink_classes[static_cast<std::size_t>(ink)]; }

// The part of its cell that a block covers, and how strongly; nothing if it is text.
struct DrawnBlock {
    double inset;
    double opacity;
};
std::optional<DrawnBlock> block_of(std::string_view character) {
    if (character == "█") return DrawnBlock{0.5, 1};
    if (character == "▓") return DrawnBlock{0.5, 0.6};
    if (character == "░") return DrawnBlock{0.5, 0.35};
    if (character == "·") return DrawnBlock{3.2, 1};
    if (character == "■" || character == "□") return DrawnBlock{1.2, 1};
    return std::nullopt;
}

// One line of a picture: runs of text, and blocks between them.
class PictureLine {
 public:
    explicit PictureLine(double top) : top_(top) {}

    void add(const StyledLine::Piece& piece) {
        for (std::string_view rest = piece.text; !rest.empty();) {
            const std::size_t bytes = first_utf8_char(rest).bytes;
            const std::string_view character = rest.substr(0, bytes);
            rest.remove_prefix(bytes);
            if (const auto block = block_of(character)) {
                end_text(piece.ink);
                put_block(*block, piece.ink);
            } else {
                if (text_.empty()) text_column_ = column_;
                text_ += character;
            }
            column_ += terminal_columns(character);
        }
        end_text(piece.ink);
    }
    const std::string& svg() const { return svg_; }

 private:
    static double x_of(std::size_t column) {
        return picture_margin + column_width * static_cast<double>(column);
    }
    void put_block(const DrawnBlock& block, Ink ink) {
        const bool is_dot = block.inset > 2;
        const double width = column_width - 2 * block.inset;
        const double height = is_dot ? width : row_height - 4 - 2 * block.inset;
        svg_ += fmt::format(
            "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
            "opacity=\"{}\"/>",
            class_of(ink), x_of(column_) + block.inset, top_ + (row_height - height) / 2, width,
            height, block.opacity);
    }
    void end_text(Ink ink) {
        if (text_.find_first_not_of(' ') != text_.npos)
            svg_ += fmt::format(
                "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" textLength=\"{:.1f}\" "
                "xml:space=\"preserve\">{}</text>",
                class_of(ink), x_of(text_column_), top_ + 13,
                column_width * static_cast<double>(column_ - text_column_), xml_text(text_));
        text_.clear();
    }

    double top_;
    std::string svg_;
    std::string text_;
    std::size_t column_ = 0;
    std::size_t text_column_ = 0;
};

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

std::vector<StyledLine> beside(std::vector<StyledLine> left, const std::vector<StyledLine>& right) {
    constexpr std::size_t gap = 4;
    std::size_t column = 0;
    for (const StyledLine& line : left) column = std::max(column, line.columns() + gap);
    left.resize(std::max(left.size(), right.size()));
    for (std::size_t i = 0; i < right.size(); ++i) {
        if (right[i].columns() > 0) left[i].advance_to(column);
        for (const StyledLine::Piece& piece : right[i].pieces()) left[i].add(piece.text, piece.ink);
    }
    return left;
}

std::string text_of(const std::vector<StyledLine>& lines, bool color) {
    std::string text;
    for (const StyledLine& line : lines) text += line.finish(color) + '\n';
    return text;
}

std::string svg_of(const std::vector<StyledLine>& lines, std::string_view title) {
    std::size_t columns = 1;
    std::string body;
    double top = picture_margin;
    for (const StyledLine& line : lines) {
        PictureLine picture(top);
        for (const StyledLine::Piece& piece : line.pieces()) picture.add(piece);
        if (!picture.svg().empty()) body += picture.svg() + '\n';
        columns = std::max(columns, line.columns());
        top += row_height;
    }
    const double width = 2 * picture_margin + column_width * static_cast<double>(columns);
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
               "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"t\">\n"
               "<title id=\"t\">{2}</title>\n",
               width, top + picture_margin, xml_text(title)) +
           "<style>text{font:14px ui-monospace,DejaVu Sans Mono,monospace;fill:#222}"
           "text.heading{font-weight:bold}.good{fill:#007a55}.waste{fill:#c84a00}"
           ".faint{fill:#999}.back{fill:#fff}"
           "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#181818}"
           ".good{fill:#2fcf9f}.waste{fill:#ff8a3d}.faint{fill:#777}}</style>\n"
           "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n" +
           body + "</svg>\n";
}

std::string html_page_of(const std::vector<StyledLine>& lines, std::string_view title) {
    return fmt::format(
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src 'unsafe-inline'\">\n<title>{}</title>\n"
               "<style>html{{background:#fff}}body{{margin:0;overflow-x:auto}}"
               "svg{{display:block;max-width:100%;min-width:36rem;height:auto}}"
               "@media(prefers-color-scheme:dark){{html{{background:#181818}}}}</style>\n"
               "</head>\n<body>\n",
               xml_text(title)) +
           svg_of(lines, title) + "</body>\n</html>\n";
}

std::vector<std::string> folded(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines = folded(text, {.columns = columns, .cuts_words = true});
    for (std::string& line : lines) std::replace(line.begin(), line.end(), glue.front(), ' ');
    return lines;
}

}  // namespace coalprof
