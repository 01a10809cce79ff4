// The number of warps of a launch, of all its instructions together, that are evaluated one by one:
// half a microsecond each, ten minutes in all. A launch in which more repeat no other is refused,
// not begun; so is a sweep of such launches, unless it was asked for with --max-warps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coalprof {

inline constexpr std::uint64_t most_walked_warps = 1ull << 30;

// "4294967296 warps of this launch repeat no other, which takes about 36 minutes; ..."
std::string too_many_to_walk(std::string_view extent, std::uint64_t warps);
// "36 minutes": of one core.
std::string time_to_walk(std::uint64_t warps);

}  // namespace coalprof
