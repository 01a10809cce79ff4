#include "core/pattern/walk_limit.h"

#include <fmt/format.h>

namespace coalprof {

std::string time_to_walk(std::uint64_t warps) {
    constexpr std::uint64_t warps_a_minute = 60ull * 2'000'000;
    const std::uint64_t minutes = (warps + warps_a_minute - 1) / warps_a_minute;
    return minutes <= 1    ? std::string("a minute")
           : minutes < 120 ? fmt::format("{} minutes", minutes)
                           : fmt::format("{} hours", (minutes + 59) / 60);
}

std::string too_many_to_walk(std::string_view extent, std::uint64_t warps) {
    return fmt::format(
        "{}: {} warps of this launch repeat no other, and at most {} are evaluated one by one: "
        "that takes one core about {}",
        extent, warps, most_walked_warps, time_to_walk(most_walked_warps));
}

}  // namespace coalprof
