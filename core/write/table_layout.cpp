#include "core/write/table_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/text/units.h"
#include "core/text/utf8.h"
#include "core/write/columns.h"
#include "core/write/labels.h"
#include "core/write/safe_text.h"
#include "core/write/table_style.h"

namespace coalprof {
namespace {

constexpr char estimate_mark = '~';
// The parameter that is shown with its unit: "4 MiB".
constexpr std::string_view size_parameter = "size_bytes";

// The source of the numbers, below the name: "=" for agreement, nothing for counters that only a
// measurement gives.
std::string_view source_mark(Relation relation, bool from_measurement) {
    if (relation == Relation::agreed) return "=";
    if (relation == Relation::measured) return "";
    return from_measurement ? "measured" : "predicted";
}

std::string reading_text(const Reading& reading, const NumberStyle& number, bool is_estimate) {
    if (!is_finite_number(reading)) return std::string(not_there);
    if (is_estimate) return estimate_mark + number_text(number_in(reading), estimate_style(number));
    if (const auto* integer = std::get_if<std::uint64_t>(&reading); integer && number.divisor == 1)
        return grouped(*integer);
    return number_text(number_in(reading), number);
}

// A kernel listed above its lines has "all" instead of a line. Null: another row.
const std::string* text_of_kernel(const Point& point, const std::string& key, const Value& value) {
    static const std::string name = "whole kernel", nothing;
    const Value* line = find_value(point.parameters, "line");
    const bool is_kernel =
        line && find_value(point.parameters, "kernel") && text_of(*line) == "all";
    return !is_kernel || text_of(value) != "all" ? nullptr : key == "line" ? &name : &nothing;
}

// A line of a kernel does one thing, and a kernel has some kinds of access: counters of others have
// empty cells.
bool is_no_concern(const Point& point, const Reading& reading) {
    return !is_present(reading) && find_value(point.parameters, "kernel");
}

std::string parameter_text(const Point& point, const std::string& key, bool ascii) {
    const Value* value = find_value(point.parameters, key);
    if (!value) return std::string(not_there);
    if (const std::string* text = text_of_kernel(point, key, *value)) return *text;
    const auto size = key == size_parameter ? natural_number(*value) : std::nullopt;
    return size ? size_text(*size) : value_text(*value, text_cell_columns, ascii);
}

std::string_view kind_of(const Point& point) {
    const Kinds kinds = kinds_of(point);
    for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
        if (kinds[kind]) return kind_names[kind];
    return not_there;
}

// Overlapping loads cost no memory traffic if L1 has their sectors: structures of three floats
// whose members are all read are no waste of the worst sort.
bool is_caught_by_l1(const Readings& readings) {
    const Reading& reads = readings[Counter::l2_read_sectors];
    const Reading& ideal = readings[Counter::load_ideal_sectors];
    constexpr double tolerance = 1.1;
    return is_finite_number(reads) && is_finite_number(ideal) &&
           number_in(reads) <= tolerance * number_in(ideal);
}

Shade shade_of(const TableItem& item, const Reading& reading, const Readings& all) {
    if (!item.is(AccessField::excess) || !is_finite_number(reading)) return Shade::none;
    const double excess = number_in(reading);
    if (excess <= 0.1) return Shade::good;
    const bool is_of_loads = item.is(Counter::load_excess);
    return excess <= 1 || (is_of_loads && is_caught_by_l1(all)) ? Shade::fair : Shade::poor;
}

// Parameters that identify kernels and lines of a program; the others only describe them.
constexpr std::array<std::string_view, 6> identifying{"line", "op",    "kernel",
                                                      "grid", "block", "device"};
constexpr int importance_of_description = 19;  // less than the costs of an access

// Columns that are shown together or not at all.
struct Candidate {
    PlacedItem* item;  // nullptr: of no counter, with its own columns
    int importance;
    std::vector<LaidColumn> columns;
    std::string parameter = {};  // that describes points; empty if there is none
    bool is_wanted = false;      // it stays even in lines that are too long
};

std::size_t width_of(const std::vector<LaidColumn>& columns) {
    std::size_t width = 0;
    for (const LaidColumn& column : columns) width += column_gap + column.width;
    return width;
}

bool has_one_of(const std::vector<Counter>& wanted, const TableItem& item) {
    return !item.is_per_request &&
           std::ranges::find_first_of(wanted, item.counters) != wanted.end();
}

// Makes the columns of these points.
class ColumnMaker {
 public:
    ColumnMaker(const ResultHead& head, const std::vector<Point>& points, const TableStyle& style)
        : head_(head), points_(points), style_(style) {}

