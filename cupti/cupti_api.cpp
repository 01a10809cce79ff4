#include "cupti/cupti_api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/runtime/steps.h"
#include "cupti/driver.h"

namespace coalprof {
namespace {

CuptiApi bind_all(void* library) {
    CuptiApi api;
#define COALPROF_BIND(member, symbol) \
    api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol));
    COALPROF_BIND(get_version, cuptiGetVersion)
    COALPROF_CUPTI_HOST_CALLS(COALPROF_BIND)
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_BIND)
    COALPROF_CUPTI_SASS_CALLS(COALPROF_BIND)
#undef COALPROF_BIND
    return api;
}

std::filesystem::path path_of(void* library, const std::string& name) {
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr)
        return map->l_name;
    return name;
}

// libcupti loads libnvperf_host.so by its bare name on first use, and answers NOT_INITIALIZED when
// the loader does not find it (seen with 13.0.85); loaded beforehand by its path, it is found.
std::string preload_nvperf(const std::filesystem::path& cupti_path) {
    if (!cupti_path.is_absolute()) return {};
    const std::filesystem::path beside = cupti_path.parent_path() / "libnvperf_host.so";
    if (dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) return {};
    return beside.string();
}

LoadedCupti describe(void* library, const std::string& name) {
    LoadedCupti loaded;
    loaded.api = bind_all(library);
    const std::filesystem::path path = path_of(library, name);
    loaded.path = path.string();
    loaded.nvperf_path = preload_nvperf(path);
    if (loaded.api.get_version != nullptr) loaded.api.get_version(&loaded.version);
    return loaded;
}

std::string why_not_loaded() {
    const char* text = dlerror();
    return text != nullptr ? text : "dlopen failed without a reason";
}

constexpr std::string_view report_it =
    "This is a mistake in coalprof or in CUPTI: please report it with this line.";
constexpr std::string_view memory_remedy =
    "Ask for fewer counters (--counters) or fewer points, or free memory on the GPU.";

struct CuptiFailure {
    int code;
    std::string_view name;
    std::string_view reason;  // completes "cannot ...: "
    std::string_view remedy;  // a whole sentence
};

