#include "core/write/text_buffer.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace coalprof {
namespace {

constexpr std::size_t known_bits = 10;  // 40 KiB; random warps have some 500 ratios

}  // namespace

void TextBuffer::put(std::uint64_t value) {
    const fmt::format_int digits(value);
    put(std::string_view(digits.data(), digits.size()));
}

void TextBuffer::put(std::int64_t value) {
    const fmt::format_int digits(value);
    put(std::string_view(digits.data(), digits.size()));
}

void TextBuffer::put_real(double value) {
    assert(std::isfinite(value));
    constexpr double exact_integers = 1e15;
    if (value >= 0 && value < exact_integers && !std::signbit(value)) {
        const auto whole = static_cast<std::uint64_t>(value);
        if (static_cast<double>(whole) == value) return put(whole);
    }
    KnownReal& known = known_real(value);
    if (known.value != value) {
        const char* end = fmt::format_to(known.digits.data(), FMT_COMPILE("{}"), value);
        known.size = static_cast<std::uint8_t>(end - known.digits.data());
        known.value = value;
    }
    put(std::string_view(known.digits.data(), known.size));
}

TextBuffer::KnownReal& TextBuffer::known_real(double value) {
    if (!known_reals_) known_reals_ = std::make_unique<KnownReal[]>(1 << known_bits);
    // Fibonacci hashing: the bits of simple ratios differ at the top, those of others anywhere.
    const std::uint64_t hash = std::bit_cast<std::uint64_t>(value) * 0x9E37'79B9'7F4A'7C15u;
    return known_reals_[hash >> (64 - known_bits)];
}

void TextBuffer::grow(std::size_t count) {
    constexpr std::size_t least = 4096;
    const std::size_t capacity = std::max(least, 2 * (capacity_ + count));
    auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
    bytes_ = std::move(bytes);
    capacity_ = capacity;
}

}  // namespace coalprof
