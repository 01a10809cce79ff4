// Connects core with kernels and cupti: the only place that knows both, and that knows if this
// build has them at all.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/pattern/access_set.h"
#include "core/result/counter.h"
#include "core/result/result.h"

namespace coalprof {

// A GPU for this process, as far as one is available.
struct DeviceAccess {
    std::unique_ptr<KernelLauncher> launcher;     // none: no GPU, for the reason below
    std::unique_ptr<CounterCollector> collector;  // none: no counters, for the reason below
    std::string no_gpu;
    std::string no_counters;

    ~DeviceAccess() { collector.reset(); }  // it must go before the context that it measures
    DeviceAccess() = default;
    DeviceAccess(DeviceAccess&&) = default;
    DeviceAccess& operator=(DeviceAccess&&) = default;
};

// The features wanted of a GPU, so that it can be prepared while the driver starts.
struct DeviceRequest {
    int index = 0;
    std::vector<Plan> ahead = {};  // their kernels are compiled
    bool wants_counters = true;
    bool wants_ceilings = false;
    bool of_lone_warps = false;  // only prepare_warp() will be measured
};
// Begins to load the libraries for counters, where there may be a GPU: 55 ms of CPU time that pass
// while the driver starts. Call it before open_device(), and keep the result
// until a device is open, or none can be. Its destructor waits.
[[nodiscard]] std::future<void> load_counters_ahead(bool wanted);
// Does not throw where there is no GPU or no counters. Throws NoSuchDeviceError where there are
// GPUs, but none of this index.
DeviceAccess open_device(const DeviceRequest& request);

// The counters that --counters names for launches with these accesses: `basic`, `memory`, `all`,
// `none` or keys. Throws UsageError for anything else.
std::vector<Counter> counters_of(const std::string& text, AccessSet accesses);
// The keys that were listed one by one; none when `text` names a set.
std::vector<Counter> counters_listed(const std::string& text);

struct DevicesReport {
    std::vector<NamedValues> devices;
    std::string problem;  // the reason for an empty list
};
DevicesReport report_devices();

struct Diagnosis {
    std::string name;    // "driver", "permission"
    std::string state;   // "ok", "problem" or "unknown"
    std::string detail;  // the facts
    std::string remedy;  // empty where there is nothing to do
};
std::vector<Diagnosis> diagnose();

// The CUDA libraries that this process has loaded: found by name at run time, they may come from
// another place than the user expects. Paths of the driver, NVRTC, CUPTI and related libraries, as
// the loader found them, in the order of loading.
std::vector<std::string> loaded_cuda_libraries();

// Nsight Compute's name of a counter (ncu --metrics). Empty: it has none, or this build has no such
// table.
std::string_view nsight_name_of(Counter counter);
// The other way; a name of several counters has no answer.
std::optional<Counter> find_nsight_name(std::string_view name);

}  // namespace coalprof
