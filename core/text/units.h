// One number with its unit, for sentences and lists: "1.5 GiB", "4529 GB/s", "12.35 us", "80.0 %".
// Four significant digits, no exponent, no trailing zeros, the same in every locale. Numbers for
// programs do not come through here, and columns of a table share a scale (core/write).
#pragma once

#include <cstdint>
#include <string>

namespace coalprof {

// Binary units: 1536 is "1.5 KiB", 1000 is "1000 bytes".
std::string bytes_text(std::uint64_t bytes);

// Always GB/s (10^9 bytes per second), so that two rates compare at sight.
std::string bandwidth_text(double bytes_per_second);

// ns, us, ms or s.
std::string seconds_text(double seconds);

// A ratio from 0 to 1 as per cent with a fixed number of decimals.
std::string percent_text(double ratio, int decimals = 1);

// Digits as they are, or in groups of three: "1,048,576".
enum class Grouping : std::uint8_t { plain, thousands };
std::string count_text(std::uint64_t count, Grouping grouping = Grouping::plain);

}  // namespace coalprof
