#include "core/judge/held_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

namespace coalprof {
namespace {

template <typename T>
void put_bytes(std::string& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
}

// Moves `at` past the value.
template <typename T>
T take_bytes(const char*& at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

enum class Packed : std::uint8_t { natural, real, unavailable };

std::string packed(const Readings& readings) {
    static_assert(counter_count <= std::numeric_limits<std::uint8_t>::max());
    std::string bytes;
    readings.each([&](Counter counter, const Reading& reading) {
        put_bytes(bytes, counter);
        if (const auto* natural = std::get_if<std::uint64_t>(&reading)) {
            put_bytes(bytes, Packed::natural);
            put_bytes(bytes, *natural);
        } else if (const auto* real = std::get_if<double>(&reading)) {
            put_bytes(bytes, Packed::real);
            put_bytes(bytes, *real);
        } else {
            put_bytes(bytes, Packed::unavailable);
            put_bytes(bytes, std::get<Unavailable>(reading).reason);  // it lives with the program
        }
    });
    bytes.shrink_to_fit();
    return bytes;
}

Readings unpacked(const std::string& bytes) {
    Readings readings;
    for (const char* at = bytes.data(); at != bytes.data() + bytes.size();) {
        Reading& reading = readings[take_bytes<Counter>(at)];
        switch (take_bytes<Packed>(at)) {
            case Packed::natural: reading = take_bytes<std::uint64_t>(at); break;
            case Packed::real: reading = take_bytes<double>(at); break;
            case Packed::unavailable:
                reading = Unavailable{take_bytes<std::string_view>(at)};
                break;
        }
    }
    return readings;
}

}  // namespace

void HeldPoints::add(const Point& point) {
    Held& held = points_.emplace_back(Held{.name = point.name,
                                           .parameters = point.parameters,
                                           .predicted = packed(point.predicted),
                                           .estimates = point.estimates,
                                           .instructions = {},
                                           .measured = std::nullopt,
                                           .timing = point.timing,
                                           .launch = point.launch,
                                           .failure = point.failure});
    if (point.measured) held.measured = packed(*point.measured);
    held.instructions.reserve(point.instructions.size());
    for (const InstructionResult& one : point.instructions)
        held.instructions.push_back(
            {one.array, one.op, one.type, one.index, one.access, packed(one.predicted)});
}

Point HeldPoints::at(std::size_t index) const {
    const Held& held = points_[index];
    Point point{.name = held.name,
                .parameters = held.parameters,
                .predicted = unpacked(held.predicted),
                .estimates = held.estimates,
                .instructions = {},
                .measured = std::nullopt,
                .timing = held.timing,
                .launch = held.launch,
                .failure = held.failure};
    if (held.measured) point.measured = unpacked(*held.measured);
    for (const Instruction& one : held.instructions)
        point.instructions.push_back(
            {one.array, one.op, one.type, one.index, one.access, unpacked(one.predicted)});
    return point;
}

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
