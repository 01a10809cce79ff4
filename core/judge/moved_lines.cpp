#include "core/judge/moved_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace coalprof {
namespace {

using LinesByInstruction = std::map<std::string, std::vector<LineOfPoint>>;

LinesByInstruction grouped_lines(std::vector<LineOfPoint> lines) {
    std::sort(lines.begin(), lines.end(), [](const LineOfPoint& a, const LineOfPoint& b) {
        return std::tie(a.file, a.line, a.point) < std::tie(b.file, b.line, b.point);
    });
    LinesByInstruction groups;
    for (LineOfPoint& line : lines) groups[line.instruction].push_back(std::move(line));
    return groups;
}

}  // namespace

std::string LineOfPoint::place() const { return fmt::format("{}:{}", file, line); }

std::optional<LineOfPoint> line_of(const Point& point) {
    const Value* value = find_value(point.parameters, "line");
    const auto* place = value ? std::get_if<std::string>(value) : nullptr;
    const std::size_t colon = place ? place->rfind(':') : std::string::npos;
    if (colon == std::string::npos || !point.name.starts_with(*place)) return std::nullopt;
    LineOfPoint found{.point = point.name,
                      .instruction = point.name.substr(place->size()),
                      .file = place->substr(0, colon)};
    std::from_chars(place->data() + colon + 1, place->data() + place->size(), found.line);
    found.instruction.resize(  // "#2": the second of its line
        std::min(found.instruction.rfind(" #"), found.instruction.size()));
    constexpr std::array<std::string_view, 3> others{"line", "source_file", "time_percent"};
    for (const auto& [key, setting] : point.parameters)
        if (std::ranges::find(others, key) == others.end())
            found.instruction += fmt::format("\n{}={}", key, text_of(setting));
    return found;
}

std::map<std::string, LineOfPoint> lines_before(std::vector<LineOfPoint> older,
                                                std::vector<LineOfPoint> newer) {
    const LinesByInstruction before = grouped_lines(std::move(older));
    std::map<std::string, LineOfPoint> names;
    for (const auto& [instruction, now] : grouped_lines(std::move(newer))) {
        const auto known = before.find(instruction);
        if (known == before.end() || known->second.size() != now.size()) continue;
        for (std::size_t i = 0; i < now.size(); ++i) names.emplace(now[i].point, known->second[i]);
    }
    return names;
}

}  // namespace coalprof
