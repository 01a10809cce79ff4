// Code as nvcc writes and packs it, made by hand.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

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

// Machine code alone: a header, names of sections and symbols, and a section for each function.
inline std::string cubin_of(const std::vector<std::string>& functions,
                            const std::vector<std::string>& symbols = {}) {
    std::string names(1, '\0');
    std::string sections(64, '\0');  // that of the names
    for (const std::string& function : functions) {
        std::string section(64, '\0');
        put(section, 0, static_cast<std::uint32_t>(names.size()));
        names += ".text." + function + '\0';
        sections += section;
    }
    for (const std::string& symbol : symbols) names += symbol + '\0';
    put(sections, 4, std::uint32_t{3});  // names
    put(sections, 24, std::uint64_t{64});
    put(sections, 32, static_cast<std::uint64_t>(names.size()));
    std::string head(64, '\0');
    put(head, 0, std::uint32_t{0x464c457f});
    put(head, 4, std::uint8_t{2});                                          // 64 bits
    put(head, 18, std::uint16_t{190});                                      // CUDA
    put(head, 40, static_cast<std::uint64_t>(head.size() + names.size()));  // sections
    put(head, 58, std::uint16_t{64});                                       // size of each
    put(head, 60, static_cast<std::uint16_t>(functions.size() + 1));
    return head + names + sections;
}

}  // namespace coalprof
