// What this machine has for measuring: asked of kernels and cupti where this build has them.
#pragma once

#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

struct DevicesReport {
    std::vector<NamedValues> devices;
    std::string problem;  // why there is none; empty where there are some
};
DevicesReport report_devices();

struct Diagnosis {
    std::string name;    // "driver", "permission"
    std::string state;   // "ok", "problem" or "unknown"
    std::string detail;  // what was found
    std::string remedy;  // empty where there is nothing to do
};
std::vector<Diagnosis> diagnose();

}  // namespace coalprof
