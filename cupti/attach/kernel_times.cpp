#include "cupti/attach/kernel_times.h"

#include <algorithm>
#include <utility>

#include "cupti/cupti_api.h"

namespace coalprof {
namespace {

constexpr CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr std::uint32_t flush_every_ms = 500;  // so that a killed program has its times

// All of a program's first launches, then one stretch of 16.
bool is_in_stretch(std::uint64_t launch) {
    constexpr std::uint64_t all_of_first = 8192;
    constexpr std::uint64_t stretch = 512;
    return launch < all_of_first || launch / stretch % 16 == 0;
}

// The fields read have the same place in the records of every CUPTI since 8.0.
using KernelRecord = CUpti_ActivityKernel10;

std::uint32_t extent(std::int32_t blocks) { return static_cast<std::uint32_t>(blocks); }

TracedKernel kernel_of(const KernelRecord& record) {
    return {.name = record.name ? record.name : "(unnamed)",
            .grid = {extent(record.gridX), extent(record.gridY), extent(record.gridZ)},
            .block = {extent(record.blockX), extent(record.blockY), extent(record.blockZ)},
            .device = record.deviceId};
}

}  // namespace

void LaunchTimes::add(double seconds) {
    if (launches_++ % every_ == 0) kept_.push_back(seconds);
    total_seconds_ += seconds;
    if (kept_.size() < most_kept) return;
    for (std::size_t i = 0; i < most_kept / 2; ++i) kept_[i] = kept_[2 * i];
    kept_.resize(most_kept / 2);
    every_ *= 2;
}

TimedLaunches LaunchTimes::sum() const {
    if (kept_.empty()) return {};
    std::vector<double> kept = kept_;
    const auto middle = kept.begin() + static_cast<std::ptrdiff_t>((kept.size() - 1) / 2);
    std::ranges::nth_element(kept, middle);
    return {.launches = launches_, .median_seconds = *middle, .total_seconds = total_seconds_};
}

void KernelTimes::start(CUpti_BuffersCallbackRequestFunc requested,
                        CUpti_BuffersCallbackCompleteFunc completed) {
    if (!api_.register_callbacks || !api_.enable || !api_.disable || !api_.next_record ||
        !api_.flush_all)
        throw CountersError("this CUPTI records no kernels");
    check_cupti(api_.register_callbacks(requested, completed), "record kernels");
    check_cupti(api_.enable(kind), "record kernels");
    has_started_ = is_recording_ = true;
    if (api_.flush_period) api_.flush_period(flush_every_ms);
}

void KernelTimes::record(bool wanted) {
    if (!has_started_ || std::exchange(is_recording_, wanted) == wanted) return;
    wanted ? api_.enable(kind) : api_.disable(kind);
}

void KernelTimes::pause() { record(false); }

void KernelTimes::resume() { record(is_in_stretch(launches_)); }

void KernelTimes::launch_begins() { record(is_in_stretch(++launches_)); }

void KernelTimes::read(std::uint8_t* buffer, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (api_.next_record(buffer, bytes, &record) == CUPTI_SUCCESS) {
        if (record->kind != kind) continue;
        const auto& kernel = *reinterpret_cast<const KernelRecord*>(record);
        if (kernel.start == 0 || kernel.end <= kernel.start) continue;  // no stamps of it came
        const double seconds = static_cast<double>(kernel.end - kernel.start) * 1e-9;
        kernel.graphId == 0 ? kernels_[kernel_of(kernel)].add(seconds)
                            : add_to_graph(kernel, seconds);
    }
}

// The kernels of one launch of a graph are consecutive.
void KernelTimes::add_to_graph(const CUpti_ActivityKernel10& kernel, double seconds) {
    if (graph_ && graph_->correlation != kernel.correlationId) end_graph();
    if (!graph_) graph_ = {kernel.correlationId, graph_launch(kernel.deviceId), 0};
    graph_->seconds += seconds;
}

void KernelTimes::end_graph() {
    if (graph_) kernels_[graph_->launch].add(graph_->seconds);
    graph_.reset();
}

void KernelTimes::flush() { api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); }

std::map<TracedKernel, TimedLaunches> KernelTimes::sums() {
    const std::lock_guard lock(mutex_);
    end_graph();
    std::map<TracedKernel, TimedLaunches> sums;
    for (const auto& [kernel, times] : kernels_) sums.emplace(kernel, times.sum());
    return sums;
}

}  // namespace coalprof
