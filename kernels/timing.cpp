#include "kernels/timing.h"

#include <algorithm>
#include <cmath>

#include "kernels/source/arguments.h"

namespace coalprof {

namespace {

// How many times its own size has to be read to empty L2: it is no strict LRU. By the DRAM traffic
// of the next launch on 4, 24 and 48 MiB of arrays (H200, 9.0, 2026-11-22): after reading its size
// once, up to 29 % of them still hit, and loads found up to 32 % still to be written back; after
// one and a half times, 1.5 % and 3 %; after twice, none and 0.1 %, and hardly less after four
// times. Other GPUs were not looked at, and are given more.
std::uint64_t flush_factor(const DeviceFacts& facts) {
    return facts.major == 9 && facts.minor == 0 ? 2 : 4;
}
constexpr std::uint64_t smallest_flush_bytes = 16ull << 20;
// Longer than it takes to enqueue an event, a launch and an event.
constexpr double pause_seconds = 20e-6;
// Repetitions enqueued before their times are read; the driver's queue holds about a thousand.
constexpr std::size_t batch = 64;

double quantile(const std::vector<double>& sorted, double q) {
    const double place = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double share = place - static_cast<double>(below);
    return sorted[below] + (sorted[above] - sorted[below]) * share;
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
      buffer_bytes_(std::max(facts.l2_bytes * flush_factor(facts), smallest_flush_bytes)),
      pause_cycles_(static_cast<long long>(static_cast<double>(facts.clock_hz) * pause_seconds)),
      flush_blocks_(std::uint64_t{facts.multiprocessors} * 8) {}

CompileRequest CacheControl::request() {
    return {.source = "#include \"kernels/source/timing.cuh\"\n"};
}

void CacheControl::flush() {
    const Gpu& gpu = shop_.gpu();
    if (!buffer_) {
        buffer_ = Buffer(gpu, buffer_bytes_, "emptying L2");
        gpu.check(gpu.api().fill_bytes(buffer_.address(), 0, buffer_bytes_, nullptr),
                  "clear the buffer that empties L2");
    }
    KernelParameters parameters;
    parameters.add(buffer_.address());
    parameters.add(std::uint64_t{buffer_bytes_ / 16});
    parameters.add(Word{0});
    parameters.add(buffer_.address());
    shop_.kernel(request(), "coalprof_flush")
        .launch({.grid = flush_blocks_, .block = 256}, parameters.pointers());
}

void CacheControl::pause() {
    KernelParameters parameters;
    parameters.add(pause_cycles_);
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

std::vector<double> Stopwatch::measure(std::uint64_t repeats, const std::function<void()>& before,
                                       const std::function<void()>& work) {
    const DriverApi& api = gpu_.api();
    make_events(2 * std::min<std::uint64_t>(repeats, batch));
    std::vector<double> seconds;
    while (seconds.size() < repeats) {
        const std::size_t count = std::min<std::uint64_t>(repeats - seconds.size(), batch);
        for (std::size_t k = 0; k < count; ++k) {
            before();
            gpu_.check(api.event_record(events_[2 * k], nullptr), "start the clock");
            work();
            gpu_.check(api.event_record(events_[2 * k + 1], nullptr), "stop the clock");
        }
        gpu_.synchronize("finish the timed launches");
        for (std::size_t k = 0; k < count; ++k) {
            float milliseconds = 0;
            gpu_.check(api.event_elapsed(&milliseconds, events_[2 * k], events_[2 * k + 1]),
                       "read the clock");
            seconds.push_back(static_cast<double>(milliseconds) * 1e-3);
        }
    }
    return seconds;
}

}  // namespace coalprof
