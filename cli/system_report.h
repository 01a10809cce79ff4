// This machine's means to measure, from kernels and cupti where this build has them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/counter.h"
#include "core/result/result.h"

namespace coalprof {

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
// another place than the user expects.

// Paths of the driver, NVRTC, CUPTI and related libraries, as the loader found them, in the order
// of loading.
std::vector<std::string> loaded_cuda_libraries();

// Nsight Compute's names of our counters (ncu --metrics).

// Empty: it has none, or this build has no such table.
std::string_view nsight_name_of(Counter counter);
// The other way; a name of several counters has no answer.
std::optional<Counter> find_nsight_name(std::string_view name);

}  // namespace coalprof
