// Occupancy: how many blocks of a kernel a multiprocessor runs at once, and what stops the next
// one. The same answer as NVIDIA's cuda_occupancy.h for every compute capability that it covers,
// and as the CUDA Occupancy Calculator for 1.x and 2.x; the limits are data of the machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"

namespace coalprof {

struct KernelNeeds {
    std::uint32_t block = 256;  // threads per block
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_bytes = 0;  // per block, static and dynamic together
    std::uint32_t barriers = 1;      // named barriers per block; __syncthreads() is one
    std::optional<std::uint32_t> shared_percent = {};  // the carveout; none: the driver's choice
};

// The resource that stops one more block, in the order in which users see them.
enum class Limiter : std::uint8_t { warps, registers, shared_memory, blocks, barriers };
inline constexpr std::size_t limiter_count = 5;
std::string_view name_of(Limiter limiter);

struct Occupancy {
    std::uint32_t active_blocks = 0;  // per multiprocessor; 0: not even one fits
    std::uint32_t active_warps = 0;
    std::uint32_t most_warps = 0;   // that the multiprocessor has room for
    std::vector<Limiter> limiters;  // all that allow no more than active_blocks
    std::string impossible;         // the reason why not one block fits; empty: it does
    std::uint32_t shared_kib = 0;   // of the multiprocessor, as divided for this kernel
    std::uint32_t l1_kib = 0;       // rest for L1
    double ratio() const { return static_cast<double>(active_warps) / most_warps; }
};

Occupancy occupancy(const Rules& rules, const KernelNeeds& needs);

}  // namespace coalprof