    bool has_measurements() const { return has_measurements_; }

    // Moves parameters that are the same in every point to `constant`.
    std::vector<LaidColumn> leading_columns(bool shows_kind, NamedValues& constant) const {
        std::vector<LaidColumn> columns;
        std::vector<std::string> keys = parameter_keys(points_);
        std::erase(keys, source_file_parameter);  // its line says enough
        std::erase(keys, "function");             // its short name does
        std::erase(keys, "total_seconds");        // a launch's time stays
        const auto has_key = [&](std::string_view key) {
            return std::find(keys.begin(), keys.end(), key) != keys.end();
        };
        // Points of a formula are named after their parameters.
        const bool says_name = head_.sweep.pattern == "formula" && !keys.empty();
        if (!has_key("name") && !has_key(parameter_of(head_.sweep)) && !says_name)
            columns.push_back(text_column("name", [](const Point& point) { return &point.name; }));
        for (const std::string& key : keys)
            if (const Value* value = constant_value(key))
                constant.emplace_back(key, *value);
            else
                columns.push_back(parameter_column(key));
        if (shows_kind && !has_key("op"))
            columns.push_back(
                column({.heading = {"", "op"}, .is_left_aligned = true},
                       [](const Point& point) { return TableCell{std::string(kind_of(point))}; }));
        for (LaidColumn& column : columns) column.says_which_point = true;
        return columns;
    }

    // Removes those of these columns that are less important than the costs of a program's
    // accesses.
    std::vector<Candidate> descriptions_among(std::vector<LaidColumn>& columns) const {
        std::vector<Candidate> descriptions;
        const bool is_run = head_.sweep.pattern == "run";
        if (!is_run && head_.sweep.pattern != "kernel") return descriptions;
        const auto is_description = [&](const std::string& key) {
            return is_run ? !key.empty() && std::ranges::find(identifying, key) == identifying.end()
                          : key == "width_bytes";
        };
        std::erase_if(columns, [&](LaidColumn& column) {
            if (!is_description(column.parameter)) return false;
            Candidate candidate{nullptr, importance_of_description, {}, column.parameter};
            candidate.columns.push_back(std::move(column));
            descriptions.push_back(std::move(candidate));
            return true;
        });
        return descriptions;
    }

    // That of a kernel above its lines is said with its time, and where there is no time it limits
    // nothing that a reader sees.
    bool has_limits() const {
        return !is_of_lines_ && !is_shared_alone_ &&
               std::ranges::any_of(points_, [](const Point& point) {
                   return point.estimates && !point.estimates->limits.empty();
               });
    }
    // The common limit of several points.
    std::optional<Limit> common_limit() const {
        if (points_.size() < 2 || !has_limits()) return std::nullopt;
        const bool is_common = std::ranges::all_of(points_, [&](const Point& point) {
            return limit_of(point) == limit_of(points_.front());
        });
        if (!is_common) return std::nullopt;
        return points_.front().estimates->limits.front();
    }
    Candidate limit_candidate() const {
        const auto cell = [](const Point& point) {
            return TableCell{is_no_concern(point, point.predicted[Counter::duration_seconds])
                                 ? std::string()
                                 : std::string(limit_of(point))};
        };
        // It tells kernels apart as their times do.
        const int importance = head_.sweep.pattern == "kernel" ? 8 : has_measurements_ ? 38 : 19;
        return {nullptr,
                importance,
                {column({.heading = {"limited", "by"}, .is_left_aligned = true}, cell)}};
    }

