// GPUs that measure the same points: finds those that take longer or shorter than the others of
// their kind, by more than the spread of their times.
#pragma once

#include <cstdint>
#include <vector>

#include "core/result/result.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

class FleetJudge {
 public:
    // The devices of the result's head; fewer than two are not compared.
    explicit FleetJudge(const std::vector<MeasuredDevice>& devices);

    // In the order of the result: the same point of every GPU, then the next.
    void add(const PlannedPoint& planned, const Point& point);
    // W-FLEET for those that differ.
    std::vector<Warning> warnings();

 private:
    struct Member {
        std::uint64_t index = 0;  // CUDA's
        std::size_t kind = 0;     // of kinds_
        std::uint64_t compared = 0;
        std::uint64_t slower = 0;  // points at which the quartiles are separate
        std::uint64_t faster = 0;
        double log_ratio = 0;  // sum over the compared points
    };
    struct Kind {
        std::string name;
        std::uint64_t members = 0;
    };
    struct Sample {
        std::size_t member = 0;
        Timing timing;
    };
    void settle();
    void compare(Member& member, const Timing& timing, const Timing& with);

    std::vector<Kind> kinds_;
    std::vector<Member> members_;
    std::vector<Sample> row_;  // of the current point
    std::uint64_t number_ = 0;
};

}  // namespace coalprof
