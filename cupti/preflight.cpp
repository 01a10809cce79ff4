#include "cupti/preflight.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/device/device.h"
#include "cupti/collector.h"
#include "cupti/cupti_api.h"

namespace coalprof {

namespace {

namespace fs = std::filesystem;

// A small file, or none. Files in /proc have no size, so it is read to its end.
std::optional<std::string> read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// The text after "key:" in a file of "key: value" lines.
std::optional<std::string> value_of(const std::string& lines, std::string_view key) {
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = std::min(lines.find('\n', begin), lines.size());
        const std::string_view line(lines.data() + begin, end - begin);
        begin = end + 1;
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':')
            continue;
        const std::size_t text = line.find_first_not_of(" \t", key.size() + 1);
        return std::string(text == std::string_view::npos ? "" : line.substr(text));
    }
    return std::nullopt;
}

// Bits of linux/capability.h.
constexpr unsigned cap_sys_admin = 21;
constexpr unsigned cap_perfmon = 38;

std::optional<std::uint64_t> effective_capabilities(const fs::path& root) {
    const auto status = read_file(root / "proc/self/status");
    const auto text = status ? value_of(*status, "CapEff") : std::nullopt;
    if (!text) return std::nullopt;
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), bits, 16);
    if (error != std::errc{} || end == text->data()) return std::nullopt;
    return bits;
}

bool has_capability(std::uint64_t bits, unsigned capability) {
    return (bits >> capability & 1u) != 0;
}

// Major version of the kernel driver: 580 of 580.159.03. It is in the first line of
// /proc/driver/nvidia/version, as the first word that starts with digits and has a dot after them.
std::optional<int> kernel_driver_major(const fs::path& root) {
    const auto text = read_file(root / "proc/driver/nvidia/version");
    if (!text) return std::nullopt;
    const std::string_view line = std::string_view(*text).substr(0, text->find('\n'));
    for (std::size_t begin = line.find("  "); begin < line.size(); ++begin) {
        int major = 0;
        const auto [end, error] =
            std::from_chars(line.data() + begin, line.data() + line.size(), major);
        if (error == std::errc{} && end != line.data() + line.size() && *end == '.') return major;
    }
    return std::nullopt;
}

}  // namespace

std::string container_sign(const PreflightFacts& facts) {
    std::error_code ignored;
    for (const char* file : {".dockerenv", "run/.containerenv"})
        if (fs::exists(facts.root / file, ignored)) return fmt::format("/{} exists", file);
    if (const auto kind = facts.environment.find("container"); kind != facts.environment.end())
        return fmt::format("container={} is set", kind->second);
    const auto groups = read_file(facts.root / "proc/1/cgroup");
    for (const char* runtime : {"docker", "kubepods", "containerd", "libpod", "lxc"})
        if (groups && groups->find(runtime) != std::string::npos)
            return fmt::format("/proc/1/cgroup names {}", runtime);
    return {};
}