    std::vector<LaidColumn> columns_of(const ItemFacts& facts) const {
        std::vector<LaidColumn> columns;
        if (facts.relation == Relation::predicted ||
            (facts.relation == Relation::differing && !facts.is_prediction_constant))
            columns.push_back(reading_column(facts, false));
        if (facts.relation != Relation::predicted) columns.push_back(reading_column(facts, true));
        return columns;
    }

    // By --columns, --best or --sort: such a column stays, whether its numbers vary or not. So do
    // the counters that settings are compared by.
    bool is_wanted(const TableItem& item) const {
        return has_one_of(head_.columns, item) || has_one_of(head_.foremost, item) ||
               (head_.compares_settings && item.is(Counter::bandwidth_bytes_per_second));
    }

    // Without a prediction the time ranks kernels, and it compares variants better than any count.
    int importance_of(const ItemFacts& facts) const {
        if (is_wanted(facts.item)) return has_one_of(head_.columns, facts.item) ? 1 : 0;
        const bool is_predicted = !head_.machine.name.empty();
        if (facts.item.is(Counter::duration_seconds)) {
            if (!is_predicted) return 0;
            const bool varies = !facts.is_constant && (compares_ || !facts.is_doubtful);
            if (varies && !is_of_lines_) return 8;
        }
        if (facts.item.is(Counter::bandwidth_bytes_per_second) &&
            find_value(points_.front().parameters, "machine"))
            return 12;
        // Where L1 limits kernels, passes through it are what lines and launches cost.
        const bool is_of_kernels = is_of_lines_ || head_.sweep.pattern == "kernel";
        if (is_of_kernels && facts.item.is(AccessField::data_wavefronts) && is_limited_by_l1())
            return 10;
        // A number that is the same in every row can be given once above; a varying one is an
        // answer.
        constexpr int of_minor = 30;
        constexpr int of_constant = 25;
        return facts.item.heading->importance + (facts.is_minor ? of_minor : 0) +
               (facts.is_constant ? of_constant : 0);
    }

    // The preferred place of an item, before the available room is known.
    Place place_of(const ItemFacts& facts) const {
        if (facts.relation == Relation::none) return Place::nowhere;
        if (is_wanted(facts.item)) return Place::column;
        const Unit unit = facts.item.format().unit;
        const bool is_time = unit == Unit::second || unit == Unit::byte_per_second ||
                             facts.item.is(Counter::bandwidth_share);
        if (is_time && common_limit() == Limit::start) return Place::nowhere;
        if (is_time && facts.relation == Relation::predicted && is_shared_alone_)
            return Place::nowhere;
        const bool is_said_once = (facts.is_doubtful && !compares_) ||
                                  (facts.is_constant && !facts.item.heading->never_hoisted);
        return is_said_once ? Place::above : Place::column;
    }

 private:
    bool is_limited_by_l1() const {
        return is_of_lines_ ? limit_of(points_.front()) == word_of(Limit::l1)
                            : common_limit() == Limit::l1;
    }
    template <typename CellOf>
    LaidColumn column(TableColumn shown, CellOf cell_of) const {
        LaidColumn laid{.shown = std::move(shown), .cells = {}};
        for (const std::string& line : laid.shown.heading)
            laid.width = std::max(laid.width, terminal_columns(line));
        laid.cells.reserve(points_.size());
        for (const Point& point : points_) {
            laid.cells.push_back(cell_of(point));
            laid.width = std::max(laid.width, terminal_columns(laid.cells.back().text));
        }
        return laid;
    }

