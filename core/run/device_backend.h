// One GPU with the model beside it. Time first, for every point of a batch; then their counters, in
// as few sessions as there are sets of counters, because a session costs more than a point.
// Failures cost as little as possible: after a failed point the next one is measured, without
// counters times are, without the GPU points are predicted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/pattern/access_set.h"
#include "core/result/reading.h"
#include "core/run/backend.h"
#include "core/run/device_ceilings.h"
#include "core/runtime/parallel.h"

namespace coalprof {

// Points whose counters are read together: enough to spread the cost of a session (0.3 s on an
// H200) thin, few enough that an interrupted sweep has delivered the points before.
inline constexpr std::size_t launches_together = 256;
// For single warps, which take 2 ms each and a session for each kind of instruction: this many
// almost fill one of a thousand for each of seven kinds, and finished lines appear every 14 s (an
// H200, 2026-11-22, with basic counters).
inline constexpr std::size_t warps_together = 6144;

struct DeviceRun {
    KernelLauncher& launcher;
    CounterCollector* collector = nullptr;  // null: counters cannot be read; the reason:
    std::string no_counters = {};
    // The counters to read for a launch with these accesses.
    std::function<std::vector<Counter>(AccessSet)> wanted;
    AccessSet accesses = {};     // accesses of all points that are known beforehand
    std::uint64_t repeats = 20;  // 0: each point is launched once and not timed
    CacheState cache = CacheState::cold;
    std::size_t points_together = launches_together;
};

class DeviceBackend : public Backend {
 public:
    explicit DeviceBackend(DeviceRun run) : run_(std::move(run)) {}

    // Finds the passes, measures the ceilings and the start of launches.
    void begin(ResultHead& head) override;
    void answer(PointSource& source, Delivery& delivery) override;

 private:
    struct Prediction {
        Readings readings;
        std::optional<Estimates> estimates;
    };
    struct Measured {
        PlannedPoint planned;
        Point point;
        AccessSet accesses;
        Placement placement;
        bool was_prepared = false;
        std::optional<Answer<Prediction>> prediction;  // runs beside the next launches
    };
    struct Range;

    void count_passes(const std::vector<Counter>& wanted);
    void measure_ceilings();
    void measure_start();
    // The error for a GPU that is lost during the work.
    template <typename Work>
    void unless_lost(std::string_view meanwhile, Work work);
    void warn_where_missing(const Reading& reading, std::string code);
    // The planned machine; with this host's start if it is the GPU at hand.
    Machine with_host_start(const Machine& planned) const;

    // False after the last point.
    bool take_batch(PointSource& source);
    void measure(Measured& one);
    void time(Measured& one);
    void start_prediction(Measured& one) const;

    void read_counters();
    void read_counters(const std::vector<Measured*>& points, const std::vector<Counter>& wanted);
    void collect(const std::vector<Measured*>& points, const std::vector<Counter>& wanted);
    std::unique_ptr<PreparedLaunch> prepare(Measured& one);
    template <typename Work>
    void attempt(Measured& one, Work work);

    static WarpAccess placed(const Measured& one);
    void finish(Measured& one) const;
    void fail(Measured& one, const std::string& reason) const;
    void counters_failed(const std::string& reason);
    void warn(std::string code, std::string_view text);

    DeviceRun run_;
    std::uint64_t passes_ = 0;
    std::set<std::vector<Counter>> counted_;  // whose passes are known
    DeviceCeilings ceilings_;
    HostStart start_;
    std::deque<Measured> batch_;  // elements stay where they are: predictions read them
    std::string lost_;            // the reason why nothing more can be measured; empty: it can
    bool have_counters_failed_ = false;
    std::vector<Warning> warnings_;  // not yet delivered
};

// The facts of the measured GPU, as results have them.
MeasuredDevice describe_device(const DeviceFacts& facts);

// From a GPU's readings to a point's counters: selects those of the point and subtracts those that
// a kernel has without its accesses.

// Points of a sweep that take different paths are asked for the counters of all: those of loads
// that it does not make are not a launch's own.
bool concerns(Counter counter, AccessSet accesses);

// Copies to `into` those counters of `from` that concern a launch with these accesses.
void merge(const Readings& from, AccessSet accesses, Readings& into);

// Marks those of `wanted` that concern a launch and are absent.
void set_missing(const std::vector<Counter>& wanted, AccessSet accesses, std::string_view reason,
                 Readings& measured);

// Constant memory also holds the parameters of kernels: loads of them must be subtracted.
bool counts_constants(AccessSet accesses, const std::vector<Counter>& wanted);

// Subtracts the counts of the kernel that jumps over its accesses to constant memory.
void take_off_constants(const Readings& without, Readings& measured);

}  // namespace coalprof
