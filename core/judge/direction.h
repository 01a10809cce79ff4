// Which way a counter gets better, and which counters only follow from others.
#pragma once

#include <cstdint>
#include <optional>

#include "core/result/counter.h"

namespace coalprof {

enum class Better : std::uint8_t {
    less,
    more,     // shares of what was fetched, hits, bandwidth
    neither,  // what a launch was asked to do: another number is another launch
};
Better better_of(Counter counter);

// The two that this one is the ratio of: where both are there, it says nothing new.
std::optional<RatioParts> parts_of(Counter counter);

}  // namespace coalprof
