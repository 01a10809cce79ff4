#include "cupti/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

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
