// Fields of a text line, sixteen characters at a time: where the next one ends, and which number it
// is. This makes the reader of warps files fast: SSE2, which every x86-64 has, and plain loops
// elsewhere.
//
// 64 bytes before and after a field must be readable (their values do not matter), and some byte at
// or after its end must be a blank or a control character.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text/number.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace coalprof {

inline constexpr std::size_t field_margin_bytes = 64;
inline constexpr std::size_t most_field_digits = 16;  // of the readers below

namespace portable {

// The ends of fields, one after the other: each blank or control character (byte up to 0x20) from
// `from` on.
class FieldEnds {
 public:
    explicit FieldEnds(const char* from) : at_(from) {}
    const char* next() {
        while (static_cast<unsigned char>(*at_) > ' ') ++at_;
        return at_++;
    }

 private:
    const char* at_;
};

// The number whose last of `count` (1 to 16) digits is just before `end`. False when any of these
// characters is no digit.
inline bool read_decimal(const char* end, std::size_t count, std::uint64_t& value) {
    const ReadNumber number = read_digits({end - count, count}, 10);
    value = number.value;
    return number.length == count;
}
inline bool read_hexadecimal(const char* end, std::size_t count, std::uint64_t& value) {
    const ReadNumber number = read_digits({end - count, count}, 16);
    value = number.value;
    return number.length == count;
}

}  // namespace portable

#if defined(__SSE2__)
namespace sse2 {

inline __m128i load(const void* sixteen_bytes) {
    return _mm_loadu_si128(static_cast<const __m128i*>(sixteen_bytes));
}
inline __m128i all(char byte) { return _mm_set1_epi8(byte); }
inline __m128i at_most(__m128i bytes, char most) {  // unsigned
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, all(most)), bytes);
}
inline std::uint32_t bits(__m128i bytes) {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
}

class FieldEnds {
 public:
    explicit FieldEnds(const char* from) : block_(from), ends_(ends_in(from)) {}
    const char* next() {
        while (ends_ == 0) ends_ = ends_in(block_ += 64);
        const char* end = block_ + std::countr_zero(ends_);
        ends_ &= ends_ - 1;
        return end;
    }

 private:
    // Bit n: byte n of the 64 is a blank or a control character.
    static std::uint64_t ends_in(const char* block) {
        std::uint64_t ends = 0;
        for (int part = 0; part < 4; ++part)
            ends |= std::uint64_t{bits(at_most(load(block + 16 * part), ' '))} << (16 * part);
        return ends;
    }

    const char* block_;
    std::uint64_t ends_;
};

// Sixteen bytes from the n-th on are a mask for the last n bytes of a vector.
alignas(32) inline constexpr std::uint8_t keep_last[32] = {
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

inline bool read_decimal(const char* end, std::size_t count, std::uint64_t& value) {
    const __m128i digits =
        _mm_and_si128(_mm_sub_epi8(load(end - 16), all('0')), load(keep_last + count));
    // Neighbours are combined three times: into tens, hundreds, ten thousands.
    const __m128i tens = _mm_and_si128(digits, _mm_set1_epi16(0x00FF));
    const __m128i pairs = _mm_add_epi16(_mm_mullo_epi16(tens, _mm_set1_epi16(10)),  //
                                        _mm_srli_epi16(digits, 8));
    const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(1 << 16 | 100));
    const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours),  //
                                          _mm_set1_epi32(1 << 16 | 10'000));
    const auto halves = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
    value = (halves & 0xFFFF'FFFFu) * 100'000'000 + (halves >> 32);
    return bits(at_most(digits, 9)) == 0xFFFF;
}

inline bool read_hexadecimal(const char* end, std::size_t count, std::uint64_t& value) {
    const __m128i text = load(end - 16);
    const __m128i kept = load(keep_last + count);
    const __m128i digits = _mm_sub_epi8(text, all('0'));
    const __m128i letters = _mm_sub_epi8(_mm_or_si128(text, all(0x20)), all('a'));
    const __m128i are_digits = at_most(digits, 9);
    const __m128i are_letters = at_most(letters, 5);
    const __m128i nibbles = _mm_and_si128(
        kept, _mm_or_si128(_mm_and_si128(are_digits, digits),
                           _mm_and_si128(are_letters, _mm_add_epi8(letters, all(10)))));
    const __m128i high = _mm_slli_epi16(_mm_and_si128(nibbles, _mm_set1_epi16(0x000F)), 4);
    const __m128i bytes = _mm_or_si128(high, _mm_srli_epi16(nibbles, 8));
    const __m128i packed = _mm_packus_epi16(bytes, bytes);
    value = __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(packed)));
    const __m128i good = _mm_or_si128(are_digits, are_letters);
    return bits(_mm_andnot_si128(good, kept)) == 0;
}

}  // namespace sse2
namespace fast = sse2;
#else
namespace fast = portable;
#endif

}  // namespace coalprof
