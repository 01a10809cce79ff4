#include "kernels/timing.h"

#include <algorithm>
#include <cmath>

#include "core/machine/machine.h"
#include "kernels/source/arguments.h"

namespace coalprof {

namespace {

constexpr std::uint64_t smallest_flush_bytes = 16ull << 20;
// Longer than it takes to enqueue an event, a launch and an event.
constexpr double pause_seconds = 20e-6;
// Repetitions enqueued before their times are read; the driver's queue holds about a thousand.
constexpr std::size_t batch = 64;

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
