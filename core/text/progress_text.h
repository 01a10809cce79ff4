// How far a run is, in a line of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace coalprof {

// "12 of 33 points, 4.1 a second, 5 s left". `all`: none where it is not known how many will come.
std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> all, double seconds);

}  // namespace coalprof
