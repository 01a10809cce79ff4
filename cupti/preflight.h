// The findings of `coalprof doctor` about counters before any is read: where CUPTI is, whether this
// user may read counters, and what else may hold them. No CUDA types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coalprof {

enum class FindingState : std::uint8_t { ok, problem, unknown };

struct Finding {
    std::string name;  // "permission"
    FindingState state = FindingState::unknown;
    std::string detail = {};  // the facts
    std::string remedy = {};  // empty: none needed
};

// The facts from which the findings are made. Tests plant a folder for `root`.
struct PreflightFacts {
    std::filesystem::path root = "/";  // holds /proc, /dev and the container's signs
    std::map<std::string, std::string> environment;
    std::string device_name;  // what the driver calls it; empty: no device
    std::string device_uuid;
    std::optional<int> device_major{}, device_minor{};  // compute capability
};

// The environment of this process; the device is left empty.
PreflightFacts process_facts();

// libcupti and libnvperf_host.so of this process, loaded for it.
Finding find_cupti();
// Finds out if the driver restricts counters to administrators, and if this process is one.
Finding find_permission(const PreflightFacts& facts);
Finding find_container(const PreflightFacts& facts);
// The sign that this is a container; empty if there is none.
std::string container_sign(const PreflightFacts& facts);
// Profilers in this process's environment or among the visible running processes.
Finding find_other_profilers(const PreflightFacts& facts);
Finding find_mps(const PreflightFacts& facts);
Finding find_mig(const PreflightFacts& facts);
Finding find_wsl(const PreflightFacts& facts);
// Compute capability 7.5 or higher.
Finding find_architecture(const PreflightFacts& facts);
// Tests if CUPTI's profiler starts on device `index`: the driver is asked, nothing is launched.
Finding find_collector(int device_index);

// All of the above but find_collector(), in this order.
std::vector<Finding> preflight(const PreflightFacts& facts);

// Finds out if the GPU is whole or a share that a hypervisor hands out (vGPU): the driver's
// management library NVML knows, and nothing else does before counters are refused.

// The calls of NVML that are asked, and a struct so that a scripted fake can stand in. NVML's
// header is a package that nothing else here needs, so the types are written out: every call
// answers 0 for success, a device is an opaque pointer, a mode a number (NVML API reference,
// nvmlGpuVirtualizationMode_t).
struct NvmlApi {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_by_uuid)(const char* uuid, void** device) = nullptr;
    int (*virtualization_mode)(void* device, int* mode) = nullptr;
};

// libnvidia-ml.so.1, which comes with the driver, loaded for the process. No call is set if it is
// missing or lacks one.
NvmlApi load_nvml();

// Asks for the device of facts.device_uuid.
Finding find_virtual_gpu(const PreflightFacts& facts, const NvmlApi& nvml);

}  // namespace coalprof
