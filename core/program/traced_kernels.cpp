#include "core/program/traced_kernels.h"

#include <algorithm>
#include <map>

namespace coalprof {
namespace {

using Samples = std::map<Counter, std::vector<Reading>>;

// A launch without a value of a counter is left out.
Reading median_of(std::vector<Reading> readings) {
    const auto numbers = std::ranges::partition(readings, is_number);
    const auto count = static_cast<std::ptrdiff_t>(readings.size() - numbers.size());
    if (count == 0) return readings.front();
    const auto middle = readings.begin() + (count - 1) / 2;
    std::nth_element(
        readings.begin(), middle, readings.begin() + count,
        [](const Reading& a, const Reading& b) { return number_in(a) < number_in(b); });
    return *middle;
}

bool vary(const std::vector<Reading>& readings) {
    return std::ranges::adjacent_find(readings, [](const Reading& a, const Reading& b) {
               return is_number(a) && is_number(b) && number_in(a) != number_in(b);
           }) != readings.end();
}

double sectors_of(const KernelSummary& summary) {
    double sectors = 0;
    for (const Counter counter : {Counter::load_sectors, Counter::store_sectors})
        sectors += number_or(summary.measured[counter], 0);
    return sectors * static_cast<double>(summary.launches.value_or(summary.counted));
}

// The median of several processes is that of the one with most launches.
void add_times(KernelSummary& summary, const TimedLaunches& times) {
    if (times.launches == 0) return;
    TimedLaunches& sum = summary.timed ? *summary.timed : summary.timed.emplace();
    if (times.launches >= sum.launches) sum.median_seconds = times.median_seconds;
    sum.launches += times.launches;
    sum.total_seconds += times.total_seconds;
}

// Where counters may not be read, nothing is counted, and all launches are timed.
void set_time(KernelSummary& summary) {
    if (summary.timed && summary.counted == 0)
        summary.measured[Counter::duration_seconds] = summary.timed->median_seconds;
}

}  // namespace

bool KernelSummary::has_time() const { return is_number(measured[Counter::duration_seconds]); }

double KernelSummary::total_seconds() const {
    const double others = static_cast<double>(launches.value_or(counted) -
                                              std::min(counted, launches.value_or(counted)));
    if (timed && timed->launches > 0)
        return counted_seconds + timed->total_seconds / static_cast<double>(timed->launches) *
                                     std::max(others, static_cast<double>(timed->launches));
    return counted_seconds + number_or(measured[Counter::duration_seconds], 0) * others;
}

std::vector<KernelSummary> summarize(const std::vector<Trace>& traces) {
    std::map<TracedKernel, KernelSummary> kernels;
    std::map<TracedKernel, Samples> samples;
    for (const Trace& trace : traces) {
        for (const CountedLaunch& launch : trace.counted) {
            KernelSummary& summary = kernels[launch.kernel];
            ++summary.counted;
            summary.counted_seconds += number_or(launch.measured[Counter::duration_seconds], 0);
            launch.measured.each([&](Counter counter, const Reading& reading) {
                if (!info(counter).parts) samples[launch.kernel][counter].push_back(reading);
            });
        }
        if (trace.launches)
            for (const auto& [kernel, count] : *trace.launches)
                kernels[kernel].launches = kernels[kernel].launches.value_or(0) + count;
    }
    // CUPTI also records kernels that it launches itself.
    for (const Trace& trace : traces)
        for (const auto& [kernel, times] : trace.timed)
            if (const auto found = kernels.find(kernel); found != kernels.end())
                add_times(found->second, times);
    std::vector<KernelSummary> all;
    for (auto& [kernel, summary] : kernels) {
        summary.kernel = kernel;
        for (auto& [counter, readings] : samples[kernel]) {
            if (counter == Counter::load_sectors || counter == Counter::store_sectors)
                summary.sectors_vary = summary.sectors_vary || vary(readings);
            summary.measured[counter] = median_of(std::move(readings));
        }
        set_time(summary);
        derive_ratios(summary.measured);
        all.push_back(std::move(summary));
    }
    std::ranges::sort(all, [](const KernelSummary& a, const KernelSummary& b) {
        const double a_seconds = a.total_seconds();
        const double b_seconds = b.total_seconds();
        if (a_seconds != b_seconds) return a_seconds > b_seconds;
        return sectors_of(a) > sectors_of(b);
    });
    return all;
}

void add_use(std::vector<KernelSummary>& kernels, const std::vector<KernelSummary>& patched) {
    for (KernelSummary& summary : kernels) {
        const auto same = std::ranges::find(patched, summary.kernel, &KernelSummary::kernel);
        if (same == patched.end()) continue;
        for (const Counter counter : {Counter::load_unique_bytes, Counter::load_bytes_per_sector,
                                      Counter::load_efficiency, Counter::store_unique_bytes,
                                      Counter::store_bytes_per_sector, Counter::store_efficiency})
            summary.measured[counter] = same->measured[counter];
    }
}

}  // namespace coalprof
