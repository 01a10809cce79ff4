// One warp, one instruction, its addresses as parameters: `coalprof warps --backend device`.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/device/device.h"
#include "kernels/kernel.h"
#include "kernels/source/arguments.h"
#include "kernels/workbench.h"

namespace coalprof {

// The memory of replayed warps. Addresses of a file are kept up to bit 33, the last that decides
// about tag banks (measured on an H200): the range starts at a multiple of 2^34 and spans twice
// that, so that every warp whose lanes are within 16 GiB fits, wherever it starts. Memory is mapped
// when a warp first touches it; when it runs short, the same memory is mapped again.
class WarpMemory {
 public:
    // Throws PointError where the driver cannot map memory.
    explicit WarpMemory(const Gpu& gpu);

    // The largest distance between lanes.
    static constexpr std::uint64_t window_bytes = 1ull << 34;

    // Maps memory to the bytes [begin, end) of the range. Throws PointError.
    void touch(std::uint64_t begin, std::uint64_t end);
    CUdeviceptr base() const { return range_->base(); }

 private:
    void map_chunk(std::uint64_t chunk);

    const Gpu& gpu_;
    std::uint64_t chunk_bytes_ = 0;
    std::unique_ptr<MappedRange> range_;
    std::vector<bool> is_mapped_;
};

class WarpLaunch : public PreparedLaunch {
 public:
    // Throws PointError for accesses that cannot be replayed: too large a distance between lanes,
    // an address that is no multiple of the width, shared memory beyond what a block can have.
    WarpLaunch(Workbench& bench, WarpMemory& memory, const WarpAccess& access);

    // The number to add to an address of the file to get the true one.
    const Placement& placement() const override { return placement_; }
    LaunchSettings settings() const override;
    void launch() override;
    Timing time(std::uint64_t repeats, CacheState cache) override;
    // The values that warps store mean nothing.
    void verify() override {}

    // The kernel for all warps.
    static CompileRequest request();

 private:
    void place_global(WarpMemory& memory, const WarpAccess& access);
    void place_shared(const WarpAccess& access);
    void enqueue() const { kernel_->launch(size_, parameters_.data()); }

    Workbench& bench_;
    Kernel* kernel_ = nullptr;
    LaunchSize size_{.grid = 1, .block = warp_lanes, .shared_bytes = 0};
    WarpArgument argument_;
    std::array<void*, 1> parameters_{&argument_};
    Placement placement_;
};

}  // namespace coalprof
