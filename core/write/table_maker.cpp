#include "core/write/table_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/text/name_list.h"
#include "core/write/columns.h"
#include "core/write/labels.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

struct FoldedRow {
    std::size_t first = 0;  // number of its first point
    std::vector<TableCell> cells;
    bool is_run = false;
};

std::optional<std::uint64_t> whole_number(const Point& point, const std::string& key) {
    const Value* value = find_value(point.parameters, key);
    return value ? natural_number(*value) : std::nullopt;
}

// Values with one step or one factor; `text` then writes them as in --range.
class EvenRun {
 public:
    bool takes(std::uint64_t value) const {
        if (values_.empty()) return true;
        if (value <= values_.back()) return false;
        if (values_.size() == 1) return true;
        return is_sum(value) || is_product(value);
    }
    void add(std::uint64_t value) { values_.push_back(value); }
    std::string text() const {
        const std::uint64_t first = values_.front();
        const std::uint64_t last = values_.back();
        const std::uint64_t step = values_[1] - first;
        if (values_.size() == 2 && step > 1) return fmt::format("{}, {}", first, last);
        std::string text = fmt::format("{}..{}", first, last);
        if (step == 1 && last - first + 1 == values_.size()) return text;
        return last == first + step * (values_.size() - 1)
                   ? text + fmt::format(":{}", step)
                   : text + fmt::format("*{}", values_[1] / first);
    }

 private:
    bool is_sum(std::uint64_t value) const {
        const std::uint64_t step = values_[1] - values_[0];
        return values_.back() == values_[0] + step * (values_.size() - 1) &&
               value == values_.back() + step;
    }
    bool is_product(std::uint64_t value) const {
        const std::uint64_t first = values_[0];
        if (first == 0 || values_[1] % first != 0) return false;
        const std::uint64_t factor = values_[1] / first;
        for (std::size_t i = 2; i < values_.size(); ++i)
            if (values_[i] != values_[i - 1] * factor) return false;
        return value / factor == values_.back() && value % factor == 0;
    }
    std::vector<std::uint64_t> values_;
};

class RowFolder {
 public:
    RowFolder(const std::vector<LaidColumn>& columns, const std::vector<Point>& points)
        : columns_(columns),
          points_(points),
          leading_(static_cast<std::size_t>(
              std::ranges::count(columns, true, &LaidColumn::says_which_point))) {}

    // The inner parameters first: rows that are then equal may be so for all values of an outer
    // one.
    std::vector<FoldedRow> folded(std::vector<FoldedRow> rows) const {
        if (leading_ == columns_.size()) return rows;
        for (std::size_t k = leading_; k-- > 0;)
            if (!columns_[k].parameter.empty()) rows = folded_by(std::move(rows), k);
        if (leading_ == 1) refer_to_earlier_rows(rows);
        return rows;
    }

 private:
    // Estimates are equal where each is within the doubt of the other and the difference is too
    // small to matter.
    static bool are_equal_estimates(const LaidColumn& column, std::size_t a, std::size_t b) {
        if (column.doubts.empty()) return false;
        const auto middle = [&](std::size_t i) { return column.doubts[i].middle; };
        const auto holds = [&](std::size_t i, double value) {
            return column.doubts[i].low <= value && value <= column.doubts[i].high;
        };
        return holds(a, middle(b)) && holds(b, middle(a)) &&
               std::abs(middle(a) - middle(b)) <= visible_difference * middle(a);
    }
    bool have_equal_numbers(const FoldedRow& a, const FoldedRow& b, bool as_printed) const {
        if (points_[a.first].failure != points_[b.first].failure) return false;
        return std::ranges::all_of(columns_, [&](const LaidColumn& column) {
            return column.says_which_point ||
                   column.cells[a.first].text == column.cells[b.first].text ||
                   (!as_printed && are_equal_estimates(column, a.first, b.first));
        });
    }
    bool are_equal_beside(const FoldedRow& a, const FoldedRow& b, std::size_t folded) const {
        for (std::size_t k = 0; k < leading_; ++k)
            if (k != folded && a.cells[k].text != b.cells[k].text) return false;
        return have_equal_numbers(a, b, false);
    }

