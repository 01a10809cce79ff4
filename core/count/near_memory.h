// Constant and local memory.
//
// Local memory: each thread's own arrays and spilled registers. It lies in device memory so that
// neighbouring 4-byte words belong to neighbouring threads: one element of all threads is one
// line, while threads at different elements scatter. Documented by NVIDIA; that wider elements go
// word by word is taken from the simulator GPGPU-Sim. Sectors of every type are measured on an H200
// (docs/measurements.md).
#pragma once

#include <cstdint>

#include "core/access/warp_access.h"
#include "core/count/transactions.h"
#include "core/machine/machine.h"

namespace coalprof {

// Counts of one instruction of one warp, or a sum. Sectors are those moved: a machine whose L1
// fetches 128-byte lines moves four at a time.
struct LocalCounts {
    std::uint64_t requests = 0;
    std::uint64_t sectors = 0;
    void add(const LocalCounts& other, std::uint64_t times = 1);
};

class LocalMemory {
 public:
    explicit LocalMemory(const Rules& rules);
    // The addresses of `access` are offsets into each thread's local memory.
    LocalCounts count(const WarpAccess& access) const;

    // Word `word` of every lane's access in the memory of the warp: an access to global memory of
    // at most one word per lane.
    WarpAccess interleaved(const WarpAccess& access, std::uint32_t word) const;

 private:
    std::uint32_t word_bytes_;
    Transactions transactions_;
};

// Constant memory: one pass per distinct address among the lanes that are served together. A
// uniform address costs one pass, k addresses k, and an element too wide for one instruction that
// much again. Documented by NVIDIA, not measured here.

// Counts of one instruction of one warp, or a sum.
struct ConstantCounts {
    std::uint64_t requests = 0;  // passes through the constant cache
    void add(const ConstantCounts& other, std::uint64_t times = 1);
};

class ConstantMemory {
 public:
    explicit ConstantMemory(const Rules& rules) : rules_(rules.constant) {}
    ConstantCounts count(const WarpAccess& access) const;

 private:
    ConstantRules rules_;
};

}  // namespace coalprof
