// What is known of a board besides what the model takes: its clock, and what else it is called.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/machine/machine.h"

namespace coalprof {

struct BoardFacts {
    std::optional<std::uint32_t> boost_clock_mhz = {};  // of the multiprocessors; none: not known
    std::string_view aliases = {};                      // by comma: what drivers and people call it
};

// Nothing of a board that is not in all_boards().
BoardFacts facts_of(const Board& board);

}  // namespace coalprof
