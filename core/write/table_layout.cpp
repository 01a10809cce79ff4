#include "core/write/table_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "core/text/utf8.h"
#include "core/write/columns.h"
#include "core/write/source_text.h"
#include "core/write/table_cell.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

using Shows = TableColumn::Shows;

// Where the numbers come from, below the name: "=" for agreement, nothing for what only a
// measurement can tell.
std::string_view source_mark(Relation relation, bool from_measurement) {
    if (relation == Relation::agreed) return "=";
    if (relation == Relation::measured) return "";
    return from_measurement ? "measured" : "predicted";
}

std::size_t width_of(const std::vector<TableColumn>& columns) {
    std::size_t width = 0;
    for (const TableColumn& column : columns) width += column_gap.size() + column.width;
    return width;
}

// What a kernel or line of a program is told by; its other parameters only describe it.
constexpr std::array<std::string_view, 5> told_by{"line", "kernel", "grid", "block", "device"};
constexpr int importance_of_description = 19;  // behind what an access costs

// Columns that are shown together or not at all.
struct Candidate {
    PlacedItem* item;  // nullptr: it is of no counter
    int importance;
    std::vector<TableColumn> columns;
    bool is_bar = false;         // of the candidate before it, which is as important or more
    std::string parameter = {};  // that it describes points by; empty: none
};

// By --columns: such a column stays in the table, whether its numbers vary or not.
bool is_asked_for(const ResultHead& head, const ItemFacts& facts) {
    return std::ranges::find_first_of(head.columns, facts.item.counters) != head.columns.end();
}

// Makes the columns of these points.
class ColumnMaker {
 public:
    ColumnMaker(const ResultHead& head, const std::vector<Point>& points, const TableStyle& style)
        : head_(head), points_(points), style_(style) {}

    bool has_measurements() const { return has_measurements_; }