    // `find` returns the text of a point; nullptr: none.
    template <typename Find>
    LaidColumn text_column(std::string heading, Find find) const {
        std::vector<std::string> texts;
        for (const Point& point : points_)
            if (const std::string* text = find(point)) texts.push_back(*text);
        const Labels labels = distinct_labels(texts, text_cell_columns, style_.ascii);
        return column({.heading = {"", std::move(heading)}, .is_left_aligned = true},
                      [&](const Point& point) {
                          const std::string* text = find(point);
                          return TableCell{text ? labels.at(*text) : std::string(not_there)};
                      });
    }

    bool varies(const std::string& key) const {
        const Value* first = find_value(points_.front().parameters, key);
        return std::any_of(points_.begin(), points_.end(), [&](const Point& point) {
            const Value* value = find_value(point.parameters, key);
            return !value || !first || !(*value == *first);
        });
    }
    // True where variants, settings or machines distinguish points, beside the swept parameter.
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

    static std::array<std::string, 3> heading_lines(const std::string& heading) {
        if (heading == "width_bytes") return {"width", "bytes"};
        return {"", heading};
    }
    LaidColumn parameter_column(const std::string& key) const {
        const std::string heading = key == size_parameter
                                        ? std::string("size")
                                        : cell_text(key, text_cell_columns, style_.ascii);
        const auto text_in = [&](const Point& point) -> const std::string* {
            const Value* value = find_value(point.parameters, key);
            const std::string* of_kernel = value ? text_of_kernel(point, key, *value) : nullptr;
            return of_kernel ? of_kernel : value ? std::get_if<std::string>(value) : nullptr;
        };
        LaidColumn laid =
            std::ranges::all_of(points_, text_in)
                ? text_column(heading, text_in)
                : column({.heading = heading_lines(heading)}, [&](const Point& point) {
                      return TableCell{parameter_text(point, key, style_.ascii)};
                  });
        laid.parameter = key;
        if (style_.folds_rows && points_.size() > 1)
            laid.width = std::max(laid.width, width_of_runs(key));
        return laid;
    }

    // Room for "17..23" and for "256..4096*4", for whole numbers.
    std::size_t width_of_runs(const std::string& key) const {
        std::vector<std::uint64_t> values;  // the first few, in order
        constexpr std::size_t enough = 3;
        for (const Point& point : points_) {
            const Value* value = find_value(point.parameters, key);
            const auto number = value ? natural_number(*value) : std::nullopt;
            if (!number) return 0;
            if (values.size() < enough && (values.empty() || *number > values.back()))
                values.push_back(*number);
        }
        const bool multiplies = values.size() == enough && values[0] > 0 &&
                                values[1] % values[0] == 0 && values[2] % values[1] == 0 &&
                                values[1] / values[0] == values[2] / values[1];
        const std::size_t last = text_of(*find_value(points_.back().parameters, key)).size();
        if (!multiplies) return 2 * last + 2;
        return std::to_string(values[0]).size() + last + 3 +
               std::to_string(values[1] / values[0]).size();
    }

    LaidColumn reading_column(const ItemFacts& facts, bool from_measurement) const {
        const TableItem& item = facts.item;
        const auto reading_of = [&](const Point& point) {
            return from_measurement ? item.measured(point) : item.predicted(point);
        };
        std::vector<double> numbers;
        for (const Point& point : points_)
            if (const Reading reading = reading_of(point); is_finite_number(reading))
                numbers.push_back(number_in(reading));
        const NumberStyle number = style_for(item.format(), numbers, style_.ascii);
        const ItemHeading& heading = *item.heading;
        TableColumn shown{
            .heading = {std::string(heading.line1),
                        std::string(heading.line2.empty() ? number.unit : heading.line2),
                        std::string(has_measurements_
                                        ? source_mark(facts.relation, from_measurement)
                                        : "")},
            .group = std::string(item.group)};
        LaidColumn laid = column(std::move(shown), [&](const Point& point) {
            const Reading reading = reading_of(point);
            const bool is_estimate = !from_measurement && item.interval(point);
            const Readings& all =
                from_measurement && point.measured ? *point.measured : point.predicted;
            return TableCell{is_no_concern(point, reading)
                                 ? std::string()
                                 : reading_text(reading, number, is_estimate),
                             shade_of(item, reading, all)};
        });
        if (facts.is_estimate && !from_measurement)
            for (const Point& point : points_) {
                const Interval* interval = item.interval(point);
                laid.doubts.push_back(interval
                                          ? LaidColumn::Doubt{interval->low,
                                                              number_or(item.predicted(point), -1),
                                                              interval->high}
                                          : LaidColumn::Doubt{});
            }
        return laid;
    }

