// Points that several legs answer, in the order of the result: the first of every leg, then the
// second of every leg, whichever is answered first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "core/result/result.h"
#include "core/sweep/point_source.h"

namespace coalprof {

class ResultOrder {
 public:
    using HandOn = std::function<void(const PlannedPoint& planned, const Point& point)>;
    ResultOrder(std::size_t legs, HandOn hand_on) : hand_on_(std::move(hand_on)), legs_(legs) {}

    // The next point of this leg. Hands on all points whose turn has come.
    void add(std::size_t leg, PlannedPoint planned, Point point);
    // There are no more points of this leg: nothing waits for them.
    void end(std::size_t leg);
    // Points of the leg that wait for those of others.
    std::size_t waiting(std::size_t leg) const { return legs_[leg].waiting.size(); }

 private:
    struct Waiting {
        PlannedPoint planned;
        Point point;
    };
    struct OfLeg {
        std::deque<Waiting> waiting;
        bool has_ended = false;
    };
    void hand_on();

    HandOn hand_on_;
    std::vector<OfLeg> legs_;
    std::size_t turn_ = 0;
};

}  // namespace coalprof
