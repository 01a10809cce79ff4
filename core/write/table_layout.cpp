#include "core/write/table_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/write/columns.h"
#include "core/write/table_cell.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

using Shows = TableColumn::Shows;

constexpr std::size_t gap_columns = 2;

std::vector<double> numbers_in(const TableColumn& column, const std::vector<Point>& points) {
    std::vector<double> numbers;
    for (const Point& point : points)
        if (const Reading& reading = shown_reading(column, point); is_finite_number(reading))
            numbers.push_back(number_in(reading));
    return numbers;
}

// Where the numbers come from, below the name: "=" for agreement, nothing for what only a
// measurement can tell.
std::string_view source_mark(Relation relation, bool from_measurement) {
    if (relation == Relation::agreed) return "=";
    if (relation == Relation::measured) return "";
    return from_measurement ? "measured" : "predicted";
}

NumberStyle style_of(const TableItem& item, const std::vector<double>& numbers,
                     bool from_measurement, const TableStyle& style, bool is_complete) {
    const NumberStyle number =
        style_for(info(item.counters.front()), numbers, style.ascii, is_complete);
    return is_estimated(item) && !from_measurement ? estimate_style(number) : number;
}

struct Candidate {
    std::size_t decision;  // its index
    int importance;
    bool is_bar;
    std::vector<TableColumn> columns;
};

// Makes the columns of a table, one kind after the other.
class LayoutMaker {
 public:
    LayoutMaker(const ResultHead& head, const std::vector<Point>& points, const TableStyle& style,
                bool is_complete)
        : head_(head), points_(points), style_(style), is_complete_(is_complete) {}

    TableLayout make() {
        layout_.has_measurements =
            std::any_of(points_.begin(), points_.end(),
                        [](const Point& point) { return point.measured.has_value(); });
        layout_.decisions = decide(points_);
        for (const ItemDecision& decision : layout_.decisions)
            for (const Counter counter : decision.item.counters)
                layout_.is_decided[static_cast<std::size_t>(counter)] = true;
        add_leading_columns();
        for (TableColumn& column : layout_.columns) settle_width(column);
        choose_columns(candidates());
        return std::move(layout_);
    }

 private:
    // What identifies a point: its name, its parameters, its kind of instruction.
    void add_leading_columns() {
        const Columns seen = columns_of({}, points_);
        const auto has_parameter = [&](std::string_view key) {
            return std::find(seen.parameters.begin(), seen.parameters.end(), key) !=
                   seen.parameters.end();
        };
        if (seen.name && !has_parameter(head_.parameter)) {
            TableColumn& column = layout_.columns.emplace_back();
            column.heading[1] = "name";
            column.is_left_aligned = true;
        }
        for (std::size_t i = 0; i < seen.parameters.size(); ++i)
            add_parameter(seen.parameters[i], i);
        const bool is_merged = std::any_of(
            layout_.decisions.begin(), layout_.decisions.end(),
            [](const ItemDecision& decision) { return decision.item.join == Join::merged; });
        if (is_merged && !has_parameter("op")) {
            TableColumn& column = layout_.columns.emplace_back();
            column.shows = Shows::kind;
            column.heading[1] = "op";
            column.is_left_aligned = true;
        }
    }

    void add_parameter(const std::string& key, std::size_t position) {
        const Value* first = find_value(points_.front().parameters, key, position);
        const bool is_constant =
            points_.size() > 1 && key != head_.parameter && first &&
            std::all_of(points_.begin(), points_.end(), [&](const Point& point) {
                const Value* value = find_value(point.parameters, key, position);
                return value && *value == *first;
            });
        if (is_constant) return layout_.hoisted_parameters.push_back({key, *first});
        TableColumn& column = layout_.columns.emplace_back();
        column.shows = Shows::parameter;
        column.parameter = key;
        column.position = position;
        column.heading[1] = cell_text(key, text_cell_columns, style_.ascii);
        column.is_left_aligned = first && std::holds_alternative<std::string>(*first);
    }

    TableColumn reading_column(const ItemDecision& decision, bool from_measurement) const {
        TableColumn column;
        column.shows = Shows::reading;
        column.item = decision.item;
        column.from_measurement = from_measurement;
        const CounterInfo& counter = info(decision.item.counters.front());
        column.is_colored = is_efficiency(counter.counter);
        column.number = style_of(decision.item, numbers_in(column, points_), from_measurement,
                                 style_, is_complete_);
        column.heading[0] = decision.item.line1;
        if (column.number.is_estimate) column.heading[0] = "estimate";
        column.heading[1] = decision.item.line2.empty() ? column.number.unit : decision.item.line2;
        if (layout_.has_measurements)
            column.heading[2] = source_mark(decision.relation, from_measurement);
        return column;
    }

    std::vector<Candidate> candidates() const {
        std::vector<Candidate> candidates;
        for (std::size_t i = 0; i < layout_.decisions.size(); ++i) {
            const ItemDecision& decision = layout_.decisions[i];
            const Relation relation = decision.relation;
            if (decision.is_hoisted || relation == Relation::none) continue;
            Candidate item{i, importance_of(decision.item), false, {}};
            if (relation == Relation::predicted ||
                (relation == Relation::differing && !decision.is_prediction_hoisted))
                item.columns.push_back(reading_column(decision, false));
            if (relation != Relation::predicted)
                item.columns.push_back(reading_column(decision, true));
            TableColumn bar = item.columns.front();
            candidates.push_back(std::move(item));
            if (!bar.is_colored || relation == Relation::differing) continue;
            bar.shows = Shows::bar;
            bar.heading = {};
            bar.is_left_aligned = true;
            // Measured traffic past L1 tells more than a picture of a number that is there.
            const int importance = layout_.has_measurements ? 37 : 25;
            candidates.push_back({i, importance, true, {bar}});
        }
        for (Candidate& candidate : candidates)
            for (TableColumn& column : candidate.columns) settle_width(column);
        return candidates;
    }

