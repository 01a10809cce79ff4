#include "kernels/workbench.h"

#include <fmt/format.h>

#include <algorithm>

namespace coalprof {

namespace {

std::optional<std::uint64_t> read_limit(const Gpu& gpu) {
    std::size_t bytes = 0;
    const CUresult status = gpu.api().context_get_limit(&bytes, CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
    if (is_sticky(status)) gpu.check(status, "ask for the L2 fetch granularity");
    if (status != CUDA_SUCCESS) return std::nullopt;
    return bytes;
}

}  // namespace

FetchLimit::FetchLimit(const Gpu& gpu) : gpu_(gpu), original_(read_limit(gpu)) {}

FetchLimit::~FetchLimit() {
    if (asked_ && original_)
        static_cast<void>(
            gpu_.api().context_set_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, *original_));
}

void FetchLimit::set(std::optional<std::uint32_t> bytes) {
    if (bytes == asked_) return;
    if (!original_) {
        if (bytes)
            throw PointError(
                fmt::format("--l2-fetch {}: this GPU's driver has no such setting", *bytes),
                ExitCode::partial);
        return;
    }
    gpu_.check(gpu_.api().context_set_limit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
                                            bytes ? std::size_t{*bytes} : *original_),
               "set the L2 fetch granularity");
    asked_ = bytes;
}

std::optional<std::uint64_t> FetchLimit::current() const { return read_limit(gpu_); }

Workbench::Workbench(const DriverApi& api, CUdevice device, DeviceFacts about, Compiler& compiler)
    : gpu(api, device),
      facts(std::move(about)),
      shop(gpu, compiler),
      cache(shop, facts),
      stopwatch(gpu, cache),
      fetch_limit(gpu) {}

Arena& Workbench::free_arena(Allocation allocation) {
    for (const auto& arena : arenas)
        if (!arena->in_use && arena->allocation() == allocation) return *arena;
    return *arenas.emplace_back(std::make_unique<Arena>(shop, allocation));
}

void Workbench::drop_idle_memory() {
    for (const auto& arena : arenas)
        if (!arena->in_use) arena->clear();
}

Timing Workbench::time(std::uint64_t repeats, CacheState before,
                       const std::function<void()>& enqueue) {
    const auto prepare = [&] { before == CacheState::cold ? cache.flush() : cache.pause(); };
    stopwatch.measure(2, prepare, enqueue);  // warm-up
    return summarize(stopwatch.measure(std::max<std::uint64_t>(repeats, 1), prepare, enqueue));
}

LaunchSettings Workbench::settings_of(const Kernel& kernel, const CompileRequest& code,
                                      const LaunchSize& size) {
    const auto attribute = [&kernel](CUfunction_attribute which) {
        return static_cast<std::uint32_t>(kernel.attribute(which));
    };
    LaunchSettings settings{
        .architecture = shop.architecture(code),
        .grid_blocks = size.grid,
        .block_threads = size.block,
        .registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
        .local_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .shared_bytes = size.shared_bytes,
        .blocks_per_multiprocessor =
            static_cast<std::uint32_t>(kernel.blocks_per_multiprocessor(size)),
        .carveout_percent = {},
        .l2_fetch_bytes = fetch_limit.current(),
    };
    const std::uint32_t warps_of_block = (size.block + warp_lanes - 1) / warp_lanes;
    settings.occupancy =
        static_cast<double>(settings.blocks_per_multiprocessor * warps_of_block * warp_lanes) /
        facts.max_threads_per_multiprocessor;
    const int carveout = kernel.attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (carveout != CU_SHAREDMEM_CARVEOUT_DEFAULT)
        settings.carveout_percent = static_cast<std::uint32_t>(carveout);
    return settings;
}

}  // namespace coalprof
