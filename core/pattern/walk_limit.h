// How many warps of one instruction are gone through one by one: half a microsecond each, ten
// minutes in all. A launch of which more repeat no other is refused, not begun.
#pragma once

#include <cstdint>

namespace coalprof {

inline constexpr std::uint64_t most_walked_warps = 1ull << 30;

}  // namespace coalprof
