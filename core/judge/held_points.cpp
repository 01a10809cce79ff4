#include "core/judge/held_points.h"

#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

namespace coalprof {
namespace {

template <typename T>
void put(std::string& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.append(raw, sizeof value);
}

template <typename T>
T take(std::string_view& bytes) {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
}

enum class Packing : std::uint8_t { natural, real, unavailable };

// Reasons live as long as the program: where they are is enough.
std::string packed(const Readings& readings) {
    std::string bytes;
    readings.each([&](Counter counter, const Reading& reading) {
        put(bytes, counter);
        if (const auto* natural = std::get_if<std::uint64_t>(&reading)) {
            put(bytes, Packing::natural);
            put(bytes, *natural);
        } else if (const auto* real = std::get_if<double>(&reading)) {
            put(bytes, Packing::real);
            put(bytes, *real);
        } else if (const auto* none = std::get_if<Unavailable>(&reading)) {
            put(bytes, Packing::unavailable);
            put(bytes, none->reason);
        }
    });
    bytes.shrink_to_fit();
    return bytes;
}

Readings unpacked(std::string_view bytes) {
    Readings readings;
    while (!bytes.empty()) {
        Reading& reading = readings[take<Counter>(bytes)];
        switch (take<Packing>(bytes)) {
            case Packing::natural:
                reading = take<std::uint64_t>(bytes);
                break;
            case Packing::real:
                reading = take<double>(bytes);
                break;
            case Packing::unavailable:
                reading = Unavailable{take<std::string_view>(bytes)};
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
            {one.array, one.op, one.type, one.index, packed(one.predicted)});
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
            {one.array, one.op, one.type, one.index, unpacked(one.predicted)});
    return point;
}

}  // namespace coalprof