    std::vector<FoldedRow> folded_by(std::vector<FoldedRow> rows, std::size_t column) const {
        std::vector<FoldedRow> folded;
        for (std::size_t i = 0; i < rows.size();) {
            EvenRun run;
            std::size_t end = i;
            for (; end < rows.size() && are_equal_beside(rows[i], rows[end], column); ++end) {
                const auto value =
                    whole_number(points_[rows[end].first], columns_[column].parameter);
                if (!value || !run.takes(*value)) break;
                run.add(*value);
            }
            const bool is_run = end > i + 1 && run.text().size() <= columns_[column].width;
            if (!is_run) end = i + 1;
            folded.push_back(std::move(rows[i]));
            if (is_run) {
                folded.back().cells[column].text = run.text();
                folded.back().is_run = true;
            }
            i = end;
        }
        return folded;
    }

    // Later runs with the numbers of an earlier row only name it.
    void refer_to_earlier_rows(std::vector<FoldedRow>& rows) const {
        for (std::size_t i = 1; i < rows.size(); ++i) {
            if (!rows[i].is_run) continue;
            const auto known = std::find_if(
                rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i),
                [&](const FoldedRow& row) { return have_equal_numbers(row, rows[i], true); });
            const auto value = whole_number(points_[known->first], columns_[0].parameter);
            if (known->first == rows[i].first || !value) continue;
            for (std::size_t k = 1; k < rows[i].cells.size(); ++k) rows[i].cells[k] = {};
            std::string text = fmt::format("same as {}", *value);
            if (text.size() > columns_[1].width) text.erase(0, std::string_view("same ").size());
            rows[i].cells[1].text = std::move(text);
        }
    }

    const std::vector<LaidColumn>& columns_;
    const std::vector<Point>& points_;
    std::size_t leading_;  // columns that identify the point
};

// A row for each point, or, if `folds`, for each run of points with equal numbers. A run is of one
// whole-numbered parameter with equal steps, so that its label says which values it has.
std::vector<TableRow> rows_of(const std::vector<LaidColumn>& columns,
                              const std::vector<Point>& points, bool folds) {
    std::vector<FoldedRow> rows(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        rows[i].first = i;
        for (const LaidColumn& column : columns) rows[i].cells.push_back(column.cells[i]);
    }
    if (folds) rows = RowFolder(columns, points).folded(std::move(rows));
    std::vector<TableRow> shown;
    for (FoldedRow& row : rows) shown.push_back({{}, std::move(row.cells)});
    return shown;
}

// The cost of a request of each kind, and its name.
constexpr std::array request_costs{
    std::pair{Counter::load_sectors_per_request, "sectors/request"},
    std::pair{Counter::store_sectors_per_request, "sectors/request"},
    std::pair{Counter::atomic_sectors_per_request, "sectors/request"},
    std::pair{Counter::reduce_sectors_per_request, "sectors/request"},
    std::pair{Counter::shared_load_conflict_degree, "passes/request"},
    std::pair{Counter::shared_store_conflict_degree, "passes/request"},
    std::pair{Counter::shared_atomic_conflict_degree, "passes/request"},
};

// Equal as printed in the table.
bool are_shown_equal(const Reading& a, const Reading& b) {
    constexpr double tolerance = 0.005;
    if (!is_number(a) || !is_number(b)) return a == b;
    return std::abs(number_in(a) - number_in(b)) < tolerance;
}

struct InstructionCost {
    Reading of_request;
    const char* unit = "";
    Reading excess;
    friend bool operator==(const InstructionCost& a, const InstructionCost& b) {
        return are_shown_equal(a.of_request, b.of_request) && are_shown_equal(a.excess, b.excess);
    }
};

InstructionCost cost_of(const InstructionResult& one) {
    InstructionCost cost;
    for (const auto& [counter, unit] : request_costs)
        if (is_present(one.predicted[counter])) {
            cost.of_request = one.predicted[counter];
            cost.unit = unit;
        }
    for (const AccessKind kind : access_kinds) {
        const Reading& sectors = one.predicted[access_counter(kind, AccessField::sectors)];
        const Reading& ideal = one.predicted[access_counter(kind, AccessField::ideal_sectors)];
        if (is_number(sectors) && is_number(ideal) && number_in(ideal) > 0)
            cost.excess = number_in(sectors) / number_in(ideal) - 1;
    }
    return cost;
}

