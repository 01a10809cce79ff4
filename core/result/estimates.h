// What is known of predicted values that are no exact counts: an interval each, and what limits the
// launch. Exact counters are never in it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result/counter.h"

namespace coalprof {

// Holds the measured value of nine of ten launches that were measured.
struct Interval {
    Counter counter;
    double low = 0;
    double high = 0;
};

// What a launch spends its time on.
enum class Limit : std::uint8_t {
    start,
    blocks,
    instructions,
    latency,
    l1,
    l2,
    dram,
    same_line,
    atomics,
};
inline constexpr std::size_t limit_count = static_cast<std::size_t>(Limit::atomics) + 1;
std::string_view name_of(Limit limit);    // as in JSON: "same_line"
std::string_view word_of(Limit limit);    // in a column of a table: "one line"
std::string_view phrase_of(Limit limit);  // after "limited by": "the start of blocks"
std::optional<Limit> find_limit(std::string_view name);

struct Estimates {
    std::vector<Interval> intervals;  // in the order of the counters
    std::vector<Limit> limits;        // what the time is limited by, first what most of all

    // None: the counter is exact, or not there.
    const Interval* of(Counter counter) const;
};

}  // namespace coalprof
