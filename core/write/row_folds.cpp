#include "core/write/row_folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/write/columns.h"

namespace coalprof {
namespace {

struct FoldedRow {
    std::size_t first = 0;  // of its points
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
        constexpr double tolerance = 0.05;
        return holds(a, middle(b)) && holds(b, middle(a)) &&
               std::abs(middle(a) - middle(b)) <= tolerance * middle(a);
    }
    bool have_equal_numbers(const FoldedRow& a, const FoldedRow& b) const {
        if (points_[a.first].failure != points_[b.first].failure) return false;
        return std::ranges::all_of(columns_, [&](const LaidColumn& column) {
            return column.says_which_point ||
                   column.cells[a.first].text == column.cells[b.first].text ||
                   are_equal_estimates(column, a.first, b.first);
        });
    }
    bool are_equal_beside(const FoldedRow& a, const FoldedRow& b, std::size_t folded) const {
        for (std::size_t k = 0; k < leading_; ++k)
            if (k != folded && a.cells[k].text != b.cells[k].text) return false;
        return have_equal_numbers(a, b);
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
                [&](const FoldedRow& row) { return have_equal_numbers(row, rows[i]); });
            const auto value = whole_number(points_[known->first], columns_[0].parameter);
            if (known->first == rows[i].first || !value) continue;
            for (std::size_t k = 1; k < rows[i].cells.size(); ++k) rows[i].cells[k] = {};
            rows[i].cells[1].text = fmt::format("as {}", *value);
        }
    }

    const std::vector<LaidColumn>& columns_;
    const std::vector<Point>& points_;
    std::size_t leading_;  // columns that identify the point
};

}  // namespace

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

}  // namespace coalprof
