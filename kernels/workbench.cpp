#include "kernels/workbench.h"

#include <fmt/format.h>

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
      stopwatch(gpu),
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

}  // namespace coalprof
