#include "core/judge/held_points.h"

#include "core/judge/packed_readings.h"

namespace coalprof {
namespace {

std::string packed(const Readings& readings) {
    std::string bytes;
    put_readings(bytes, readings);
    bytes.shrink_to_fit();
    return bytes;
}

Readings unpacked(const std::string& bytes) {
    Readings readings;
    const char* at = bytes.data();
    take_readings(at, readings);
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

}  // namespace coalprof