namespace {

constexpr std::string_view let_everyone =
    "let every user read counters: put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
    "a file in /etc/modprobe.d, rebuild the initramfs and reboot";

std::string permission_remedy(const PreflightFacts& facts) {
    if (!container_sign(facts).empty())
        return fmt::format(
            "Start the container with --cap-add=SYS_ADMIN and be root in it; or, on "
            "the host, {}.",
            let_everyone);
    return fmt::format("Run as root (sudo); or {}.", let_everyone);
}

// Programs that use the counters, by their names in /proc/PID/comm (15 characters at most).
constexpr std::array counter_users{"nv-hostengine", "dcgm-exporter", "dcgmi",          "nsys",
                                   "nsys-launcher", "ncu",           "nv-nsight-cu-cl"};
constexpr std::string_view mps_program = "nvidia-cuda-mps";  // cut from -control and -server

// "nv-hostengine (pid 812)" for every running program with `is_meant(comm)`.
template <typename Predicate>
std::vector<std::string> running(const fs::path& root, Predicate is_meant) {
    std::vector<std::string> found;
    std::error_code error;
    fs::directory_iterator entry(root / "proc", error);
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
        const std::string pid = entry->path().filename().string();
        if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
        auto name = read_file(entry->path() / "comm");
        if (!name) continue;
        name->erase(std::min(name->find('\n'), name->size()));
        if (is_meant(*name)) found.push_back(fmt::format("{} (pid {})", *name, pid));
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

PreflightFacts process_facts() {
    PreflightFacts facts;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals != std::string_view::npos)
            facts.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return facts;
}

Finding find_cupti() {
    Finding finding{"cupti", FindingState::problem};
    try {
        const LoadedCupti& cupti = loaded_cupti();
        finding.detail = fmt::format("{}, API version {}", cupti.path, cupti.version);
        if (!missing_target_calls(cupti.api).empty()) {
            finding.detail += ", without the range profiler";
            finding.remedy =
                "Install CUDA 12.6 Update 2 or newer, or name its libcupti in "
                "COALPROF_CUPTI.";
        } else if (cupti.nvperf_path.empty()) {
            finding.state = FindingState::unknown;
            finding.detail += "; libnvperf_host.so is not beside it";
            finding.remedy = "Put libnvperf_host.so of the same CUDA version beside libcupti.";
        } else {
            finding.state = FindingState::ok;
        }
    } catch (const CountersError& error) {
        finding.detail = error.what();
    }
    return finding;
}

Finding find_permission(const PreflightFacts& facts) {
    Finding finding{"permission"};
    const auto params = read_file(facts.root / "proc/driver/nvidia/params");
    const auto restricted = params ? value_of(*params, "RmProfilingAdminOnly") : std::nullopt;
    if (!restricted) {
        finding.detail = "/proc/driver/nvidia/params does not say who may read counters";
        return finding;
    }
    if (*restricted == "0") {
        finding.state = FindingState::ok;
        finding.detail = "every user may read counters (RmProfilingAdminOnly: 0)";
        return finding;
    }
    const auto capabilities = effective_capabilities(facts.root);
    const std::string only = fmt::format(
        "only administrators may read counters (RmProfilingAdminOnly: {})", *restricted);
    if (!capabilities) {
        finding.detail = only + "; whether this process is one cannot be seen";
        finding.remedy = permission_remedy(facts);
    } else if (has_capability(*capabilities, cap_sys_admin)) {
        finding.state = FindingState::ok;
        finding.detail = only + ", and this process has CAP_SYS_ADMIN";
    } else if (has_capability(*capabilities, cap_perfmon) &&
               kernel_driver_major(facts.root).value_or(0) >= 565) {
        finding.state = FindingState::ok;
        finding.detail = only + ", and this process has CAP_PERFMON";
    } else {
        finding.state = FindingState::problem;
        finding.detail = only +
                         ", and this process has neither CAP_SYS_ADMIN nor, with driver 565 "
                         "or newer, CAP_PERFMON";
        finding.remedy = permission_remedy(facts);
    }
    return finding;
}

Finding find_container(const PreflightFacts& facts) {
    const std::string sign = container_sign(facts);
    return {"container", FindingState::ok,
            sign.empty() ? "not in a container" : "in a container: " + sign};
}

Finding find_other_profilers(const PreflightFacts& facts) {
    // Variables that load, or seem to load, a profiler into this process.
    std::vector<std::string> injected;
    for (const auto& [name, value] : facts.environment) {
        const bool is_preload = name == "LD_PRELOAD" && value.find("njection") != std::string::npos;
        const bool is_tool = name.starts_with("NSYS_PROFILING") ||
                             name.starts_with("NV_COMPUTE_PROFILER") ||
                             name.starts_with("NV_SANITIZER");
        if (name == "CUDA_INJECTION64_PATH" || is_preload || is_tool)
            injected.push_back(fmt::format("{}={}", name, value.substr(0, 80)));
    }

    if (!injected.empty())
        return {"other profilers", FindingState::problem,
                fmt::format("a tool is loaded into this process: {}", fmt::join(injected, ", ")),
                "Run coalprof outside that tool, or unset the variable."};
    const std::vector<std::string> beside = running(facts.root, [](const std::string& name) {
        return std::ranges::find(counter_users, name) != counter_users.end();
    });
    if (!beside.empty())
        return {"other profilers", FindingState::unknown,
                fmt::format("{} may hold the GPU's counters", fmt::join(beside, ", ")),
                "If counters are refused as busy: `dcgmi profile --pause` (later "
                "--resume), stop dcgm-exporter, close nsys and ncu."};
    return {"other profilers", FindingState::ok, "none seen"};
}

Finding find_mps(const PreflightFacts& facts) {
    const std::vector<std::string> servers =
        running(facts.root, [](const std::string& name) { return name.starts_with(mps_program); });
    const auto pipe = facts.environment.find("CUDA_MPS_PIPE_DIRECTORY");
    if (servers.empty() && pipe == facts.environment.end())
        return {"mps", FindingState::ok, "not in use"};
    // A program that was MPS's only client was counted rightly (H100, driver 580.159, 2026-11-23).
    return {"mps", FindingState::unknown,
            servers.empty() ? fmt::format("CUDA_MPS_PIPE_DIRECTORY={} is set", pipe->second)
                            : fmt::format("{} runs", fmt::join(servers, ", ")),
            "Counters take in what other clients of MPS do meanwhile. If they are refused, stop "
            "MPS (`echo quit | nvidia-cuda-mps-control`) or unset CUDA_MPS_PIPE_DIRECTORY."};
}

Finding find_mig(const PreflightFacts& facts) {
    const auto visible = facts.environment.find("CUDA_VISIBLE_DEVICES");
    const bool is_mig =
        facts.device_name.find("MIG") != std::string::npos ||
        facts.device_uuid.starts_with("MIG-") ||
        (visible != facts.environment.end() && visible->second.find("MIG-") != std::string::npos);
    if (is_mig)
        return {"mig", FindingState::unknown,
                "the device is a MIG instance: counters of units that it shares (L2, "
                "device memory) may be missing",
                "Use an instance with one compute instance of full size, or switch MIG "
                "off for whole-GPU counters."};
    if (facts.device_name.empty()) return {"mig", FindingState::unknown, "no device to ask"};
    return {"mig", FindingState::ok, "not in use"};
}

Finding find_wsl(const PreflightFacts& facts) {
    std::error_code ignored;
    const auto release = read_file(facts.root / "proc/sys/kernel/osrelease");
    const bool is_wsl = fs::exists(facts.root / "dev/dxg", ignored) ||
                        (release && (release->find("microsoft") != std::string::npos ||
                                     release->find("Microsoft") != std::string::npos));
    if (!is_wsl) return {"wsl", FindingState::ok, "not under WSL"};
    return {"wsl", FindingState::unknown, "under WSL",
            "Counters need WSL 2 on Windows 11, driver 525 or newer, and counters "
            "allowed for all users in the NVIDIA control panel."};
}

Finding find_architecture(const PreflightFacts& facts) {
    if (!facts.device_major) return {"architecture", FindingState::unknown, "no device to ask"};
    const int major = *facts.device_major;
    const int minor = facts.device_minor.value_or(0);
    const bool is_served = major > 7 || (major == 7 && minor >= 5);
    return {"architecture", is_served ? FindingState::ok : FindingState::problem,
            fmt::format("compute capability {}.{}", major, minor),
            is_served ? ""
                      : "Counters need 7.5 or higher; on this GPU coalprof predicts and "
                        "takes times."};
}

Finding find_collector(int device_index) {
    Finding finding{"counters", FindingState::ok};
    try {
        const auto collector = make_collector({.device = device_index});
        finding.detail =
            fmt::format("CUPTI profiles device {} ({})", device_index, collector->chip());
    } catch (const CountersError& error) {
        finding.state = FindingState::problem;
        finding.detail = error.what();  // it holds the remedy
    }
    return finding;
}

std::vector<Finding> preflight(const PreflightFacts& facts) {
    return {
        find_cupti(),    find_permission(facts), find_container(facts), find_other_profilers(facts),
        find_mps(facts), find_mig(facts),        find_wsl(facts),       find_architecture(facts)};
}

namespace {

// nvmlGpuVirtualizationMode_t of the NVML API reference.
enum Mode : int {
    whole = 0,
    passed_through = 1,
    virtual_gpu = 2,
    host_of_vgpus = 3,
    host_of_vsga = 4
};

Finding finding(FindingState state, std::string detail, std::string remedy = {}) {
    return {"virtual gpu", state, std::move(detail), std::move(remedy)};
}

std::optional<int> mode_of(const std::string& uuid, const NvmlApi& nvml) {
    if (nvml.init() != 0) return std::nullopt;
    void* device = nullptr;
    int mode = 0;
    const bool answers = nvml.device_by_uuid(uuid.c_str(), &device) == 0 &&
                         nvml.virtualization_mode(device, &mode) == 0;
    nvml.shutdown();
    return answers ? std::optional(mode) : std::nullopt;
}

}  // namespace

NvmlApi load_nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return {};
    NvmlApi api;
    bool has_all = true;
    const auto bind = [&](auto& slot, const char* symbol) {
        slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(dlsym(library, symbol));
        has_all = has_all && slot != nullptr;
    };
    bind(api.init, "nvmlInit_v2");
    bind(api.shutdown, "nvmlShutdown");
    bind(api.device_by_uuid, "nvmlDeviceGetHandleByUUID");
    bind(api.virtualization_mode, "nvmlDeviceGetVirtualizationMode");
    return has_all ? api : NvmlApi{};
}