// The calls that return each code were seen with CUPTI 13.0.85 without a GPU (1, 15, 17, 27, 46,
// 999) or are in its headers and documentation.
constexpr std::array failures{
    CuptiFailure{1, "CUPTI_ERROR_INVALID_PARAMETER", "CUPTI did not accept what it was given",
                 report_it},
    CuptiFailure{2, "CUPTI_ERROR_INVALID_DEVICE", "CUPTI does not know this device",
                 "`coalprof devices` lists what --device takes; a MIG instance of another user "
                 "cannot be profiled."},
    CuptiFailure{3, "CUPTI_ERROR_INVALID_CONTEXT", "no usable CUDA context is current",
                 "The context may have been lost with an earlier launch: run the point alone."},
    CuptiFailure{7, "CUPTI_ERROR_INVALID_OPERATION",
                 "CUPTI was called out of order, or another tool in this process uses it",
                 "Run without other CUPTI tools; if there are none, please report it."},
    CuptiFailure{8, "CUPTI_ERROR_OUT_OF_MEMORY", "there is not enough memory for the profiler",
                 memory_remedy},
    CuptiFailure{9, "CUPTI_ERROR_HARDWARE", "the GPU's counters reported a hardware error",
                 "Look for Xid messages in `dmesg`; the GPU may need a reset."},
    CuptiFailure{10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT", "a buffer was too small",
                 report_it},
    CuptiFailure{11, "CUPTI_ERROR_API_NOT_IMPLEMENTED", "this libcupti lacks the call",
                 "Install CUDA 12.6 Update 2 or newer, or name its libcupti in COALPROF_CUPTI."},
    CuptiFailure{12, "CUPTI_ERROR_MAX_LIMIT_REACHED", "a limit of CUPTI is reached",
                 "Ask for fewer points, and close other profilers of this GPU."},
    CuptiFailure{13, "CUPTI_ERROR_NOT_READY", "the profiler is not ready", report_it},
    CuptiFailure{14, "CUPTI_ERROR_NOT_COMPATIBLE", "the profiler is in a state that forbids it",
                 report_it},
    CuptiFailure{15, "CUPTI_ERROR_NOT_INITIALIZED",
                 "CUPTI could not connect to the driver, or could not load libnvperf_host.so",
                 "CUPTI must not be newer than the driver's CUDA (13.x needs driver 580 or newer; "
                 "COALPROF_CUPTI may name a libcupti.so.12), and libnvperf_host.so must lie beside "
                 "it: `coalprof doctor` shows both."},
    CuptiFailure{17, "CUPTI_ERROR_INVALID_METRIC_NAME", "this chip has no metric of that name",
                 report_it},
    CuptiFailure{19, "CUPTI_ERROR_INVALID_HANDLE", "a handle of CUPTI is not valid", report_it},
    CuptiFailure{23, "CUPTI_ERROR_DISABLED", "another profiler has switched CUPTI off",
                 "Run outside nsys, ncu, cuda-gdb and compute-sanitizer."},
    CuptiFailure{
        26, "CUPTI_ERROR_HARDWARE_BUSY", "another profiler holds the GPU's counters",
        "Pause DCGM with `dcgmi profile --pause` (later --resume), stop dcgm-exporter, and "
        "close nsys, ncu and other CUPTI tools on this GPU."},
    CuptiFailure{27, "CUPTI_ERROR_NOT_SUPPORTED", "this system or GPU does not support it",
                 "Counters need a GPU of compute capability 7.5 or higher and a driver that is not "
                 "older than CUPTI."},
    CuptiFailure{33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
                 "this virtual GPU has no counters",
                 "Use a GPU that is passed through whole, or ask the administrator for a vGPU type "
                 "that allows profiling."},
    CuptiFailure{35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
                 "the driver lets only administrators read GPU counters",
                 "Run as root or with CAP_SYS_ADMIN (driver 565 or newer: CAP_PERFMON); in a "
                 "container start it with --cap-add=SYS_ADMIN; or let every user read them: put "
                 "`options nvidia NVreg_RestrictProfilingToAdminUsers=0` into a file in "
                 "/etc/modprobe.d, rebuild the initramfs and reboot."},
    CuptiFailure{36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED",
                 "CUPTI's old event interface is already in use in this process",
                 "Run without the tool that uses it (look at CUDA_INJECTION64_PATH and "
                 "LD_PRELOAD)."},
    CuptiFailure{39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
                 "another tool in this process already uses CUPTI",
                 "Run outside nsys, ncu, cuda-gdb and compute-sanitizer, and with "
                 "CUDA_INJECTION64_PATH unset."},
    CuptiFailure{40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
                 "the hypervisor does not allow this virtual GPU to be profiled",
                 "The host's administrator switches it on with the vGPU plugin parameter "
                 "enable_profiling."},
    CuptiFailure{41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
                 "the GPU runs in confidential-computing mode, which has no counters",
                 "Measure on a GPU outside that mode."},
    CuptiFailure{42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
                 "this is a crypto-mining processor, which has no counters",
                 "Measure on another GPU."},
    CuptiFailure{43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED", "this MIG instance cannot be profiled",
                 "Use a GPU instance with one compute instance of full size, or switch MIG off."},
    CuptiFailure{44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED", "the GPU is part of an SLI group",
                 "Switch SLI off."},
    CuptiFailure{45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
                 "GPUs cannot be profiled under this version of WSL",
                 "Use WSL 2 on Windows 11 with driver 525 or newer, and allow GPU counters for all "
                 "users in the NVIDIA control panel."},
    CuptiFailure{46, "CUPTI_ERROR_INVALID_CHIP_NAME", "this CUPTI does not know the GPU's chip",
                 "Install the CUDA toolkit that came out with the GPU or a newer one, or name its "
                 "libcupti in COALPROF_CUPTI."},
    CuptiFailure{999, "CUPTI_ERROR_UNKNOWN", "CUPTI failed without saying why",
                 "Driver and CUPTI may not fit together: `coalprof doctor` shows both versions."},
};

