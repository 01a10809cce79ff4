// Source lines whose numbers have changed: matches the instructions of an older result with those
// of a newer one. An edit above a kernel moves all its lines, and none of them becomes another
// instruction.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct LineOfPoint {
    std::string point;        // its name: "a.cu:3 ld.global.f32 #2"
    std::string instruction;  // its identity without the line: kernel, launch, name
    std::string file;
    std::uint64_t line = 0;
    std::string place() const;  // "a.cu:3"
};
// None for points other than source lines.
std::optional<LineOfPoint> line_of(const Point& point);

// The name of the older point for that of the newer one, in the order of the lines. Where there are
// more or fewer instructions of a kind than there were, only equal names match.
std::map<std::string, LineOfPoint> lines_before(std::vector<LineOfPoint> older,
                                                std::vector<LineOfPoint> newer);

}  // namespace coalprof
