// The CounterCollector of CUPTI. No CUDA types: cli/wiring includes this.
//
// A sweep takes one session for the hardware counters, and a second one for those that CUPTI can
// only get by patching the code (unique bytes), so that a failure of the second costs nothing of
// the first. Each is one Start..Stop per pass with one user range per point.
//
// CUPTI's calls are not safe from several threads: on two H100 the chip of one GPU came back as
// "Unknown" while the other was asked for (CUPTI 13.0, 2026-11-22). A process has one collector.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "cupti/host.h"
#include "cupti/metric_table.h"

namespace coalprof {

struct CuptiApi;
struct CounterDriver;
struct LoadedCupti;

struct CollectorOptions {
    int device = 0;                         // CUDA device index
    std::size_t points_per_session = 1000;  // longer sweeps are cut; see RangeCollection
    bool of_lone_warps = false;             // every launch is one warp, which waits for no other
};

// "GH100". Throws CountersError. Crashes unless the driver was started.
std::string chip_of_device(const CuptiApi& api, int device_index);

// CUPTI's profiler, started for as long as one of these lives.
class StartedProfiler {
 public:
    explicit StartedProfiler(const CuptiApi& api);  // throws CountersError
    ~StartedProfiler();
    StartedProfiler(const StartedProfiler&) = delete;
    StartedProfiler& operator=(const StartedProfiler&) = delete;

 private:
    const CuptiApi& api_;
};

class CuptiCollector : public CounterCollector {
 public:
    // Starts driver and profiler; needs no context yet. Both tables must outlive the collector.
    // Throws CountersError: no GPU, a GPU or a configuration that CUPTI cannot profile, a chip that
    // this CUPTI does not know.
    CuptiCollector(const CuptiApi& api, const CounterDriver& driver,
                   const CollectorOptions& options);
    ~CuptiCollector() override;

    std::uint64_t passes(std::span<const Counter> wanted) override;
    // The context to be measured must be current on the calling thread. Readings hold the wanted
    // counters and nothing else; counters that are measured elsewhere (time) are not there. Nothing
    // is launched when CUPTI can answer none of `wanted`.
    std::vector<Readings> collect(std::span<const Counter> wanted, std::size_t points,
                                  const std::function<void(std::size_t)>& before,
                                  const std::function<void(std::size_t)>& work) override;

    // The same for CUPTI's own metrics by name, for checks and experiments: one value per metric
    // and point. Throws CountersError when no point has values.
    std::vector<PointValues> collect_metrics(const std::vector<std::string>& metrics,
                                             std::size_t points,
                                             const std::function<void(std::size_t)>& before,
                                             const std::function<void(std::size_t)>& work);

    const std::string& chip() const { return metrics_->chip(); }
    const ChipMetrics& metrics() const { return *metrics_; }

 private:
    MetricPlan plan(std::span<const Counter> wanted) const;
    // Never throws CountersError: a failure is in `values`.
    void collect_set(const std::vector<std::string>& metrics, const CountedSweep& sweep,
                     SweepValues& values);

    const CuptiApi& api_;
    const CounterDriver& driver_;
    CollectorOptions options_;
    std::optional<StartedProfiler> profiler_;
    std::optional<ChipMetrics> metrics_;
};

// Loads CUPTI, so that make_collector() finds it loaded. Nearly all of it is the 55 ms of CPU time
// that dlopen takes for libnvperf_host.so (13.0, x86-64 container without a GPU, 2026-11-21); it
// can be spent on another thread while the driver starts. make_collector() reports failures.
void load_cupti_early() noexcept;

// The collector of this process's driver and CUPTI, loaded now. Destroy it before the context that
// it measured. Throws CountersError with the reason and the remedy: time and prediction are still
// possible then.
std::unique_ptr<CuptiCollector> make_collector(const CollectorOptions& options);

// The same with these tables, which must outlive it.
std::unique_ptr<CuptiCollector> make_collector(const CounterDriver& driver,
                                               const LoadedCupti& cupti,
                                               const CollectorOptions& options);

}  // namespace coalprof
