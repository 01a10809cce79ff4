#include "core/write/table_instructions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/text/name_list.h"
#include "core/text/utf8.h"
#include "core/write/labels.h"
#include "core/write/table_cell.h"
#include "core/write/table_rows.h"
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

using Row = InstructionRows::Row;
constexpr std::size_t row_indent = 2;
constexpr std::size_t most_rows = 16;  // the whole of a point is shown, or nothing of it
constexpr std::size_t most_listed = 4;
constexpr std::size_t longest_instruction = 400;  // columns, where the width has no limit

std::string names_of(const std::vector<std::string>& points) {
    NameList names(most_listed);
    for (const std::string& point : points) names.add(point);
    return names.text();
}

// What is left of a line for the instruction: the other cells and the blanks take this much.
constexpr std::size_t other_cell_columns = 40;
constexpr std::size_t least_instruction_columns = 28;

// "load a (f32)", and "load a[i*3] (f32)" where the point has another load of a.
std::vector<std::string> instruction_texts(const std::vector<InstructionResult>& all,
                                           const TableStyle& style) {
    std::vector<std::string> texts;
    for (const InstructionResult& one : all) {
        const auto is_like = [&](const InstructionResult& other) {
            return other.op == one.op && other.array == one.array;
        };
        const bool is_alone = std::ranges::count_if(all, is_like) == 1;
        const std::string index =
            is_alone || one.index.empty() ? std::string() : fmt::format("[{}]", one.index);
        texts.push_back(fmt::format("{} {}{} ({})", one.op, one.array, index, one.type));
    }
    const std::size_t columns =
        style.width == 0 ? longest_instruction
                         : std::max(style.width, other_cell_columns + least_instruction_columns) -
                               other_cell_columns;
    const Labels labels = distinct_labels(texts, columns, style.ascii);
    for (std::string& text : texts) text = labels.at(text);
    return texts;
}

Row row_of(const InstructionResult& one, std::string instruction) {
    const Cost cost = cost_of(one);
    const auto text = [](const Reading& reading, double factor, const char* unit) {
        return is_number(reading) ? fmt::format("{:.2f}{}", number_in(reading) * factor, unit)
                                  : std::string("n/a");
    };
    Row row;
    row[1] = std::move(instruction);
    if (is_present(cost.of_request)) row[2] = text(cost.of_request, 1, "");
    row[3] = cost.unit;
    if (is_present(cost.efficiency)) row[4] = text(cost.efficiency, 100, " %");
    return row;
}

}  // namespace

InstructionRows instruction_rows(const std::vector<Point>& points, const TableStyle& style) {
    InstructionRows told;
    std::vector<std::string> alike;
    std::size_t left_out = 0;
    const std::vector<std::string> names = names_by_what_varies(points);
    const Labels labels = distinct_labels(names, text_cell_columns, style.ascii);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Point& point = points[i];
        const std::string& label = labels.at(names[i]);
        if (point.instructions.size() < 2) continue;
        if (!are_different(point)) {
            alike.push_back(label);
            continue;
        }
        const bool has_room =
            told.rows.empty() || told.rows.size() + point.instructions.size() <= most_rows;
        if (left_out > 0 || !has_room) {
            ++left_out;
            continue;
        }
        const std::size_t first = told.rows.size();
        std::vector<std::string> texts = instruction_texts(point.instructions, style);
        for (std::size_t k = 0; k < texts.size(); ++k)
            told.rows.push_back(row_of(point.instructions[k], std::move(texts[k])));
        if (points.size() > 1) told.rows[first][0] = label;
    }
    if (told.rows.empty()) return {};
    if (!alike.empty())
        told.notes.push_back(fmt::format("Instructions that cost the same: {}", names_of(alike)));
    if (left_out > 0)
        told.notes.push_back(
            fmt::format("{} more points: --json has their instructions", left_out));
    return told;
}

std::string instructions_text(const std::vector<Point>& points, const TableStyle& style) {
    const auto& [rows, notes] = instruction_rows(points, style);
    if (rows.empty()) return {};
    std::array<std::size_t, std::tuple_size_v<Row>> widths{};
    for (const Row& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k)
            widths[k] = std::max(widths[k], terminal_columns(row[k]));
    std::size_t width = row_indent;
    for (const std::size_t column : widths) width += column + (column == 0 ? 0 : column_gap.size());
    // A line that would be too long has its point's name above it.
    const bool is_below = style.width != 0 && width - column_gap.size() > style.width;
    std::string text = "Each instruction, predicted:\n";
    for (const Row& row : rows) {
        std::string line(is_below ? 2 * row_indent : row_indent, ' ');
        if (is_below && !row[0].empty()) text += std::string(row_indent, ' ') + row[0] + ":\n";
        for (std::size_t k = is_below ? 1 : 0; k < row.size(); ++k) {
            if (widths[k] == 0) continue;
            const std::string padding(widths[k] - terminal_columns(row[k]), ' ');
            const bool is_number = k == 2 || k == 4;
            line += (is_number ? padding + row[k] : row[k] + padding) + (k == 2 ? " " : "  ");
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    for (const std::string& note : notes) text += prose(note, style);
    return text;
}

}  // namespace coalprof
