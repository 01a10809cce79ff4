// Joins core with kernels and cupti: the only place that knows both, and whether this build has
// them at all.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/device.h"

namespace coalprof {

// A GPU for this process, as far as it can be had.
struct DeviceAccess {
    std::unique_ptr<KernelLauncher> launcher;     // none: no GPU, for the reason below
    std::unique_ptr<CounterCollector> collector;  // none: no counters, for the reason below
    std::string no_gpu;
    std::string no_counters;

    ~DeviceAccess() { collector.reset(); }  // before the context that it measures
    DeviceAccess() = default;
    DeviceAccess(DeviceAccess&&) = default;
    DeviceAccess& operator=(DeviceAccess&&) = default;
};

// Kernels of the plans in `ahead` are compiled while the driver starts. Never throws for want of a
// GPU or of counters.
DeviceAccess open_device(int index, const std::vector<Plan>& ahead, bool wants_counters = true);

// What --counters names for a launch of this program: `basic`, `memory`, `all`, `none` or keys.
// Throws UsageError for anything else.
std::vector<Counter> counters_named(const std::string& text, const Program& program);
// The same for one warp instruction on its own.
std::vector<Counter> counters_of_warp(const std::string& text, AccessKind kind, Space space);
// The keys that were listed one by one; none when `text` names a set.
std::vector<Counter> counters_listed(const std::string& text);

}  // namespace coalprof