Finding find_virtual_gpu(const PreflightFacts& facts, const NvmlApi& nvml) {
    if (facts.device_uuid.empty()) return finding(FindingState::unknown, "no device to ask");
    if (nvml.init == nullptr)
        return finding(FindingState::unknown,
                       "the driver's libnvidia-ml.so.1, which would know, was not found");
    const std::optional<int> mode = mode_of(facts.device_uuid, nvml);
    if (!mode) return finding(FindingState::unknown, "the driver does not say whether it is one");
    switch (*mode) {
        case whole: return finding(FindingState::ok, "not a virtual GPU");
        case passed_through:
            return finding(FindingState::ok,
                           "not a virtual GPU, but one passed through to this machine");
        case host_of_vgpus:
        case host_of_vsga:
            return finding(
                FindingState::unknown,
                "not one itself, but this machine is the host of virtual GPUs on it",
                "While a guest uses it, counters may be refused or count the guest too.");
        case virtual_gpu:
            return finding(
                FindingState::unknown,
                "a virtual GPU: counters are there only if its host allows them",
                "If they are refused, the host's administrator switches them on with the "
                "vGPU plugin parameter enable_profiling.");
        default:
            return finding(FindingState::unknown,
                           fmt::format("the driver answers with mode {}, which is newer than "
                                       "this coalprof",
                                       *mode));
    }
}

}  // namespace coalprof
