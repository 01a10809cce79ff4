// Whole points in a fifth of their size, to be restored later: a point has room for a hundred
// counters, but some twenty readings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
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

}  // namespace coalprof
