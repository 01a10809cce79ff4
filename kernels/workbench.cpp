#include "kernels/workbench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/machine/machine.h"
#include "kernels/source/arguments.h"

namespace coalprof {
namespace {

constexpr std::uint64_t smallest_flush_bytes = 16ull << 20;
constexpr double pause_seconds = 20e-6;
// Repetitions that are enqueued together. If more than about five wait, some twenty entries of the
// queue, the first ones take 0.6 us longer, as do those that the GPU begins while the host still
// enqueues (docs/measurements/h200/rounds.txt).
constexpr std::size_t round_repeats = 4;
// The GPU is held for the shortest time while a round is enqueued, and for twice as long each time
// that the host was too late. A host that is late after the longest always will be.
constexpr double shortest_hold_seconds = 50e-6;
constexpr double longest_hold_seconds = 800e-6;

std::uint64_t flush_bytes(const DeviceFacts& facts) {
    const Machine machine = machine_of_device({facts.major, facts.minor}, facts.name);
    return facts.l2_bytes * machine.rules->memory.flush_reads;
}

double quantile(const std::vector<double>& sorted, double q) {
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return sorted[below] + (sorted[above] - sorted[below]) * share;
}

std::optional<std::uint64_t> read_limit(const Gpu& gpu) {
    std::size_t bytes = 0;
    const CUresult status = gpu.api().context_get_limit(&bytes, CU_LIMIT_MAX_L2_FETCH_GRANULARITY);
    if (is_sticky(status)) gpu.check(status, "ask for the L2 fetch granularity");
    if (status != CUDA_SUCCESS) return std::nullopt;
    return bytes;
}

}  // namespace

Timing summarize(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {.repeats = seconds.size(),
            .median_seconds = quantile(seconds, 0.5),
            .low_seconds = quantile(seconds, 0.25),
            .high_seconds = quantile(seconds, 0.75),
            .min_seconds = seconds.front(),
            .max_seconds = seconds.back()};
}

CacheControl::CacheControl(KernelShop& shop, const DeviceFacts& facts)
    : shop_(shop),
      buffer_bytes_(std::max(flush_bytes(facts), smallest_flush_bytes)),
      cycles_per_second_(static_cast<double>(facts.clock_hz)),
      flush_blocks_(std::uint64_t{facts.multiprocessors} * 8) {}

CompileRequest CacheControl::request() {
    return {.source = "#include \"kernels/source/timing.cuh\"\n"};
}

void CacheControl::flush() {
    const Gpu& gpu = shop_.gpu();
    if (!buffer_) {
        buffer_.emplace(gpu, buffer_bytes_, "emptying L2");
        gpu.check(gpu.api().fill_bytes(buffer_->address(), 0, buffer_bytes_, nullptr),
                  "clear the buffer that empties L2");
    }
    KernelParameters parameters;
    parameters.add(buffer_->address());
    parameters.add(std::uint64_t{buffer_bytes_ / 16});
    parameters.add(Word{0});
    parameters.add(buffer_->address());
    shop_.kernel(request(), "coalprof_flush")
        .launch({.grid = flush_blocks_, .block = 256}, parameters.pointers());
}

void CacheControl::pause() { pause_for(pause_seconds); }

void CacheControl::pause_for(double seconds) {
    KernelParameters parameters;
    parameters.add(static_cast<long long>(cycles_per_second_ * seconds));
    shop_.kernel(request(), "coalprof_pause").launch({}, parameters.pointers());
}

Stopwatch::~Stopwatch() {
    for (const CUevent event : events_) static_cast<void>(gpu_.api().event_destroy(event));
}

void Stopwatch::make_events(std::size_t count) {
    while (events_.size() < count) {
        CUevent event = nullptr;
        gpu_.check(gpu_.api().event_create(&event, CU_EVENT_DEFAULT), "make a timing event");
        events_.push_back(event);
    }
}

bool Stopwatch::enqueue_round(std::size_t repeats, double hold_seconds,
                              const std::function<void()>& before,
                              const std::function<void()>& work) {
    const DriverApi& api = gpu_.api();
    cache_.pause_for(hold_seconds);
    for (std::size_t k = 0; k < repeats; ++k) {
        before();
        gpu_.check(api.event_record(events_[2 * k], nullptr), "start the clock");
        work();
        gpu_.check(api.event_record(events_[2 * k + 1], nullptr), "stop the clock");
    }
    const CUresult first = api.event_query(events_.front());
    if (first == CUDA_ERROR_NOT_READY) return true;
    gpu_.check(first, "see whether the clock has started");
    return false;
}

double Stopwatch::elapsed_seconds(std::size_t repeat) {
    float milliseconds = 0;
    gpu_.check(
        gpu_.api().event_elapsed(&milliseconds, events_[2 * repeat], events_[2 * repeat + 1]),
        "read the clock");
    return static_cast<double>(milliseconds) * 1e-3;
}

std::vector<double> Stopwatch::measure(std::uint64_t repeats, const std::function<void()>& before,
                                       const std::function<void()>& work) {
    make_events(2 * round_repeats);
    std::vector<double> seconds;
    double hold_seconds = shortest_hold_seconds;
    while (seconds.size() < repeats) {
        const std::size_t count = std::min<std::uint64_t>(repeats - seconds.size(), round_repeats);
        const bool was_held = enqueue_round(count, hold_seconds, before, work);
        gpu_.synchronize("finish the timed launches");
        if (!was_held && hold_seconds < longest_hold_seconds) {
            hold_seconds *= 2;
            continue;
        }
        for (std::size_t k = 0; k < count; ++k) seconds.push_back(elapsed_seconds(k));
    }
    return seconds;
}

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
