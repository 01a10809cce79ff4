// Counts the memory instructions in PTX and in machine code.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct PtxCount {
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;  // the report of a fault included
    std::uint64_t atomics = 0;
    std::uint64_t reductions = 0;
    std::uint64_t local = 0;
    std::uint64_t read_only_loads = 0;  // of the loads
    std::uint64_t fetches = 0;
    friend bool operator==(const PtxCount&, const PtxCount&) = default;
};

inline std::uint64_t occurrences(std::string_view text, std::string_view word) {
    std::uint64_t count = 0;
    for (std::size_t at = text.find(word); at != std::string_view::npos;
         at = text.find(word, at + 1))
        ++count;
    return count;
}

inline PtxCount count_in_ptx(std::string_view ptx) {
    return {.loads = occurrences(ptx, "ld.global"),
            .stores = occurrences(ptx, "st.global"),
            .atomics = occurrences(ptx, "atom.global"),
            .reductions = occurrences(ptx, "red.global"),
            .local = occurrences(ptx, "ld.local") + occurrences(ptx, "st.local"),
            .read_only_loads = occurrences(ptx, "ld.global.nc"),
            .fetches = occurrences(ptx, "tex.1d")};
}

// Machine code from Volta to Blackwell: 16 bytes an instruction, of which the lowest 12 bits are
// the operation and the next 4 the predicate. Enough to count memory instructions where no
// disassembler is installed; held against cuobjdump where that is
// installed (access_kernel_test.cpp).
struct SassCount {
    std::uint64_t loads = 0;
    std::uint64_t stores = 0;
    std::uint64_t predicated_stores = 0;  // executed, if only by no lane, whatever the predicate
    std::uint64_t atomics = 0;
    std::uint64_t reductions = 0;
    std::uint64_t generic_or_local = 0;  // LD, ST, LDL, STL
    std::uint64_t fetches = 0;           // TLD
    std::uint64_t shared_atomics = 0;    // ATOMS
    std::uint64_t lanes_counted = 0;     // POPC, UPOPC: how many lanes an atomic stands for
};

inline SassCount count_in_sass(std::string_view code) {
    SassCount count;
    for (std::size_t at = 0; at + 16 <= code.size(); at += 16) {
        std::uint64_t low = 0;
        std::memcpy(&low, code.data() + at, sizeof low);
        const bool always = (low >> 12 & 0xF) == 7;
        switch (low & 0xFFF) {
            case 0x981: ++count.loads; break;
            case 0x386:  // STG, Volta and Turing
            case 0x986: ++(always ? count.stores : count.predicated_stores); break;
            case 0x3A8:  // ATOMG
            case 0x9A8:
            case 0x9A3:  // with floating-point addition
                ++count.atomics;
                break;
            case 0x38E:  // RED, Turing
            case 0x98E:
            case 0x9A6:  // with floating-point addition
                ++count.reductions;
                break;
            case 0xB66:  // TLD
            case 0xF66: ++count.fetches; break;
            case 0x38C:  // ATOMS
            case 0x98C: ++count.shared_atomics; break;
            case 0x309:  // POPC
            case 0xd09:  // POPC of a uniform register
            case 0x2BF:  // UPOPC
                ++count.lanes_counted;
                break;
            case 0x980:  // LD
            case 0x385:  // ST
            case 0x985:
            case 0x983:  // LDL
            case 0x387:  // STL
            case 0x987: ++count.generic_or_local; break;
            default: break;
        }
    }
    return count;
}

// Loads and stores of the memories near the multiprocessor, by the bytes that each lane moves.
struct NearSassCount {
    using ByWidth = std::map<std::uint32_t, std::uint64_t>;
    ByWidth shared_loads;
    ByWidth shared_stores;
    ByWidth local_loads;
    ByWidth local_stores;
    ByWidth constant_loads;  // of tables; loads of the kernel's parameters come from bank 0
    std::uint64_t barriers = 0;
};

struct SassInstruction {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t operation() const { return low & 0xFFF; }
    // Of the loads and stores of all memories: 0 to 3 are 1 and 2 bytes, signed and not.
    std::uint32_t width_bytes() const {
        constexpr std::uint32_t bytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
        return bytes[high >> 9 & 7];
    }
    bool is_predicated() const { return (low >> 12 & 0xF) != 7; }
    bool is_constant_load() const { return operation() == 0xB82; }
    std::uint64_t constant_bank() const { return low >> 54; }
    bool is_branch() const { return operation() == 0x947 || operation() == 0x547; }
};

inline std::vector<SassInstruction> sass_of(std::string_view code) {
    std::vector<SassInstruction> instructions(code.size() / 16);
    std::memcpy(instructions.data(), code.data(), instructions.size() * 16);
    return instructions;
}

inline bool reaches_global_memory(const SassInstruction& one) {
    const SassCount count =
        count_in_sass({reinterpret_cast<const char*>(&one), sizeof(SassInstruction)});
    return count.loads + count.stores + count.predicated_stores + count.atomics + count.reductions +
               count.fetches !=
           0;
}

// Accesses that a warp executes though none of its lanes takes part: they are predicated, and no
// branch stands between them and the access before.
inline std::uint64_t executed_for_no_lane(std::string_view code) {
    std::uint64_t count = 0;
    bool is_jumped_over = false;
    for (const SassInstruction& one : sass_of(code)) {
        if (one.is_branch() && one.is_predicated()) is_jumped_over = true;
        if (!reaches_global_memory(one)) continue;
        if (one.is_predicated() && !is_jumped_over) ++count;
        is_jumped_over = false;
    }
    return count;
}

inline NearSassCount count_near_in_sass(std::string_view code) {
    NearSassCount count;
    for (const SassInstruction& one : sass_of(code)) {
        switch (one.operation()) {
            case 0x984: ++count.shared_loads[one.width_bytes()]; break;
            case 0x388:  // STS
            case 0x988: ++count.shared_stores[one.width_bytes()]; break;
            case 0x983: ++count.local_loads[one.width_bytes()]; break;
            case 0x387:
            case 0x987: ++count.local_stores[one.width_bytes()]; break;
            case 0xB82:
                if (one.constant_bank() != 0) ++count.constant_loads[one.width_bytes()];
                break;
            case 0xB1D: ++count.barriers; break;
            default: break;
        }
    }
    return count;
}

// The code of each kernel in a cubin (a 64-bit ELF file), by the kernel's name.
inline std::map<std::string, std::string_view> kernels_in(std::string_view cubin) {
    const auto number = [cubin](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, cubin.data() + at, bytes);
        return value;
    };
    constexpr std::size_t header_bytes = 64;  // of a section
    const std::uint64_t headers = number(40, 8);
    const std::uint64_t names = number(headers + number(62, 2) * header_bytes + 24, 8);
    std::map<std::string, std::string_view> kernels;
    for (std::uint64_t k = 0; k < number(60, 2); ++k) {
        const std::uint64_t header = headers + k * header_bytes;
        const std::string name = cubin.data() + names + number(header, 4);
        if (name.starts_with(".text."))
            kernels[name.substr(6)] = cubin.substr(number(header + 24, 8), number(header + 32, 8));
    }
    return kernels;
}

}  // namespace coalprof
