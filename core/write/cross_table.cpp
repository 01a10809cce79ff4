#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/text/utf8.h"
#include "core/write/table_maker.h"

namespace coalprof {
namespace {

struct CrossAxis {
    const LaidColumn* column = nullptr;
    std::vector<std::string> values = {};     // the order is that of appearance
    std::vector<std::size_t> of_points = {};  // indexes of their values
};

CrossAxis cross_axis(const LaidColumn& column) {
    CrossAxis axis{.column = &column};
    std::map<std::string_view, std::size_t> known;
    for (const TableCell& cell : column.cells) {
        const auto [at, is_new] = known.emplace(cell.text, axis.values.size());
        if (is_new) axis.values.push_back(cell.text);
        axis.of_points.push_back(at->second);
    }
    return axis;
}

// True where the value of `other` decides that of `column`, as a row's bytes decide its elements.
bool follows(const LaidColumn& column, const LaidColumn& other) {
    std::map<std::string_view, std::string_view> known;
    for (std::size_t i = 0; i < column.cells.size(); ++i) {
        const std::string_view text = column.cells[i].text;
        if (known.emplace(other.cells[i].text, text).first->second != text) return false;
    }
    return true;
}

struct CrossGrid {
    CrossAxis down;
    CrossAxis across;
    std::vector<std::size_t> points;  // row by row
};

std::optional<CrossGrid> grid_of(const TableLayout& layout, const std::vector<Point>& points) {
    std::vector<const LaidColumn*> axes;
    for (const LaidColumn& column : layout.columns)
        if (column.says_which_point) axes.push_back(&column);
    for (std::size_t k = axes.size(); k-- > 0;)
        if (std::ranges::any_of(axes, [&](const LaidColumn* other) {
                return other != axes[k] && follows(*axes[k], *other);
            }))
            axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(k));
    if (axes.size() != 2) return std::nullopt;
    CrossGrid grid{cross_axis(*axes[0]), cross_axis(*axes[1]), {}};
    if (grid.across.values.size() > grid.down.values.size()) std::swap(grid.down, grid.across);
    const std::size_t width = grid.across.values.size();
    if (grid.down.values.size() * width != points.size()) return std::nullopt;
    grid.points.assign(points.size(), points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::size_t& place = grid.points[grid.down.of_points[i] * width + grid.across.of_points[i]];
        if (place != points.size()) return std::nullopt;
        place = i;
    }
    return grid;
}

// These points of a column.
LaidColumn part_of(const LaidColumn& column, const std::vector<std::size_t>& points) {
    LaidColumn part = column;
    part.cells.clear();
    part.doubts.clear();
    for (const std::size_t i : points) {
        part.cells.push_back(column.cells[i]);
        if (!column.doubts.empty()) part.doubts.push_back(column.doubts[i]);
    }
    return part;
}

// The name of the numbers is above the table, their source in each heading.
LaidColumn column_across(const LaidColumn& numbers, const CrossGrid& grid, std::size_t k) {
    std::vector<std::size_t> points;
    for (std::size_t i = k; i < grid.points.size(); i += grid.across.values.size())
        points.push_back(grid.points[i]);
    LaidColumn column = part_of(numbers, points);
    column.shown.heading = {"", grid.across.values[k], numbers.shown.heading.back()};
    column.shown.group = grid.across.column->shown.heading[1];
    column.width = 0;
    for (const std::string& line : column.shown.heading)
        column.width = std::max(column.width, terminal_columns(line));
    for (const TableCell& cell : column.cells)
        column.width = std::max(column.width, terminal_columns(cell.text));
    return column;
}

}  // namespace

std::optional<CrossTable> cross_table_of(const TableLayout& layout,
                                         const std::vector<Point>& points, std::size_t width) {
    // A column with words, such as the limit of a time, is no number.
    const auto is_number = [](const LaidColumn& column) {
        return !column.says_which_point && !column.shown.is_left_aligned;
    };
    if (std::ranges::count_if(layout.columns, is_number) != 1) return std::nullopt;
    const std::optional<CrossGrid> grid = grid_of(layout, points);
    if (!grid) return std::nullopt;
    std::vector<std::size_t> firsts;
    for (std::size_t i = 0; i < grid->points.size(); i += grid->across.values.size())
        firsts.push_back(grid->points[i]);
    CrossTable table{{}, {part_of(*grid->down.column, firsts)}, {}};
    for (const std::size_t i : firsts) table.rows.push_back(points[i]);
    const LaidColumn& numbers = *std::ranges::find_if(layout.columns, is_number);
    TableColumn name = numbers.shown;
    name.heading.back().clear();
    table.numbers = with_group(name);
    for (std::size_t k = 0; k < grid->across.values.size(); ++k)
        table.columns.push_back(column_across(numbers, *grid, k));
    std::size_t columns = table.columns.front().width;
    for (std::size_t k = 1; k < table.columns.size(); ++k)
        columns += column_gap + table.columns[k].width;
    if (width != 0 && columns > width) return std::nullopt;
    return table;
}

std::string cross_axes_of(const TableLayout& layout, const std::vector<Point>& points) {
    const std::optional<CrossGrid> grid = grid_of(layout, points);
    if (!grid) return {};
    return fmt::format("{} by {}", grid->down.column->shown.heading[1],
                       grid->across.column->shown.heading[1]);
}

}  // namespace coalprof