    // Where settings are compared, what they are compared by comes first; where machines are, it
    // comes before bytes per sector, which say the same as the efficiency.
    int importance_of(const TableItem& item) const {
        if (item.counters.front() != Counter::bandwidth_bytes_per_second) return item.importance;
        if (head_.compares_settings) return 0;
        const bool compares_machines =
            !points_.empty() && find_value(points_.front().parameters, "machine") != nullptr;
        return compares_machines ? 11 : item.importance;
    }

    void settle_width(TableColumn& column) const {
        column.width = column.shows == Shows::bar ? bar_columns : 0;
        for (const std::string& line : column.heading)
            column.width = std::max(column.width, columns_of_text(line));
        TextBuffer text;
        for (const Point& point : points_) {
            text.clear();
            column.width = std::max(column.width, put_cell(text, column, point, style_));
        }
    }

    static std::size_t width_of(const std::vector<TableColumn>& columns) {
        std::size_t width = 0;
        for (const TableColumn& column : columns) width += gap_columns + column.width;
        return width;
    }

    // What is the same everywhere finds room above the table.
    static void leave_out(ItemDecision& decision) {
        decision.is_hoisted = decision.is_constant;
        decision.is_left_out = !decision.is_constant;
    }

    // Keeps the most important candidates that fit, in their order.
    void choose_columns(std::vector<Candidate> candidates) {
        std::vector<Candidate*> by_importance;
        for (Candidate& candidate : candidates) by_importance.push_back(&candidate);
        // Of equal importance, the earlier. (std::stable_sort would do, but newer compilers warn of
        // what older standard libraries do within.)
        std::sort(by_importance.begin(), by_importance.end(), [](const auto* a, const auto* b) {
            return std::tie(a->importance, a) < std::tie(b->importance, b);
        });
        std::size_t width = width_of(layout_.columns) - gap_columns;
        for (Candidate* candidate : by_importance) {
            const std::size_t more = width_of(candidate->columns);
            if (style_.width == 0 || width + more <= style_.width) {
                width += more;
            } else {
                candidate->columns.clear();
                if (!candidate->is_bar) leave_out(layout_.decisions[candidate->decision]);
            }
        }
        for (Candidate& candidate : candidates)
            for (TableColumn& column : candidate.columns)
                layout_.columns.push_back(std::move(column));
    }

    const ResultHead& head_;
    const std::vector<Point>& points_;
    const TableStyle& style_;
    bool is_complete_;
    TableLayout layout_;
};

bool has_undecided(const TableLayout& layout, const Readings& readings) {
    bool found = false;
    readings.each([&](Counter counter, const Reading&) {
        found |= !layout.is_decided[static_cast<std::size_t>(counter)];
    });
    return found;
}

}  // namespace

bool is_estimated(const TableItem& item) {
    return info(item.counters.front()).unit == Unit::byte_per_second;
}

std::string number_with_unit(const TableItem& item, const Reading& reading, bool from_measurement,
                             const TableStyle& style) {
    const NumberStyle number = is_finite_number(reading) ? style_of(item, {number_in(reading)},
                                                                    from_measurement, style, true)
                                                         : NumberStyle{};
    const std::string text = reading_text(reading, number);
    return number.unit.empty() ? text : fmt::format("{} {}", text, number.unit);
}

TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style, bool is_complete) {
    return LayoutMaker(head, points, style, is_complete).make();
}

bool holds_for(const TableLayout& layout, const Point& point) {
    if (has_undecided(layout, point.predicted)) return false;
    if (point.measured && (!layout.has_measurements || has_undecided(layout, *point.measured)))
        return false;
    for (const HoistedParameter& hoisted : layout.hoisted_parameters) {
        const Value* value = find_value(point.parameters, hoisted.key);
        if (!value || *value != hoisted.value) return false;
    }
    bool is_merged = false;
    for (const ItemDecision& decision : layout.decisions) {
        if (!holds_for(decision, point)) return false;
        is_merged |= decision.item.join == Join::merged;
    }
    return !is_merged || kinds_of(point).count() <= 1;
}

std::string hoisted_text(const TableLayout& layout, const TableStyle& style) {
    std::vector<GroupedText> facts;
    const auto add = [&](const ItemDecision& decision, std::string_view phrase,
                         bool from_measurement) {
        const Reading& reading =
            from_measurement ? decision.first_measurement : decision.first_prediction;
        facts.push_back(
            {decision.item.group,
             fmt::format("{} {}", phrase,
                         number_with_unit(decision.item, reading, from_measurement, style))});
    };
    for (const HoistedParameter& parameter : layout.hoisted_parameters)
        facts.push_back(
            {{},
             fmt::format("{} {}", parameter.key, value_text(parameter.value, 60, style.ascii))});
    for (const ItemDecision& decision : layout.decisions) {
        const std::string_view phrase = decision.item.phrase;
        const bool is_measured = is_finite_number(decision.first_measurement);
        const bool says_both = decision.is_hoisted && decision.relation == Relation::differing;
        if (says_both || decision.is_prediction_hoisted)
            add(decision, fmt::format("predicted {}", phrase), false);
        if (says_both)
            add(decision, fmt::format("measured {}", phrase), true);
        else if (decision.is_hoisted)
            add(decision, phrase, is_measured);
    }
    return list_by_group(facts);
}

}  // namespace coalprof
