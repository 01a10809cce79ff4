#include "core/write/table_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/text/utf8.h"
#include "core/write/table_cell.h"
#include "core/write/terminal_text.h"

namespace coalprof {
namespace {

// What a request of each kind costs, and how that is called.
constexpr std::array request_costs{
    std::pair{Counter::load_sectors_per_request, "sectors/request"},
    std::pair{Counter::store_sectors_per_request, "sectors/request"},
    std::pair{Counter::atomic_sectors_per_request, "sectors/request"},
    std::pair{Counter::reduce_sectors_per_request, "sectors/request"},
    std::pair{Counter::shared_load_conflict_degree, "passes/request"},
    std::pair{Counter::shared_store_conflict_degree, "passes/request"},
    std::pair{Counter::shared_atomic_conflict_degree, "passes/request"},
};

struct Cost {
    Reading of_request;
    const char* unit = "";
    Reading efficiency;
    friend bool operator==(const Cost& a, const Cost& b) {
        return a.of_request == b.of_request && a.efficiency == b.efficiency;
    }
};

Cost cost_of(const InstructionResult& one) {
    Cost cost;
    for (const auto& [counter, unit] : request_costs)
        if (is_present(one.predicted[counter])) {
            cost.of_request = one.predicted[counter];
            cost.unit = unit;
        }
    for (const AccessKind kind : access_kinds)
        if (const Reading& efficiency =
                one.predicted[access_counter(kind, AccessField::efficiency)];
            is_present(efficiency))
            cost.efficiency = efficiency;
    return cost;
}

bool are_different(const Point& point) {
    const auto& all = point.instructions;
    return std::any_of(all.begin(), all.end(), [&](const InstructionResult& one) {
        return !(cost_of(one) == cost_of(all.front()));
    });
}

using Row = std::array<std::string, 5>;  // point, instruction, cost, its unit, efficiency

Row row_of(const Point& point, const InstructionResult& one, bool is_first, bool is_lone,
           const TableStyle& style) {
    const Cost cost = cost_of(one);
    const auto text = [](const Reading& reading, double factor, const char* unit) {
        return is_number(reading) ? fmt::format("{:.2f}{}", number_in(reading) * factor, unit)
                                  : std::string("n/a");
    };
    Row row;
    if (is_first && !is_lone) row[0] = cell_text(point.name, text_cell_columns, style.ascii);
    row[1] = fmt::format("{} {} ({})", one.op, cell_text(one.array, text_cell_columns, style.ascii),
                         one.type);
    if (is_present(cost.of_request)) row[2] = text(cost.of_request, 1, "");
    row[3] = cost.unit;
    if (is_present(cost.efficiency)) row[4] = text(cost.efficiency, 100, " %");
    return row;
}

}  // namespace

std::string instructions_text(const std::vector<Point>& points, const TableStyle& style) {
    std::vector<Row> rows;
    for (const Point& point : points) {
        if (!are_different(point)) continue;
        bool is_first = true;
        for (const InstructionResult& one : point.instructions) {
            rows.push_back(row_of(point, one, is_first, points.size() == 1, style));
            is_first = false;
        }
    }
    if (rows.empty()) return {};
    std::array<std::size_t, std::tuple_size_v<Row>> widths{};
    for (const Row& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k)
            widths[k] = std::max(widths[k], terminal_columns(row[k]));
    std::string text = "Each instruction, predicted:\n";
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t k = 0; k < row.size(); ++k) {
            if (widths[k] == 0) continue;
            const std::string padding(widths[k] - terminal_columns(row[k]), ' ');
            const bool is_number = k == 2 || k == 4;
            line += (is_number ? padding + row[k] : row[k] + padding) + (k == 2 ? " " : "  ");
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += "  " + line + "\n";
    }
    return text;
}

}  // namespace coalprof
