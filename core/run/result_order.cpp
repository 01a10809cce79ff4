#include "core/run/result_order.h"

#include <utility>

namespace coalprof {

void ResultOrder::add(std::size_t leg, PlannedPoint planned, Point point) {
    legs_[leg].waiting.push_back({std::move(planned), std::move(point)});
    hand_on();
}

void ResultOrder::end(std::size_t leg) {
    legs_[leg].has_ended = true;
    hand_on();
}

void ResultOrder::hand_on() {
    // A round without a point: all that are left have ended, or the one whose turn it is has none.
    for (std::size_t passed = 0; passed < legs_.size();) {
        OfLeg& leg = legs_[turn_];
        if (leg.waiting.empty() && !leg.has_ended) return;
        passed = leg.waiting.empty() ? passed + 1 : 0;
        turn_ = (turn_ + 1) % legs_.size();
        if (leg.waiting.empty()) continue;
        const Waiting next = std::move(leg.waiting.front());
        leg.waiting.pop_front();
        hand_on_(next.planned, next.point);
    }
}

}  // namespace coalprof
