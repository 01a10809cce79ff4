// Passes of atomics on shared memory. An H100 counted as many for single warps, of 88 patterns of
// addresses and 7 operations of 4 bytes.
#pragma once

#include <cstdint>

#include "core/count/shared_memory.h"

namespace coalprof {

enum class SharedAtomic : std::uint8_t {
    by_lane,  // of 4 bytes, integers and exchanges: all lanes of a bank one after the other
    by_word,  // adds 1 and nobody reads the result (ATOMS.POPC.INC): lanes of a word together
    twice,    // compares and swaps: two passes where others take one
    unknown,  // reals and 8 bytes: a loop, whose rounds depend on other warps
};

// With `more`, and no passes, where they are not known.
SharedCounts count_shared_atomic(const WarpAccess& access, SharedAtomic sort);

}  // namespace coalprof