    const ResultHead& head_;
    const std::vector<Point>& points_;
    const TableStyle& style_;
    bool compares_ = compares();
    // The time is the whole kernel's, and said below.
    bool is_of_lines_ = text_of_kernel(points_.front(), "line", std::string("all")) != nullptr;
    // One pass of shared memory a thread takes less time than starting the thread.
    bool is_shared_alone_ = std::ranges::all_of(
        points_, [](const Point& point) { return uses_shared_memory_alone(point); });
    bool has_measurements_ = std::any_of(points_.begin(), points_.end(), [](const Point& point) {
        return point.measured.has_value();
    });
};

// The most important first, as far as they fit and a reader needs them; the others get none.
void give_columns(std::vector<Candidate>& candidates, const ColumnMaker& make, std::size_t width,
                  const TableStyle& style) {
    std::vector<std::pair<int, std::size_t>> order;  // of equal importance, the earlier first
    for (std::size_t i = 0; i < candidates.size(); ++i)
        order.emplace_back(candidates[i].importance, i);
    std::sort(order.begin(), order.end());
    const bool has_enough = !order.empty() && order.front().first <= enough_to_know;
    for (const auto& [importance, i] : order) {
        Candidate& candidate = candidates[i];
        const bool is_needed = style.explains_all || !has_enough || importance <= enough_to_know;
        if (is_needed && candidate.item) candidate.columns = make.columns_of(candidate.item->facts);
        const std::size_t more = width_of(candidate.columns);
        const bool has_room = style.width == 0 || width + more <= style.width;
        if (is_needed && (has_room || candidate.is_wanted))
            width += more;
        else
            candidate.columns.clear();
    }
}

// "~4.1 to 4.3 us": the range of estimates that differ by less than their doubt.
std::string range_text(const TableItem& item, const std::vector<Point>& points,
                       const TableStyle& style, bool& are_near) {
    const auto number = [&](const Point& point) { return number_in(item.predicted(point)); };
    const auto [low, high] = std::ranges::minmax_element(points, {}, number);
    std::string from = number_with_unit(item, item.predicted(*low), true, style);
    const std::string to = number_with_unit(item, item.predicted(*high), true, style);
    if (from == to) return from;
    are_near = true;
    if (const std::size_t blank = from.find(' ');
        blank != from.npos && to.ends_with(std::string_view(from).substr(blank)))
        from.erase(blank);
    return fmt::format("{} to {}", from, to);
}

void add_facts_of(const PlacedItem& placed, TableLayout& layout, const std::vector<Point>& points,
                  const TableStyle& style) {
    const ItemFacts& facts = placed.facts;
    const auto add = [&](std::string_view source, const std::string& number) {
        layout.facts.push_back(
            {facts.item.group, fmt::format("{}{} {}", source, facts.item.heading->phrase, number)});
    };
    const auto number = [&](bool from_measurement) {
        return number_with_unit(facts.item, from_measurement ? facts.measurement : facts.prediction,
                                facts.is_estimate && !from_measurement, style);
    };
    const bool is_above = placed.place == Place::above;
    const bool says_both = is_above && facts.relation == Relation::differing;
    if (says_both || facts.is_prediction_constant) add("predicted ", number(false));
    if (says_both)
        add("measured ", number(true));
    else if (is_above && facts.is_doubtful)
        add("", range_text(facts.item, points, style, layout.are_facts_near));
    else if (is_above)
        add("", number(is_finite_number(facts.measurement)));
}

// The kernel comes first: it may have been named by a part of its name. Then the time: that nothing
// is slower is half of the answer.
void add_facts(TableLayout& layout, const std::vector<Point>& points, const TableStyle& style) {
    const auto is_time = [](const PlacedItem& one) {
        return one.facts.item.is(Counter::duration_seconds);
    };
    const auto add_parameters = [&](bool are_kernels) {
        for (const auto& [key, value] : layout.constant_parameters)
            if ((key == "kernel") == are_kernels)
                layout.facts.push_back(
                    {{}, fmt::format("{} {}", key, value_text(value, 60, style.ascii))});
    };
    add_parameters(true);
    for (const PlacedItem& one : layout.items)
        if (is_time(one)) add_facts_of(one, layout, points, style);
    if (layout.limit)
        layout.facts.push_back({{}, fmt::format("limited by {}", word_of(*layout.limit))});
    add_parameters(false);
    for (const PlacedItem& one : layout.items)
        if (!is_time(one)) add_facts_of(one, layout, points, style);
}

}  // namespace

std::string number_with_unit(const TableItem& item, const Reading& reading, bool is_estimate,
                             const TableStyle& style) {
    const NumberStyle number = is_finite_number(reading)
                                   ? style_for(item.format(), {number_in(reading)}, style.ascii)
                                   : NumberStyle{};
    const std::string text = reading_text(reading, number, is_estimate);
    return number.unit.empty() ? text : fmt::format("{} {}", text, number.unit);
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

std::string_view limit_of(const Point& point) {
    return point.estimates && !point.estimates->limits.empty()
               ? word_of(point.estimates->limits.front())
               : not_there;
}

TableLayout layout_of(const ResultHead& head, const std::vector<Point>& points,
                      const TableStyle& style) {
    const ColumnMaker make(head, points, style);
    TableItems all = items_of(head, points);
    TableLayout layout;
    layout.has_measurements = make.has_measurements();
    layout.columns = make.leading_columns(all.are_merged, layout.constant_parameters);
    for (TableItem& item : all.items) layout.items.push_back({facts_of(std::move(item), points)});
    // Beside varying sectors the ideal stays, although it is constant.
    for (std::size_t i = 0; i + 1 < layout.items.size(); ++i)
        if (layout.items[i].facts.item.is_per_request)
            layout.items[i].facts.is_constant &= layout.items[i + 1].facts.is_constant;
    std::vector<Candidate> candidates = make.descriptions_among(layout.columns);
    bool has_time = false;
    for (PlacedItem& item : layout.items) {
        item.place = make.place_of(item.facts);
        if (item.place != Place::column) continue;
        candidates.push_back(
            {&item, make.importance_of(item.facts), {}, {}, make.is_wanted(item.facts.item)});
        has_time |= item.facts.item.is(Counter::duration_seconds) ||
                    item.facts.item.is(Counter::bandwidth_bytes_per_second);
    }
    layout.limit = make.common_limit();
    if (!layout.limit && has_time && make.has_limits())
        candidates.push_back(make.limit_candidate());
    give_columns(candidates, make, width_of(layout.columns) - column_gap, style);
    for (Candidate& candidate : candidates) {
        if (candidate.columns.empty() && candidate.item)
            candidate.item->place =
                candidate.item->facts.is_constant ? Place::above : Place::left_out;
        if (candidate.columns.empty() && !candidate.parameter.empty())
            layout.left_out_parameters.push_back(std::move(candidate.parameter));
        std::ranges::move(candidate.columns, std::back_inserter(layout.columns));
    }
    // The launch of a kernel and its limit matter most; all else would take the line above.
    const int enough = head.sweep.pattern == "kernel" ? 0 : enough_to_know;
    if (!style.explains_all)
        for (PlacedItem& item : layout.items)
            if (item.place == Place::above && item.facts.item.heading->importance > enough &&
                !item.facts.item.is(Counter::duration_seconds))
                item.place = Place::left_out;
    add_facts(layout, points, style);
    return layout;
}

}  // namespace coalprof
