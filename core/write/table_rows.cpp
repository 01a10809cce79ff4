#include "core/write/table_rows.h"

#include <algorithm>

#include "core/text/fold.h"
#include "core/text/utf8.h"
#include "core/write/table_cell.h"

namespace coalprof {
namespace {

// Colour is an accent on what matters: how much of each sector was used.
std::string_view color_of(const TableColumn& column, const Point& point) {
    if (!column.is_colored) return {};
    const Reading& reading = shown_reading(column, point);
    if (!is_finite_number(reading)) return {};
    const double efficiency = number_in(reading);
    return efficiency >= 0.9 ? "\033[32m" : efficiency >= 0.5 ? "\033[33m" : "\033[31m";
}

void put_line(TextBuffer& out, std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty()) return;
    out.put(line);
    out.put('\n');
}

// "──── loads ────"
std::string group_line(std::string_view name, std::size_t width, bool ascii) {
    std::string line;
    if (name.size() + 4 > width) {
        line = name.substr(0, width);
        return line.append(width - line.size(), ' ');
    }
    const std::string_view rule = ascii ? "-" : "─";
    const std::size_t rules = width - name.size() - 2;
    for (std::size_t i = 0; i < rules / 2; ++i) line += rule;
    line.append(" ").append(name).append(" ");
    for (std::size_t i = rules / 2; i < rules; ++i) line += rule;
    return line;
}

// A line over neighbouring columns of one group, with the group's name in it.
std::string groups_line(const std::vector<TableColumn>& columns, bool ascii) {
    std::string line;
    for (std::size_t i = 0; i < columns.size();) {
        const std::string_view group = columns[i].item.group;
        std::size_t width = columns[i].width;
        for (++i; i < columns.size() && columns[i].item.group == group; ++i)
            width += column_gap.size() + columns[i].width;
        line += group.empty() ? std::string(width, ' ') : group_line(group, width, ascii);
        line += column_gap;
    }
    return line;
}

std::string heading_line(const std::vector<TableColumn>& columns, std::size_t which) {
    std::string line;
    for (const TableColumn& column : columns) {
        const std::string& word = column.heading[which];
        const std::string padding(column.width - terminal_columns(word), ' ');
        line += column.is_left_aligned ? word + padding : padding + word;
        line += column_gap;
    }
    return line;
}

}  // namespace

std::string heading_text(const TableLayout& layout, std::string_view facts_begin,
                         const TableStyle& style) {
    TextBuffer text;
    const std::string facts = constants_text(layout, style);
    if (!facts.empty()) text.put(prose(std::string(facts_begin) + facts, style));
    text.put('\n');
    put_line(text, groups_line(layout.columns, style.ascii));
    for (std::size_t which = 0; which < TableColumn{}.heading.size(); ++which)
        put_line(text, heading_line(layout.columns, which));
    return std::string(text.view());
}

std::string prose(std::string_view text, const TableStyle& style) {
    return folded_text(text, {.columns = style.width, .hanging = 2});
}

void put_row(TextBuffer& out, TextBuffer& cell, const TableLayout& layout, const Point& point,
             const TableStyle& style) {
    std::size_t owed = 0;  // blanks, put only when something follows
    for (const TableColumn& column : layout.columns) {
        cell.clear();
        const std::size_t width = put_cell(cell, column, point, style);
        const std::size_t padding = column.width - width;
        if (!column.is_left_aligned) owed += padding;
        if (width > 0) {
            out.fill(owed, ' ');
            owed = 0;
            const std::string_view color =
                style.color ? color_of(column, point) : std::string_view{};
            out.put(color);
            out.put(cell.view());
            if (!color.empty()) out.put("\033[0m");
        }
        owed += column_gap.size() + (column.is_left_aligned ? padding : 0);
    }
    out.put('\n');
}

}  // namespace coalprof
