// Debug information and the like, byte by byte: numbers are little-endian.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coalprof {

struct OutOfBytes {};  // they end too early

class Bytes {
 public:
    Bytes(std::string_view all, std::size_t at) : all_(all), at_(at) {}
    std::size_t at() const { return at_; }
    bool at_end() const { return at_ >= all_.size(); }
    std::string_view take(std::uint64_t count) {
        if (at_ > all_.size() || count > all_.size() - at_) throw OutOfBytes{};
        at_ += count;
        return all_.substr(at_ - count, count);
    }
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::string_view all = take(bytes);
        for (std::size_t i = bytes; i-- > 0;)
            value = value << 8 | static_cast<std::uint8_t>(all[i]);
        return value;
    }
    std::uint64_t leb(bool is_signed = false) {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t byte = number(1);
            if (shift < 64) value |= (byte & 127) << shift;
            if (byte >= 128) continue;
            const bool is_negative = is_signed && (byte & 64) != 0 && shift + 7 < 64;
            return is_negative ? value | ~std::uint64_t{0} << (shift + 7) : value;
        }
    }
    std::string_view text() {
        const std::size_t end = std::min(all_.find('\0', at_), all_.size());
        const std::string_view one = take(end - at_);
        take(1);
        return one;
    }

 private:
    std::string_view all_;
    std::size_t at_;
};

}  // namespace coalprof
