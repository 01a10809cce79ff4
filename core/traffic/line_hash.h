// One hash of line numbers for all tables of a replay; its upper bits are well mixed.
#pragma once

#include <cstdint>

namespace coalprof {

// Fibonacci hashing: neighbouring lines, and those of a stride, fall to different slots.
constexpr std::uint64_t hash_of(std::uint64_t line) { return line * 0x9E37'79B9'7F4A'7C15ull; }

}  // namespace coalprof
