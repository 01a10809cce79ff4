// Numbers at random, the same in each run.
#pragma once

#include <cstdint>

namespace coalprof {

// A number of which each bit depends on all bits of another one.
inline std::uint64_t mixed(std::uint64_t line) {
    line ^= line >> 31;
    line *= 0x9E37'79B9'7F4A'7C15ull;
    line ^= line >> 29;
    line *= 0xBF58'476D'1CE4'E5B9ull;
    return line ^ line >> 32;
}

// A linear congruential generator (Knuth's MMIX).
class Random {
 public:
    std::uint64_t word() { return state_ = state_ * 6364136223846793005u + 1442695040888963407u; }
    // From 0 to 1, of 31 bits.
    double share() { return static_cast<double>(word() >> 33) * 0x1p-31; }

 private:
    std::uint64_t state_ = 1;
};

}  // namespace coalprof