bool have_different_costs(const Point& point) {
    const auto& all = point.instructions;
    return std::any_of(all.begin(), all.end(), [&](const InstructionResult& one) {
        return !(cost_of(one) == cost_of(all.front()));
    });
}

constexpr std::size_t most_instruction_rows = 16;  // a point is shown whole, or not at all
constexpr std::size_t most_listed = 4;
// The other cells and the blanks take this much of a line; the rest is for the instruction.
constexpr std::size_t other_cell_columns = 44;
constexpr std::size_t least_instruction_columns = 24;
constexpr std::size_t longest_instruction = 400;  // columns, without a limit of the width

std::size_t instruction_columns(const TableStyle& style) {
    return style.width == 0
               ? longest_instruction
               : std::max(style.width, other_cell_columns + least_instruction_columns) -
                     other_cell_columns;
}

std::string names_of(const std::vector<std::string>& points) {
    NameList names(most_listed);
    for (const std::string& point : points) names.add(point);
    return names.text();
}

// "load a (f32)", and "load a[i*3] (f32)" if the point has another load of a.
std::vector<std::string> instruction_texts(const std::vector<InstructionResult>& all,
                                           const TableStyle& style) {
    std::vector<std::string> texts;
    for (const InstructionResult& one : all) {
        const auto is_like = [&](const InstructionResult& other) {
            return other.op == one.op && other.array == one.array;
        };
        const bool is_alone = std::ranges::count_if(all, is_like) == 1;
        std::string place = one.array;
        if (!is_alone && !one.index.empty()) place += fmt::format("[{}]", one.index);
        if (!is_alone && !one.access.empty()) place = one.access;
        texts.push_back(fmt::format("{} {} ({})", one.op, place, one.type));
    }
    const Labels labels = distinct_labels(texts, instruction_columns(style), style.ascii);
    for (std::string& text : texts) text = labels.at(text);
    return texts;
}

TableRow instruction_row(const InstructionCost& cost, std::string instruction) {
    const auto text = [](const Reading& reading, double factor, const std::string& unit) {
        if (!is_present(reading)) return std::string();
        return is_number(reading) ? fmt::format("{:.{}f}{}", number_in(reading) * factor,
                                                factor == 1 ? 2 : 0, unit)
                                  : std::string(not_there);
    };
    return {{},
            {{std::move(instruction)},
             {text(cost.of_request, 1, fmt::format(" {}", cost.unit))},
             {text(cost.excess, 100, " %")}}};
}

// Instructions of one cost share one row while their names fit.
std::vector<TableRow> instruction_rows(const Point& point, const TableStyle& style) {
    const std::vector<InstructionResult>& all = point.instructions;
    const std::vector<std::string> texts = instruction_texts(all, style);
    std::vector<TableRow> rows;
    std::vector<InstructionCost> costs;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const InstructionCost cost = cost_of(all[i]);
        const bool is_like_last = !costs.empty() && costs.back() == cost;
        if (is_like_last &&
            rows.back().cells[0].text.size() + texts[i].size() + 2 <= instruction_columns(style)) {
            rows.back().cells[0].text += ", " + texts[i];
            continue;
        }
        rows.push_back(instruction_row(cost, texts[i]));
        costs.push_back(cost);
    }
    return rows;
}

// The parameters that the name does not state: that of a formula has them, "N=1024 k=0".
std::string parameters_of(const Point& point, const TableStyle& style) {
    const std::string name = cell_text(point.name, text_cell_columns, style.ascii);
    const std::string words = fmt::format(" {} ", name);
    std::string text = name;
    for (const auto& [key, value] : point.parameters) {
        const std::string shown = value_text(value, text_cell_columns, style.ascii);
        const std::string named = cell_text(key, text_cell_columns, style.ascii);
        if (!has_word(words, fmt::format("{}={}", named, shown)))
            text += fmt::format(", {} {}", named, shown);
    }
    return text;
}

}  // namespace