    // The parameters that are the same in every point move to `constant`.
    std::vector<TableColumn> leading_columns(bool shows_kind, NamedValues& constant) const {
        std::vector<TableColumn> columns;
        std::vector<std::string> keys = parameter_keys(points_);
        std::erase(keys, source_file_parameter);  // its line says enough
        const auto has_key = [&](std::string_view key) {
            return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        // Points of a formula are named after their parameters.
        const bool says_name = head_.sweep.pattern == "formula" && !keys.empty();
        if (!has_key("name") && !has_key(parameter_of(head_.sweep)) && !says_name)
            columns.push_back(text_column(Shows::name, "name"));
        for (const std::string& key : keys)
            if (const Value* value = constant_value(key))
                constant.emplace_back(key, *value);
            else
                columns.push_back(parameter_column(key));
        if (shows_kind && !has_key("op")) columns.push_back(text_column(Shows::kind, "op"));
        return columns;
    }

    // Of these columns, those that give way to what the accesses of a program cost.
    std::vector<Candidate> descriptions_among(std::vector<TableColumn>& columns) const {
        std::vector<Candidate> descriptions;
        if (head_.sweep.pattern != "run") return descriptions;
        std::erase_if(columns, [&](TableColumn& column) {
            if (column.shows != Shows::parameter ||
                std::ranges::find(told_by, column.parameter) != told_by.end())
                return false;
            Candidate candidate{nullptr, importance_of_description, {}};
            candidate.parameter = column.parameter;
            candidate.columns.push_back(std::move(column));
            descriptions.push_back(std::move(candidate));
            return true;
        });
        return descriptions;
    }

    bool has_limits() const {
        return std::ranges::any_of(points_, [](const Point& point) {
            return point.estimates && !point.estimates->limits.empty();
        });
    }
    // What all of several points have in common.
    std::optional<Limit> common_limit() const {
        if (points_.size() < 2 || !has_limits()) return std::nullopt;
        const bool is_common = std::ranges::all_of(points_, [&](const Point& point) {
            return limit_of(point) == limit_of(points_.front());
        });
        if (!is_common) return std::nullopt;
        return points_.front().estimates->limits.front();
    }
    Candidate limit_candidate() const {
        TableColumn column{
            .shows = Shows::limit, .is_left_aligned = true, .heading = {"limited", "by"}};
        return {nullptr, has_measurements_ ? 38 : 19, {sized(std::move(column))}};
    }

    void add_candidates(PlacedItem& item, std::vector<Candidate>& candidates) const {
        const ItemFacts& facts = item.facts;
        Candidate candidate{&item, importance_of(facts), {}};
        if (facts.relation == Relation::predicted ||
            (facts.relation == Relation::differing && !facts.is_prediction_constant))
            candidate.columns.push_back(reading_column(facts, false));
        if (facts.relation != Relation::predicted)
            candidate.columns.push_back(reading_column(facts, true));
        candidates.push_back(std::move(candidate));
        // Measured traffic past L1 tells more than a picture of a number that is there.
        const int bar_importance = has_measurements_ ? 37 : 25;
        if (is_efficiency(facts.item) && facts.relation != Relation::differing)
            candidates.push_back({&item,
                                  std::max(bar_importance, candidates.back().importance),
                                  {bar_beside(candidates.back().columns.front())},
                                  true});
    }

 private:
    TableColumn text_column(Shows shows, std::string heading) const {
        return sized(
            {.shows = shows, .is_left_aligned = true, .heading = {"", std::move(heading)}});
    }

    bool varies(const std::string& key) const {
        const Value* first = find_value(points_.front().parameters, key);
        return std::any_of(points_.begin(), points_.end(), [&](const Point& point) {
            const Value* value = find_value(point.parameters, key);
            return !value || !first || !(*value == *first);
        });
    }
    // Of variants, settings, machines: what other than the swept parameter tells points apart.
    bool compares() const {
        return std::ranges::any_of(parameter_keys(points_), [&](const std::string& key) {
            return key != parameter_of(head_.sweep) &&
                   !follows_from_others(key, head_.sweep.grid_x.has_value()) && varies(key);
        });
    }
    // The swept parameter has a column, unless others are compared at one value of it.
    const Value* constant_value(const std::string& key) const {
        const bool is_kept = key == parameter_of(head_.sweep) && !compares_;
        if (points_.size() == 1 || is_kept || varies(key)) return nullptr;
        return find_value(points_.front().parameters, key);
    }

    TableColumn parameter_column(const std::string& key) const {
        const Value* first = find_value(points_.front().parameters, key);
        return sized({.shows = Shows::parameter,
                      .parameter = key,
                      .is_left_aligned = first && std::holds_alternative<std::string>(*first),
                      .heading = {"", key == size_parameter
                                          ? std::string("size")
                                          : cell_text(key, text_cell_columns, style_.ascii)}});
    }

    TableColumn reading_column(const ItemFacts& facts, bool from_measurement) const {
        TableColumn column{.shows = Shows::reading,
                           .item = facts.item,
                           .from_measurement = from_measurement,
                           .is_colored = is_efficiency(facts.item)};
        column.number =
            style_for(info(facts.item.counters.front()), numbers_in(column), style_.ascii);
        const ItemHeading& heading = *facts.item.heading;
        column.heading = {
            std::string(heading.line1),
            std::string(heading.line2.empty() ? column.number.unit : heading.line2),
            std::string(has_measurements_ ? source_mark(facts.relation, from_measurement) : "")};
        return sized(std::move(column));
    }

    static TableColumn bar_beside(const TableColumn& number) {
        return {.shows = Shows::bar,
                .item = number.item,
                .from_measurement = number.from_measurement,
                .is_left_aligned = true,
                .is_colored = true,
                .width = bar_columns};
    }

    std::vector<double> numbers_in(const TableColumn& column) const {
        std::vector<double> numbers;
        for (const Point& point : points_)
            if (const Reading& reading = shown_reading(column, point); is_finite_number(reading))
                numbers.push_back(number_in(reading));
        return numbers;
    }

    // Of names and texts that are too long for a cell.
    Labels labels_of(const TableColumn& column) const {
        std::vector<std::string> texts;
        for (const Point& point : points_)
            if (const std::string* text = text_in(column, point)) texts.push_back(*text);
        if (std::ranges::all_of(
                texts, [](const std::string& text) { return text.size() <= text_cell_columns; }))
            return {};
        return distinct_labels(texts, text_cell_columns, style_.ascii);
    }

    TableColumn sized(TableColumn column) const {
        column.labels = labels_of(column);
        for (const std::string& line : column.heading)
            column.width = std::max(column.width, terminal_columns(line));
        TextBuffer text;
        for (const Point& point : points_) {
            text.clear();
            column.width = std::max(column.width, put_cell(text, column, point, style_));
        }
        return column;
    }

    // What --best and --sort ask for comes first. Where settings are compared, so does what they
    // are compared by; where machines are, it comes before bytes per sector, which say the same as
    // the efficiency. Of kernels that nobody predicted the time does: it says which of them matter.
    int importance_of(const ItemFacts& facts) const {
        if (std::ranges::find_first_of(head_.foremost, facts.item.counters) != head_.foremost.end())
            return 0;
        if (is_asked_for(head_, facts)) return 1;
        const bool is_predicted = !head_.machine.name.empty();
        if (facts.item.counters.front() == Counter::duration_seconds && !is_predicted) return 0;
        // Of machine code no efficiency is known: its sectors beside the ideal ones say as much,
        // and neither does alone.
        constexpr int before_others = 2;
        if (lacks_efficiency_ && (is_sectors(facts.item) || is_ideal_sectors(facts.item)))
            return before_others;
        if (facts.item.counters.front() == Counter::bandwidth_bytes_per_second) {
            if (head_.compares_settings) return 0;
            if (find_value(points_.front().parameters, "machine")) return 11;
        }
        // By their time variants are compared, more than by any count.
        if (facts.item.counters.front() == Counter::duration_seconds && compares_ &&
            !facts.is_constant)
            return 9;
        // What is the same in every row can be said once above; what varies answers the question.
        constexpr int of_minor = 30;
        constexpr int of_constant = 40;
        const bool is_alike = facts.is_constant || (facts.is_minor && varies_within_doubt(facts));
        return facts.item.heading->importance + (facts.is_minor ? of_minor : 0) +
               (is_alike ? of_constant : 0);
    }

    // Estimates that differ by less than they are sure of are no difference.
    bool varies_within_doubt(const ItemFacts& facts) const {
        if (!facts.is_estimate || points_.size() < 2) return false;
        double low = -std::numeric_limits<double>::infinity();
        double high = std::numeric_limits<double>::infinity();
        for (const Point& point : points_) {
            const Interval* interval = interval_of(facts.item, point);
            if (!interval) return false;
            low = std::max(low, interval->low);
            high = std::min(high, interval->high);
        }
        return low <= high;
    }

    const ResultHead& head_;
    const std::vector<Point>& points_;
    const TableStyle& style_;
    bool compares_ = compares();
    bool lacks_efficiency_ =
        parameter_of(head_.sweep) == "line" && std::ranges::all_of(points_, lacks_efficiency);
    bool has_measurements_ = std::any_of(points_.begin(), points_.end(), [](const Point& point) {
        return point.measured.has_value();
    });
};

// Empties the candidates that find no room beside more important ones.
void drop_least_important(std::vector<Candidate>& candidates, std::size_t width, std::size_t most) {
    std::vector<std::pair<int, std::size_t>> order;  // of equal importance, the earlier first
    for (std::size_t i = 0; i < candidates.size(); ++i)
        order.emplace_back(candidates[i].importance, i);
    std::sort(order.begin(), order.end());
    for (const auto& [importance, i] : order) {
        const std::size_t more = width_of(candidates[i].columns);
        const bool is_alone = candidates[i].is_bar && candidates[i - 1].columns.empty();
        if (!is_alone && (most == 0 || width + more <= most))
            width += more;
        else
            candidates[i].columns.clear();
    }
}

// Columns narrower than the name of their group give it room, as far as there is some.
void widen_for_groups(std::vector<TableColumn>& columns, std::size_t most) {
    std::size_t all = width_of(columns) - column_gap.size();
    for (std::size_t i = 0; i < columns.size();) {
        const std::string_view group = columns[i].item.group;
        std::size_t width = columns[i].width;
        for (++i; i < columns.size() && columns[i].item.group == group; ++i)
            width += column_gap.size() + columns[i].width;
        const std::size_t more = group.size() > width ? group.size() - width : 0;
        if (more == 0 || (most != 0 && all + more > most)) continue;
        columns[i - 1].width += more;
        all += more;
    }
}

}  // namespace

