// How long a launch takes: named terms, each an amount of work over a rate of the machine. They run
// beside each other, so that the longest decides and those near it add to it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "core/machine/rates.h"
#include "core/traffic/work.h"

namespace coalprof {

enum class TimeTerm : std::uint8_t {
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
inline constexpr std::size_t time_term_count = static_cast<std::size_t>(TimeTerm::atomics) + 1;
std::string_view name_of(TimeTerm term);

struct Duration {
    std::array<double, time_term_count> term_seconds{};
    double seconds = 0;
    TimeTerm longest() const;
};

Duration duration_of(const Work& work, const Rates& rates);

// Of measured durations to predicted ones: nine of ten launches that were measured lie between, by
// what limits them.
struct Spread {
    double low = 1;
    double high = 1;
};
Spread spread_of(TimeTerm longest, const Rates& rates);

}  // namespace coalprof