Table table_of_page(const TableLayout& layout, const std::vector<Point>& points,
                    std::string_view rows, const TableStyle& style, bool crosses) {
    Table table;
    if (!layout.facts.empty())
        table.facts =
            fmt::format("{} for {}: {}", layout.are_facts_near ? "Nearly the same" : "Same", rows,
                        list_by_group(layout.facts));
    const std::optional<CrossTable> cross =
        crosses ? cross_table_of(layout, points, style.width) : std::nullopt;
    if (cross) table.above.push_back(cross->numbers);
    const std::vector<LaidColumn>& columns = cross ? cross->columns : layout.columns;
    std::vector<TableColumn> shown;
    for (const LaidColumn& column : columns) shown.push_back(column.shown);
    table.grid = TableGrid(std::move(shown));
    for (TableRow& row : rows_of(columns, cross ? cross->rows : points, style.folds_rows))
        table.grid.add(std::move(row));
    return table;
}

Table table_of_point(const TableLayout& layout, const Point& point, const TableStyle& style) {
    Table table;
    if (std::string parameters = parameters_of(point, style); !parameters.empty())
        table.above.push_back(std::move(parameters));
    std::vector<TableColumn> columns{{.is_left_aligned = true}, {.heading = {"", "predicted"}}};
    if (layout.has_measurements) columns.push_back({.heading = {"", "measured"}});
    table.grid = TableGrid(std::move(columns));
    const auto value = [&](const TableItem& item, const Reading& reading, bool is_estimate) {
        return TableCell{is_present(reading) ? number_with_unit(item, reading, is_estimate, style)
                                             : std::string(not_there)};
    };
    for (const auto& [facts, place] : layout.items) {
        const TableItem& item = facts.item;
        TableRow row{item.group, {}};
        row.cells.push_back({std::string(item.heading->phrase)});
        row.cells.push_back(value(item, item.predicted(point), item.interval(point) != nullptr));
        if (layout.has_measurements) row.cells.push_back(value(item, item.measured(point), false));
        table.grid.add(std::move(row));
    }
    if (point.estimates && !point.estimates->limits.empty())
        table.grid.add({{}, {{"limited by"}, {std::string(limit_of(point))}}});
    return table;
}

std::optional<Table> table_of_instructions(const std::vector<Point>& points,
                                           const TableStyle& style) {
    std::vector<TableColumn> columns{{.heading = {"", "instruction"}, .is_left_aligned = true},
                                     {.heading = {"", "cost"}},
                                     {.heading = {"", "excess"}}};
    const bool says_point = points.size() > 1;
    if (says_point)
        columns.insert(columns.begin(), {.heading = {"", "point"}, .is_left_aligned = true});
    Table table{.above = {"Each instruction, predicted:"}, .grid = TableGrid(std::move(columns))};
    std::vector<std::string> equal;
    std::size_t left_out = 0;
    const std::vector<std::string> names = names_by_what_varies(points);
    const Labels labels = distinct_labels(names, text_cell_columns, style.ascii);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& point = points[i];
        const std::size_t before = table.grid.rows().size();
        if (point.instructions.size() < 2) continue;
        if (says_point && !have_different_costs(point)) {
            equal.push_back(labels.at(names[i]));
            continue;
        }
        std::vector<TableRow> rows = instruction_rows(point, style);
        const bool has_room = before == 0 || before + rows.size() <= most_instruction_rows;
        if (left_out > 0 || !has_room) {
            ++left_out;
            continue;
        }
        for (TableRow& row : rows) {
            const bool is_first = &row == &rows.front();
            if (says_point)
                row.cells.insert(row.cells.begin(), {is_first ? labels.at(names[i]) : ""});
            table.grid.add(std::move(row));
        }
    }
    if (table.grid.rows().empty()) return std::nullopt;
    const auto note = [&](std::string text) {
        table.notes.push_back({TableNote::Rank::plain, std::move(text)});
    };
    if (!equal.empty()) note(fmt::format("All instructions cost the same in: {}", names_of(equal)));
    if (left_out > 0) note(fmt::format("{} more points: --json has their instructions", left_out));
    return table;
}

}  // namespace coalprof
