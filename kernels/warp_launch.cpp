#include "kernels/warp_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/access/extent.h"

namespace coalprof {

namespace {

constexpr std::uint64_t smallest_chunk_bytes = 64ull << 20;
constexpr std::uint64_t largest_chunk_bytes = 1ull << 30;

[[noreturn]] void refuse_warp(const std::string& why) {
    throw PointError("cannot replay this warp: " + why, ExitCode::partial);
}

bool is_active(const WarpAccess& access, std::uint32_t lane) {
    return (access.active_lanes >> lane & 1) != 0;
}

bool is_width(std::uint32_t width) { return width <= 16 && std::has_single_bit(width); }

// Kernels have descriptive names, so that a profiler's list reads well. A literal of each: the name
// is looked up for every warp.
const char* kernel_name(const WarpAccess& access) {
    constexpr const char* names[][5] = {
        {"coalprof_load_1", "coalprof_load_2", "coalprof_load_4", "coalprof_load_8",
         "coalprof_load_16"},
        {"coalprof_store_1", "coalprof_store_2", "coalprof_store_4", "coalprof_store_8",
         "coalprof_store_16"},
        {"", "", "coalprof_atomic_4", "coalprof_atomic_8", ""},
        {"", "", "coalprof_reduce_4", "coalprof_reduce_8", ""},
        {"coalprof_shared_load_1", "coalprof_shared_load_2", "coalprof_shared_load_4",
         "coalprof_shared_load_8", "coalprof_shared_load_16"},
        {"coalprof_shared_store_1", "coalprof_shared_store_2", "coalprof_shared_store_4",
         "coalprof_shared_store_8", "coalprof_shared_store_16"},
    };
    const auto width = static_cast<std::size_t>(std::countr_zero(access.width_bytes));
    const auto kind = static_cast<std::size_t>(access.kind);
    if (access.space == Space::global) return names[kind][width];
    return access.space == Space::shared && kind < 2 ? names[4 + kind][width] : "";
}

void check_access(const WarpAccess& access) {
    if (!is_width(access.width_bytes))
        refuse_warp(fmt::format("no instruction moves {} bytes a lane", access.width_bytes));
    if (*kernel_name(access) == '\0')
        refuse_warp("there is no instruction of that kind, width and memory");
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if (is_active(access, lane) && access.addresses[lane] % access.width_bytes != 0)
            refuse_warp(fmt::format("the address of lane {}, {:#x}, is no multiple of {} bytes",
                                    lane, access.addresses[lane], access.width_bytes));
}

}  // namespace

WarpMemory::WarpMemory(const Gpu& gpu) : gpu_(gpu) {
    if (MappedRange::granularity(gpu) == 0)
        refuse_warp("this GPU's driver does not map memory at chosen addresses");
    const std::uint64_t total_bytes = gpu.memory().total_bytes;
    chunk_bytes_ = std::clamp(std::bit_floor(std::max<std::uint64_t>(total_bytes / 128, 1)),
                              smallest_chunk_bytes, largest_chunk_bytes);
    range_ = std::make_unique<MappedRange>(gpu, 2 * window_bytes, window_bytes);
    is_mapped_.resize(2 * window_bytes / chunk_bytes_);
}

void WarpMemory::touch(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    for (std::uint64_t chunk = begin / chunk_bytes_; chunk <= (end - 1) / chunk_bytes_; ++chunk)
        if (!is_mapped_[chunk]) map_chunk(chunk);
}

// Keeps three quarters of the free memory: chunks beyond that share memory, which no counter of one
// warp can see.
void WarpMemory::map_chunk(std::uint64_t chunk) {
    const std::uint64_t offset = chunk * chunk_bytes_;
    CUresult status = CUDA_ERROR_OUT_OF_MEMORY;
    if (range_->pieces() == 0 || gpu_.memory().free_bytes / 4 > chunk_bytes_)
        status = range_->map(offset, chunk_bytes_);
    if (status == CUDA_SUCCESS) {
        gpu_.check(gpu_.api().fill_bytes(base() + offset, 0, chunk_bytes_, nullptr),
                   "clear the memory of replayed warps");
        gpu_.synchronize("clear the memory of replayed warps");
    } else if (status == CUDA_ERROR_OUT_OF_MEMORY && range_->pieces() != 0) {
        status = range_->map_again(chunk % range_->pieces(), offset);
    }
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
        refuse_memory("the warps to replay", chunk_bytes_, gpu_.memory().free_bytes);
    gpu_.check(status, "map memory for replayed warps");
    is_mapped_[chunk] = true;
}

CompileRequest WarpLaunch::request() {
    return {.source = "#include \"kernels/source/warps.cuh\"\n"};
}

WarpLaunch::WarpLaunch(Workbench& bench, WarpMemory& memory, const WarpAccess& access)
    : bench_(bench) {
    check_access(access);
    static const CompileRequest all_warps = request();
    kernel_ = &bench_.shop.kernel(all_warps, kernel_name(access));
    argument_.active_lanes = access.active_lanes;
    argument_.value = 1;
    argument_.sink = memory.base();
    if (access.space == Space::shared)
        place_shared(access);
    else
        place_global(memory, access);
    bench_.fetch_limit.set(std::nullopt);
}

void WarpLaunch::place_global(WarpMemory& memory, const WarpAccess& access) {
    const Extent extent = extent_of(access);
    constexpr std::uint64_t window_bytes = WarpMemory::window_bytes;
    const std::uint64_t origin = extent.low / window_bytes * window_bytes;
    const std::uint64_t span = extent.high - extent.low;
    if (span >= window_bytes)
        refuse_warp(fmt::format("its lanes span {:.1f} GiB, and at most {:.1f} GiB can be replayed",
                                static_cast<double>(span) / (1 << 30),
                                static_cast<double>(window_bytes) / (1 << 30)));
    const std::uint64_t shift = memory.base() - origin;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if (!is_active(access, lane)) continue;
        argument_.address[lane] = access.addresses[lane] + shift;
        const std::uint64_t offset = access.addresses[lane] - origin;
        memory.touch(offset, offset + access.width_bytes);
    }
    placement_.base_addresses = {shift};
}

void WarpLaunch::place_shared(const WarpAccess& access) {
    const std::uint64_t last = extent_of(access).high;
    const std::uint64_t largest =
        std::max(bench_.facts.shared_bytes_per_block_optin, bench_.facts.shared_bytes_per_block);
    if (last >= largest)
        refuse_warp(fmt::format("it reaches byte {} of shared memory, and a block has {} bytes",
                                last, largest));
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if (is_active(access, lane)) argument_.address[lane] = access.addresses[lane];
    size_.shared_bytes = static_cast<std::uint32_t>(std::min(rounded_up(last + 1, 128), largest));
    if (size_.shared_bytes > bench_.facts.shared_bytes_per_block)
        kernel_->allow_shared_bytes(static_cast<int>(largest));
    placement_.base_addresses = {0};
}

LaunchSettings WarpLaunch::settings() const {
    return bench_.settings_of(*kernel_, request(), size_);
}

void WarpLaunch::launch() {
    enqueue();
    bench_.gpu.synchronize("finish the warp");
}

Timing WarpLaunch::time(std::uint64_t repeats, CacheState cache) {
    return bench_.time(repeats, cache, [this] { enqueue(); });
}

}  // namespace coalprof