std::string number_with_unit(const TableItem& item, const Reading& reading, bool is_estimate,
                             const TableStyle& style) {
    const NumberStyle number =
        is_finite_number(reading)
            ? style_for(info(item.counters.front()), {number_in(reading)}, style.ascii)
            : NumberStyle{};
    const std::string text = reading_text(reading, number, is_estimate);
    return number.unit.empty() ? text : fmt::format("{} {}", text, number.unit);
}

TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style) {
    const ColumnMaker make(head, points, style);
    TableItems all = items_of(points);
    TableLayout layout;
    layout.has_measurements = make.has_measurements();
    layout.columns = make.leading_columns(all.are_merged, layout.constant_parameters);
    for (ItemFacts& facts : facts_of(std::move(all.items), points))
        layout.items.push_back({std::move(facts)});
    std::vector<Candidate> candidates = make.descriptions_among(layout.columns);
    for (PlacedItem& item : layout.items) {
        if (item.facts.relation == Relation::none)
            item.place = Place::nowhere;
        else if (item.facts.is_constant && !item.facts.item.heading->never_hoisted &&
                 !is_asked_for(head, item.facts))
            item.place = Place::above;
        else
            make.add_candidates(item, candidates);
    }
    layout.limit = make.common_limit();
    if (!layout.limit && make.has_limits()) candidates.push_back(make.limit_candidate());
    drop_least_important(candidates, width_of(layout.columns) - column_gap.size(), style.width);
    for (Candidate& candidate : candidates) {
        if (candidate.columns.empty() && candidate.item && !candidate.is_bar)
            candidate.item->place =
                candidate.item->facts.is_constant ? Place::above : Place::left_out;
        if (candidate.columns.empty() && !candidate.parameter.empty())
            layout.left_out_parameters.push_back(std::move(candidate.parameter));
        std::move(candidate.columns.begin(), candidate.columns.end(),
                  std::back_inserter(layout.columns));
    }
    widen_for_groups(layout.columns, style.width);
    return layout;
}

std::string constants_text(const TableLayout& layout, const TableStyle& style) {
    std::vector<GroupedText> texts;
    for (const auto& [key, value] : layout.constant_parameters)
        texts.push_back({{}, fmt::format("{} {}", key, value_text(value, 60, style.ascii))});
    for (const auto& [facts, place] : layout.items) {
        const auto add = [&, &facts = facts](std::string_view source, bool from_measurement) {
            const Reading& reading = from_measurement ? facts.measurement : facts.prediction;
            texts.push_back(
                {facts.item.group,
                 fmt::format("{}{} {}", source, facts.item.heading->phrase,
                             number_with_unit(facts.item, reading,
                                              facts.is_estimate && !from_measurement, style))});
        };
        const bool is_above = place == Place::above;
        const bool says_both = is_above && facts.relation == Relation::differing;
        if (says_both || facts.is_prediction_constant) add("predicted ", false);
        if (says_both)
            add("measured ", true);
        else if (is_above)
            add("", is_finite_number(facts.measurement));
    }
    if (layout.limit) texts.push_back({{}, fmt::format("limited by {}", phrase_of(*layout.limit))});
    return list_by_group(texts);
}

}  // namespace coalprof
