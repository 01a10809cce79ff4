// The values of `--range`: 0..32 (both ends included), 0..128:4 (step), 1..1024*2 (factor),
// 1,2,4,8, 7, and mixtures by comma. The count is arithmetic: no range, however long, is ever
// walked to be refused.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/number.h"

namespace coalprof {

// The most points of a range; more are probably a typing error.
inline constexpr std::uint64_t most_range_points = 100'000;

// The product of all counts; 2^64 - 1 where it is more. The size of several lists together is known
// before they are made.
std::uint64_t saturating_product(std::initializer_list<std::uint64_t> counts);

// The integer, or number with an exponent that is whole, that `text` begins with: 1e6, 2.5e5.
ReadNumber read_whole(std::string_view text);

class Range {
 public:
    enum class Advance : std::uint8_t { by_step, by_factor };
    // first, first + step, ... or first, first * factor, ... up to and with last.
    struct Piece {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::uint64_t by = 1;
        Advance advance = Advance::by_step;

        std::uint64_t count() const;  // 2^64 - 1 when there are more
        bool contains(std::uint64_t value) const;
    };

    // `pieces` in the form of parse_range: ordered ends, steps from 1, factors from 2, no first of
    // 0 with a factor.
    Range(std::string text, std::vector<Piece> pieces);

    // As typed: repeated values count again.
    std::uint64_t count() const { return count_; }
    // True if it has the value, of parse_signed_range() its 64 bits. Walks no range.
    bool contains(std::uint64_t value) const;
    // In the order typed, each value once, where it came first: pieces may overlap
    // (0..32,16..128:16).
    std::vector<std::uint64_t> values() const;
    std::vector<std::int64_t> signed_values() const;  // only after parse_signed_range()
    const std::string& text() const { return text_; }

 private:
    std::string text_;
    std::vector<Piece> pieces_;
    std::uint64_t count_ = 0;
};

// Throws UsageError naming `option` and the place: for text that is no range, for reversed ranges,
// steps of 0, factors below 2, integers beyond 64 bits, and more than most_range_points in all.
Range parse_range(std::string_view text, std::string_view option = "--range",
                  std::string_view hint = {});

// Values with units are sizes in bytes: 4KiB..64KiB*2, 384B..512B:32B, 1MiB,64MiB. Either all of a
// range have units or none; 0 needs none.
struct SizedRange {
    std::vector<std::uint64_t> values;
    bool are_bytes = false;  // they have units; else they count as plain numbers do
};
SizedRange parse_sized_range(std::string_view text, std::string_view option,
                             std::string_view hint = {});
// The same as a Range, without listing the values.
Range parse_range_of_sizes(std::string_view text, std::string_view option);
// The same where plain numbers are bytes as well. At least 1 byte each.
std::vector<std::uint64_t> parse_size_list(std::string_view text, std::string_view option);

// The same where values may be below 0: -4..4, -1,0,1. Each fits 64 signed bits.
Range parse_signed_range(std::string_view text, std::string_view option);

}  // namespace coalprof
