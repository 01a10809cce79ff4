// Text on its way to a ByteSink: appended piece by piece, passed on in large blocks. One buffer
// serves a whole result, so that a point costs no allocation. Numbers never follow the locale.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string_view>

#include "core/write/byte_sink.h"

namespace coalprof {

class TextBuffer {
 public:
    void put(char c) {
        make_room(1);
        bytes_[size_++] = c;
    }
    void put(std::string_view text) {
        make_room(text.size());
        if (!text.empty()) std::memcpy(bytes_.get() + size_, text.data(), text.size());
        size_ += text.size();
    }
    void fill(std::size_t count, char c) {
        make_room(count);
        if (count > 0) std::memset(bytes_.get() + size_, c, count);
        size_ += count;
    }
    void put(std::uint64_t value);
    void put(std::int64_t value);
    // Several parts, one after the other.
    template <typename... Parts>
    requires(sizeof...(Parts) > 1) void put(const Parts&... parts) { (put(parts), ...); }
    // The shortest digits that read back as the same number; `value` must be finite.
    void put_real(double value);

    // Replaces the last character by `c`, to end a list whose items all end in a comma.
    void replace_last(char c) {
        assert(size_ > 0);
        bytes_[size_ - 1] = c;
    }
    char last() const { return bytes_[size_ - 1]; }

    std::string_view view() const { return {bytes_.get(), size_}; }
    void clear() { size_ = 0; }

    void hand_over(ByteSink& sink) {
        if (size_ == 0) return;
        const std::size_t size = size_;
        size_ = 0;  // first: a sink that throws is not offered the same bytes again
        sink.write({bytes_.get(), size});
    }
    void hand_over_when_full(ByteSink& sink) {
        if (size_ >= block_bytes) hand_over(sink);
    }

 private:
    // Large enough that the cost of a system call vanishes, small enough to stay in L2.
    static constexpr std::size_t block_bytes = 64 << 10;
    static constexpr std::size_t longest_real = 24;  // "-2.2250738585072014e-308"

    // The digits of a number printed before: the ratios of a result repeat, and a look-up is ten
    // times cheaper than finding the shortest digits of a double.
    struct KnownReal {
        double value = std::numeric_limits<double>::quiet_NaN();  // equal to no number
        std::uint8_t size = 0;
        std::array<char, longest_real> digits;
    };

    void make_room(std::size_t count) {
        if (capacity_ - size_ < count) grow(count);
    }
    void grow(std::size_t count);
    KnownReal& known_real(double value);

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;
    std::unique_ptr<KnownReal[]> known_reals_;
};

}  // namespace coalprof
