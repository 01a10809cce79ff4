// The arrays of one prepared launch. Kept from point to point of a sweep and grown when needed:
// allocating gigabytes anew for every point would take longer than measuring them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/pattern/plan.h"
#include "kernels/kernel.h"
#include "kernels/memory.h"

namespace coalprof {

class Arena {
 public:
    // The shop compiles the arrays of Allocation::static_array and must outlive the arena.
    explicit Arena(KernelShop& shop, Allocation allocation = Allocation::device);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Reserves memory for arrays of these sizes; their content is lost. The base of each is aligned
    // to a power of two at least as large as the array where the device can map memory (and the
    // arrays lie in device memory), else as the driver aligns it, 512 bytes at least. Throws
    // PointError with the size needed and the size that is free, before anything is allocated where
    // the driver's numbers allow that.
    void fit(std::span<const std::uint64_t> array_bytes);
    CUdeviceptr address(std::size_t array) const;
    // Two records of 16 bytes each, for the kernels' findings.
    CUdeviceptr records() const { return records_.address(); }

    // Frees everything but the records.
    void clear();
    std::uint64_t held_bytes() const;

    Allocation allocation() const { return allocation_; }
    bool in_use = false;  // by a living launch

 private:
    struct Slot;

    std::uint64_t free_bytes() const;
    [[noreturn]] void refuse(std::uint64_t needed_bytes, std::uint64_t free_bytes) const;
    std::uint64_t missing_bytes(std::span<const std::uint64_t> array_bytes) const;
    void fit_slot(std::size_t array, std::uint64_t bytes, std::uint64_t needed_in_all);

    KernelShop& shop_;
    const Gpu& gpu_;
    Allocation allocation_;
    std::uint64_t granularity_;  // 0: memory is allocated instead of mapped
    Buffer records_;
    std::vector<Slot> slots_;
};

}  // namespace coalprof
