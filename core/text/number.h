// The one strict reader of integers: decimal digits and nothing else, no sign, no blanks, overflow
// seen. A leading 0x is read only where addresses are meant. Nothing here asks the locale.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/text/units.h"

namespace coalprof {

inline constexpr std::uint64_t largest_integer = std::numeric_limits<std::uint64_t>::max();

enum class NumberStatus : std::uint8_t { ok, no_digits, too_large };

struct ReadNumber {
    std::uint64_t value = 0;  // when ok
    std::size_t length = 0;   // bytes read, including all digits of a number that is too large
    NumberStatus status = NumberStatus::no_digits;
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// 0 to 15, or 16 for other characters.
constexpr std::uint32_t hex_digit(char c) {
    if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A') + 10;
    return 16;
}

// The digits that `text` begins with, in base 10 or 16; the caller reads on after them.
constexpr ReadNumber read_digits(std::string_view text, std::uint32_t base) {
    ReadNumber number;
    bool fits = true;
    for (const char c : text) {
        const std::uint32_t digit = hex_digit(c);
        if (digit >= base) break;
        fits = fits && number.value <= (largest_integer - digit) / base;
        number.value = number.value * base + digit;
        ++number.length;
    }
    if (number.length > 0) number.status = fits ? NumberStatus::ok : NumberStatus::too_large;
    return number;
}

constexpr ReadNumber read_integer(std::string_view text) { return read_digits(text, 10); }

// A byte address: decimal, or hexadecimal after 0x.
constexpr ReadNumber read_address(std::string_view text) {
    if (!text.starts_with("0x")) return read_digits(text, 10);
    ReadNumber number = read_digits(text.substr(2), 16);
    number.length += 2;
    return number;
}

// The whole of `text` as an integer from `least` to `most`; throws UsageError, whose sentence
// begins with `option`, for anything else.
std::uint64_t parse_integer(std::string_view text, std::string_view option, std::uint64_t least = 0,
                            std::uint64_t most = largest_integer);

// Sizes in bytes as people type them: 65536, 512B, 64KiB, 4MiB, 1GB, 1.5GiB. KiB is 1024 and kB is
// 1000, as is KB; an ambiguous unit (K) is refused with both readings.

inline constexpr std::array size_units{
    UnitStep{1, "B"},        UnitStep{0x1p10, "KiB"}, UnitStep{0x1p20, "MiB"},
    UnitStep{0x1p30, "GiB"}, UnitStep{0x1p40, "TiB"}, UnitStep{1e3, "kB"},
    UnitStep{1e6, "MB"},     UnitStep{1e9, "GB"},     UnitStep{1e12, "TB"}};

// At least 1 byte. A fraction is accepted where it is a whole number of bytes (1.5KiB is 1536) and
// refused where it is not (0.1KiB). Throws UsageError naming `option` ("--size") and the place.
std::uint64_t parse_size_bytes(std::string_view text, std::string_view option);

}  // namespace coalprof
