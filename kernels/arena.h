// The arrays of one prepared launch. Kept from point to point of a sweep and grown when a point
// needs more: allocating gigabytes anew for every point would take longer than measuring them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/memory.h"

namespace coalprof {

class Arena {
 public:
    explicit Arena(const Gpu& gpu);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Makes room for arrays of these sizes; what they held is lost. The base of each is aligned to
    // a power of two at least as large as the array where the device can map memory, else as
    // cuMemAlloc aligns it. Throws PointError with the size needed and the size that is free,
    // before anything is allocated where the driver's numbers allow that.
    void fit(std::span<const std::uint64_t> array_bytes);
    CUdeviceptr address(std::size_t array) const;
    // Two records of 16 bytes each, for the kernels' findings.
    CUdeviceptr records() const { return records_.address(); }

    // Gives everything back but the records.
    void clear();
    std::uint64_t held_bytes() const;

    bool in_use = false;  // by a launch that is alive

 private:
    struct Slot;

    std::uint64_t missing_bytes(std::span<const std::uint64_t> array_bytes) const;
    void fit_slot(std::size_t array, std::uint64_t bytes, std::uint64_t needed_in_all);

    const Gpu& gpu_;
    std::uint64_t granularity_;  // 0: the device cannot map memory
    Buffer records_;
    std::vector<Slot> slots_;
};

}  // namespace coalprof
