// Code as nvcc packs it, made by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace coalprof {

template <typename Number>
inline void put(std::string& bytes, std::size_t at, Number number) {
    std::memcpy(bytes.data() + at, &number, sizeof number);
}

// `kind`: 1 is PTX, 2 machine code.
inline std::string entry(std::uint16_t kind, std::uint32_t architecture,
                         const std::string& payload) {
    std::string bytes(64, '\0');
    put(bytes, 0, kind);
    put(bytes, 4, std::uint32_t{64});
    put(bytes, 8, static_cast<std::uint64_t>(payload.size()));
    put(bytes, 28, architecture);
    return bytes + payload;
}

inline std::string fat_binary(const std::string& entries) {
    std::string bytes(16, '\0');
    put(bytes, 0, std::uint32_t{0xba55ed50});
    put(bytes, 6, std::uint16_t{16});
    put(bytes, 8, static_cast<std::uint64_t>(entries.size()));
    return bytes + entries;
}

}  // namespace coalprof