static_assert(std::ranges::is_sorted(failures, {}, &CuptiFailure::code));

}  // namespace

#define COALPROF_NOTE_MISSING(member, symbol) \
    if (api.member == nullptr) missing.emplace_back(#symbol);

std::vector<std::string> missing_host_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_HOST_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

std::vector<std::string> missing_target_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_TARGET_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

std::vector<std::string> missing_sass_calls(const CuptiApi& api) {
    std::vector<std::string> missing;
    COALPROF_CUPTI_SASS_CALLS(COALPROF_NOTE_MISSING)
    return missing;
}

LoadedCupti load_cupti(const std::vector<LibraryCandidate>& candidates) {
    std::vector<std::string> refused;
    for (const LibraryCandidate& candidate : candidates) {
        if (candidate.is_demanded && !std::filesystem::path(candidate.name).is_absolute())
            throw CountersError(
                fmt::format("cannot read counters: COALPROF_CUPTI={} is no absolute path; name the "
                            "library, or its folder, from / on",
                            candidate.name));
        // For a path, libnvperf_host.so is loaded first.
        if (!candidate.if_loaded) preload_nvperf(candidate.name);
        void* library = dlopen(candidate.name.c_str(),
                               RTLD_NOW | RTLD_GLOBAL | (candidate.if_loaded ? RTLD_NOLOAD : 0));
        if (library != nullptr) {
            LoadedCupti loaded = describe(library, candidate.name);
            if (missing_host_calls(loaded.api).empty()) return loaded;
            refused.push_back(fmt::format("{} is older than CUDA 12.6", loaded.path));
        } else if (!candidate.if_loaded) {
            refused.push_back(why_not_loaded());
        }
        if (candidate.is_demanded && !refused.empty())
            throw CountersError(fmt::format(
                "cannot read counters: COALPROF_CUPTI names a library that cannot be used: {}",
                refused.back()));
    }
    throw CountersError(fmt::format(
        "cannot read counters: CUPTI was not found ({}). Install it with the CUDA toolkit (12.6 "
        "Update 2 or newer), or name its file in COALPROF_CUPTI.",
        fmt::join(refused, "; ")));
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
    std::vector<const char*> pointers;
    for (const std::string& name : names) pointers.push_back(name.c_str());
    return pointers;
}

const LoadedCupti& loaded_cupti() {
    // Never destroyed: a counted program's exit handler still calls it.
    static const auto& loaded = *new LoadedCupti([] {
        const Step step("CUPTI loaded");
        std::uint32_t driver_version = 0;
        try {
            driver_version = driver_cuda_version(counter_driver());
        } catch (const CountersError&) {
            // Without a driver, names and passes of the newest CUPTI are still available.
        }
        return load_cupti(library_candidates(process_library_search(driver_version)));
    }());
    return loaded;
}

namespace {

namespace fs = std::filesystem;

using Sonames = std::array<std::string_view, 2>;

// The soname changes with CUDA's major version only.
Sonames sonames_for(std::uint32_t driver_version) {
    if (driver_version != 0 && driver_version < 13000) return {"libcupti.so.12", "libcupti.so.13"};
    return {"libcupti.so.13", "libcupti.so.12"};
}

class Candidates {
 public:
    explicit Candidates(const Sonames& sonames) : sonames_(sonames) {}

    void add_sonames(bool if_loaded) {
        for (const std::string_view soname : sonames_)
            found_.push_back({.name = std::string(soname), .if_loaded = if_loaded});
    }

    // Every libcupti in `folder` that exists.
    void add_folder(const fs::path& folder) {
        for (const std::string_view soname : sonames_) {
            std::error_code ignored;
            if (fs::exists(folder / soname, ignored))
                found_.push_back({.name = (folder / soname).string()});
        }
    }

    // The user's choice: a file, or a folder that should hold one. It need not exist: then loading
    // it says so.
    void add_demanded(const fs::path& named) {
        std::error_code ignored;
        fs::path file = named;
        if (fs::is_directory(named, ignored)) {
            const bool has_first = fs::exists(named / sonames_[0], ignored);
            const bool has_second = fs::exists(named / sonames_[1], ignored);
            file = named / sonames_[!has_first && has_second ? 1 : 0];
        }
        found_.push_back({.name = file.string(), .is_demanded = true});
    }

    // The folders of a CUDA toolkit that hold libcupti: NVIDIA's installers put it into
    // extras/CUPTI/lib64, Debian and container images also into lib64 or lib.
    void add_toolkit(const fs::path& toolkit) {
        for (const char* folder :
             {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib"})
            add_folder(toolkit / folder);
    }

    std::vector<LibraryCandidate> take() { return std::move(found_); }

 private:
    Sonames sonames_;
    std::vector<LibraryCandidate> found_;
};

std::vector<fs::path> subfolders(const fs::path& folder, std::string_view prefix) {
    std::vector<fs::path> found;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error))
        if (entry->path().filename().string().starts_with(prefix)) found.push_back(entry->path());
    return found;
}

// "cuda-12.10" -> 12010, so that 12.10 is newer than 12.9.
std::uint32_t toolkit_version(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const char* const end = name.data() + name.size();
    std::uint32_t major = 0;
    std::uint32_t minor = 0;
    const auto after_major =
        std::from_chars(name.data() + std::min<std::size_t>(5, name.size()), end, major);
    if (after_major.ptr != end) std::from_chars(after_major.ptr + 1, end, minor);
    return major * 1000 + minor;
}

void add_python_packages(Candidates& candidates, const fs::path& virtual_env) {
    for (const fs::path& python : subfolders(virtual_env / "lib", "python"))
        for (const char* package : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"})
            candidates.add_folder(python / "site-packages" / package);
}

void add_installed_toolkits(Candidates& candidates, const fs::path& root) {
    const fs::path home = root / "usr/local";
    candidates.add_toolkit(home / "cuda");
    std::vector<fs::path> versioned = subfolders(home, "cuda-");
    std::ranges::sort(versioned, std::ranges::greater{}, toolkit_version);
    for (const fs::path& toolkit : versioned) candidates.add_toolkit(toolkit);
}

// The folder that a variable names. A relative one would depend on where the program is started, so
// that another user's library could be loaded.
std::optional<fs::path> folder_in(const LibrarySearch& search, const char* variable) {
    const auto value = search.environment(variable);
    if (!value || !fs::path(*value).is_absolute()) return std::nullopt;
    return *value;
}

}  // namespace

LibrarySearch process_library_search(std::uint32_t driver_version) {
    const auto environment = [](const char* name) -> std::optional<std::string> {
        const char* value = std::getenv(name);
        if (value == nullptr || *value == '\0') return std::nullopt;
        return value;
    };
    return {.environment = environment, .root = "/", .driver_version = driver_version};
}

std::vector<LibraryCandidate> library_candidates(const LibrarySearch& search) {
    Candidates candidates(sonames_for(search.driver_version));
    candidates.add_sonames(true);
    if (const auto demanded = search.environment("COALPROF_CUPTI"))
        candidates.add_demanded(*demanded);
    candidates.add_sonames(false);
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const auto toolkit = folder_in(search, variable)) candidates.add_toolkit(*toolkit);
    if (const auto prefix = folder_in(search, "CONDA_PREFIX"))
        candidates.add_folder(*prefix / "lib");
    if (const auto virtual_env = folder_in(search, "VIRTUAL_ENV"))
        add_python_packages(candidates, *virtual_env);
    add_installed_toolkits(candidates, search.root);
    return candidates.take();
}

std::string describe_cupti_failure(int code, std::string_view doing) {
    const auto found = std::ranges::find(failures, code, &CuptiFailure::code);
    if (found == failures.end())
        return fmt::format(
            "cannot {}: CUPTI answered {}, which no call of coalprof's should answer: please "
            "report "
            "it with this line",
            doing, code);
    return fmt::format("cannot {}: {} ({}). {}", doing, found->reason, found->name, found->remedy);
}

void check_cupti(int code, std::string_view doing) {
    if (code != 0) throw CountersError(describe_cupti_failure(code, doing));
}

}  // namespace coalprof
