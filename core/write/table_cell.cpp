#include "core/write/table_cell.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/text/units.h"
#include "core/text/utf8.h"
#include "core/write/columns.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

void put_estimate(TextBuffer& out, double value, const NumberStyle& number) {
    out.put(estimate_mark);
    put_number(out, value, estimate_style(number));
}

void put_reading(TextBuffer& out, const Reading& reading, const NumberStyle& number,
                 bool is_estimate) {
    if (!is_present(reading) || !is_finite_number(reading))
        out.put(not_there);
    else if (is_estimate)
        put_estimate(out, number_in(reading), number);
    else if (const auto* integer = std::get_if<std::uint64_t>(&reading);
             integer && number.divisor == 1)
        out.put(grouped(*integer));
    else
        put_number(out, number_in(reading), number);
}

// Full for 1, in eighths of a column where the terminal can draw them.
std::size_t put_bar(TextBuffer& out, const Reading& efficiency, bool ascii) {
    if (!is_present(efficiency) || !is_finite_number(efficiency)) return 0;
    const double share = std::clamp(number_in(efficiency), 0.0, 1.0);
    if (ascii) {
        const auto full = static_cast<std::size_t>(std::lround(share * bar_columns));
        out.fill(full, '#');
        return full;
    }
    constexpr std::array<std::string_view, 8> partial{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<std::size_t>(std::lround(share * bar_columns * 8));
    constexpr std::string_view full_bar = "██████████";
    constexpr std::size_t block_bytes = full_bar.size() / bar_columns;
    out.put(full_bar.substr(0, eighths / 8 * block_bytes));
    out.put(partial[eighths % 8]);
    return (eighths + 7) / 8;
}

std::optional<std::uint64_t> natural_in(const Value& value) {
    if (const auto* natural = std::get_if<std::uint64_t>(&value)) return *natural;
    if (const auto* integer = std::get_if<std::int64_t>(&value); integer && *integer >= 0)
        return static_cast<std::uint64_t>(*integer);
    return std::nullopt;
}

std::string_view kind_of(const Point& point) {
    const Kinds kinds = kinds_of(point);
    for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
        if (kinds[kind]) return kind_names[kind];
    return not_there;
}

}  // namespace

const std::string* text_in(const TableColumn& column, const Point& point) {
    if (column.shows == TableColumn::Shows::name) return &point.name;
    if (column.shows != TableColumn::Shows::parameter) return nullptr;
    const Value* value = find_value(point.parameters, column.parameter);
    return value ? std::get_if<std::string>(value) : nullptr;
}

std::string_view limit_of(const Point& point) {
    return point.estimates && !point.estimates->limits.empty()
               ? word_of(point.estimates->limits.front())
               : not_there;
}

const Reading& shown_reading(const TableColumn& column, const Point& point) {
    return column.from_measurement ? measured_reading(column.item, point)
                                   : predicted_reading(column.item, point);
}

std::string value_text(const Value& value, std::size_t columns, bool ascii) {
    struct Visitor {
        std::size_t columns;
        bool ascii;
        std::string operator()(std::monostate) const { return std::string(not_there); }
        std::string operator()(const std::string& text) const {
            return cell_text(text, columns, ascii);
        }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(std::uint64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const {
            if (!std::isfinite(number)) return std::string(not_there);
            TextBuffer text;
            text.put_real(number);
            return std::string(text.view());
        }
        std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    };
    return std::visit(Visitor{columns, ascii}, value);
}

std::string reading_text(const Reading& reading, const NumberStyle& number, bool is_estimate) {
    TextBuffer text;
    put_reading(text, reading, number, is_estimate);
    return std::string(text.view());
}

std::size_t put_cell(TextBuffer& out, const TableColumn& column, const Point& point,
                     const TableStyle& style) {
    using Shows = TableColumn::Shows;
    const std::size_t begin = out.view().size();
    if (!column.labels.empty())
        if (const std::string* text = text_in(column, point))
            if (const auto label = column.labels.find(*text); label != column.labels.end()) {
                out.put(label->second);
                return terminal_columns(label->second);
            }
    switch (column.shows) {
        case Shows::reading:
            // No measurement where others have one: this point failed.
            if (column.from_measurement && !point.measured)
                out.put(not_there);
            else
                put_reading(out, shown_reading(column, point), column.number,
                            !column.from_measurement && interval_of(column.item, point));
            return out.view().size() - begin;
        case Shows::bar:
            return put_bar(out, shown_reading(column, point), style.ascii);
        case Shows::kind:
            out.put(kind_of(point));
            return out.view().size() - begin;
        case Shows::limit:
            out.put(limit_of(point));
            return out.view().size() - begin;
        case Shows::name:
            out.put(cell_text(point.name, text_cell_columns, style.ascii));
            break;
        case Shows::parameter:
            if (const Value* value = find_value(point.parameters, column.parameter);
                value && column.parameter == size_parameter && natural_in(*value))
                out.put(size_text(*natural_in(*value)));
            else if (value)
                out.put(value_text(*value, text_cell_columns, style.ascii));
            else
                out.put(not_there);
            break;
    }
    return terminal_columns(out.view().substr(begin));
}

}  // namespace coalprof
