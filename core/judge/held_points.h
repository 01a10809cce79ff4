// Whole points in a fifth of their size, to be restored later: a point has room for a hundred
// counters, but some twenty readings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

class HeldPoints {
 public:
    void add(const Point& point);
    std::size_t size() const { return points_.size(); }
    Point at(std::size_t index) const;  // as it was added
    const std::string& name(std::size_t index) const { return points_[index].name; }

 private:
    struct Instruction {
        std::string array;
        std::string op;
        std::string type;
        std::string index;
        std::string access;
        std::string predicted;
    };
    struct Held {
        std::string name;
        NamedValues parameters;
        std::string predicted;  // packed readings
        std::optional<Estimates> estimates;
        std::vector<Instruction> instructions;
        std::optional<std::string> measured;
        std::optional<Timing> timing;
        std::optional<LaunchSettings> launch;
        std::string failure;
    };
    std::deque<Held> points_;  // no copy of all of them while it grows
};

// Source lines whose numbers have changed: matches the instructions of an older result with those
// of a newer one. An edit above a kernel moves all its lines, and none of them becomes another
// instruction.
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
