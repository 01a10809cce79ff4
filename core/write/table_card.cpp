#include "core/write/table_card.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/utf8.h"
#include "core/write/table_cell.h"
#include "core/write/table_rows.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

struct Line {
    std::string_view group;
    std::string_view label;
    std::vector<std::string> values;  // predicted, measured
};

constexpr std::size_t indent = 2;

std::string value_of(const TableItem& item, const Reading& reading, bool is_estimate,
                     const TableStyle& style) {
    return is_present(reading) ? number_with_unit(item, reading, is_estimate, style)
                               : std::string(not_there);
}

std::vector<Line> lines_of(const TableLayout& layout, const Point& point, const TableStyle& style) {
    std::vector<Line> lines;
    for (const PlacedItem& placed : layout.items) {
        const TableItem& item = placed.facts.item;
        Line& line = lines.emplace_back(Line{item.group, item.heading->phrase, {}});
        line.values.push_back(value_of(item, predicted_reading(item, point),
                                       interval_of(item, point) != nullptr, style));
        if (layout.has_measurements)
            line.values.push_back(value_of(item, measured_reading(item, point), false, style));
    }
    if (point.estimates && !point.estimates->limits.empty())
        lines.push_back({{}, "limited by", {std::string(limit_of(point))}});
    return lines;
}

void put_values(TextBuffer& out, const std::vector<std::string>& values,
                const std::vector<std::size_t>& widths) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        out.fill(2 + widths[i] - terminal_columns(values[i]), ' ');
        out.put(values[i]);
    }
    out.put('\n');
}

// The name, and what it leaves unsaid: that of a formula says its parameters, "N=1024 k=0".
std::string parameters_of(const Point& point, const TableStyle& style) {
    const std::string name = cell_text(point.name, text_cell_columns, style.ascii);
    const std::string words = fmt::format(" {} ", name);
    std::string text = name;
    for (const auto& [key, value] : point.parameters) {
        const std::string shown = value_text(value, text_cell_columns, style.ascii);
        const std::string named = cell_text(key, text_cell_columns, style.ascii);
        if (words.find(fmt::format(" {}={} ", named, shown)) == words.npos)
            text += fmt::format(", {} {}", named, shown);
    }
    return text;
}

}  // namespace

void put_card(TextBuffer& out, const TableLayout& layout, const Point& point,
              const TableStyle& style) {
    if (const std::string parameters = parameters_of(point, style); !parameters.empty())
        out.put(prose(parameters, style));
    out.put('\n');
    const std::vector<Line> lines = lines_of(layout, point, style);
    std::vector<std::string> heading{"predicted"};
    if (layout.has_measurements) heading.emplace_back("measured");
    std::size_t label_width = 0;
    std::vector<std::size_t> widths(heading.size());
    for (std::size_t i = 0; i < heading.size(); ++i) widths[i] = heading[i].size();
    for (const Line& line : lines) {
        const std::size_t label = line.label.size() + (line.group.empty() ? 0 : indent);
        label_width = std::max({label_width, label, line.group.size()});
        for (std::size_t i = 0; i < line.values.size(); ++i)
            widths[i] = std::max(widths[i], terminal_columns(line.values[i]));
    }
    out.fill(label_width, ' ');
    put_values(out, heading, widths);
    std::string_view group;
    for (const Line& line : lines) {
        if (line.group != group && !line.group.empty()) {
            out.put(line.group);
            out.put('\n');
        }
        group = line.group;
        const std::size_t label_indent = group.empty() ? 0 : indent;
        out.fill(label_indent, ' ');
        out.put(line.label);
        out.fill(label_width - label_indent - line.label.size(), ' ');
        put_values(out, line.values, widths);
    }
}

}  // namespace coalprof
