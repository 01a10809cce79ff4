#include "kernels/driver_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "core/runtime/steps.h"

namespace coalprof {

namespace {

// The reason for cuInit's error, for the user: cudart does not distinguish them ("insufficient
// driver" is answered for no driver at all).
std::string why_refused(const DriverApi& api, CUresult status) {
    const std::string answer = describe(api, status);
    switch (status) {
        case CUDA_ERROR_STUB_LIBRARY:
            return fmt::format(
                "no GPU: {} is the CUDA toolkit's stub, not the driver's library. Remove the "
                "toolkit's .../stubs directory from LD_LIBRARY_PATH",
                driver_library_name);
        case CUDA_ERROR_NO_DEVICE:
            return std::getenv("CUDA_VISIBLE_DEVICES") == nullptr
                       ? "no GPU: the NVIDIA driver is there, but it finds no CUDA device"
                       : "no GPU: the NVIDIA driver finds no CUDA device that CUDA_VISIBLE_DEVICES "
                         "lets this process see";
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
            return fmt::format(
                "no GPU: the driver's library and its kernel module do not fit together ({}). "
                "Reboot after a driver update; in a container, remove the CUDA compatibility "
                "package or update the host's driver",
                answer);
        default: return fmt::format("no GPU: the NVIDIA driver did not start: {}", answer);
    }
}

}  // namespace

DriverLibrary load_driver() {
    DriverLibrary library;
    void* handle = driver_library();
    if (handle == nullptr) {
        library.sentence = fmt::format(
            "no GPU: the NVIDIA driver is not installed ({} was not found)", driver_library_name);
        return library;
    }
    DriverApi api;
    const char* missing = nullptr;
#define COALPROF_LOAD(member, symbol)                                            \
    api.member = reinterpret_cast<decltype(api.member)>(dlsym(handle, #symbol)); \
    if (api.member == nullptr && missing == nullptr) missing = #symbol;
    COALPROF_DRIVER_CALLS(COALPROF_LOAD)
#undef COALPROF_LOAD
    if (missing != nullptr) {
        library.sentence = fmt::format(
            "no GPU: the NVIDIA driver is too old: {} has no {}. Install a driver for CUDA 11 or "
            "newer",
            driver_library_name, missing);
        return library;
    }
    library.api = api;
    return library;
}

DriverState start_driver(const DriverApi& api) {
    const Step step("driver asked");  // the first call starts it
    DriverState state;
    // Works before cuInit; 0 if only the stub is installed.
    if (api.driver_version(&state.version) != CUDA_SUCCESS) state.version = 0;
    CUresult status = api.init(0);
    if (status == CUDA_SUCCESS) status = api.device_count(&state.devices);
    if (status == CUDA_SUCCESS && state.devices < 1) status = CUDA_ERROR_NO_DEVICE;
    if (status != CUDA_SUCCESS)
        state = {.sentence = why_refused(api, status), .version = state.version};
    return state;
}

std::string describe(const DriverApi& api, CUresult status) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (api.error_name(status, &name) != CUDA_SUCCESS || name == nullptr)
        return fmt::format("CUDA error {}", static_cast<int>(status));
    if (api.error_string(status, &text) != CUDA_SUCCESS || text == nullptr) return name;
    return fmt::format("{} ({})", text, name);
}

// Codes after which, by cuda.h, the process must be relaunched, and those after which the device or
// the context is lost.
bool is_sticky(CUresult status) {
    switch (static_cast<int>(status)) {
        case CUDA_ERROR_DEINITIALIZED:
        case CUDA_ERROR_DEVICE_UNAVAILABLE:
        case CUDA_ERROR_INVALID_CONTEXT:
        case CUDA_ERROR_ECC_UNCORRECTABLE:
        case CUDA_ERROR_NVLINK_UNCORRECTABLE:
        case 226:  // CUDA_ERROR_CONTAINED, not in every 12.x header
        case CUDA_ERROR_ILLEGAL_ADDRESS:
        case CUDA_ERROR_LAUNCH_TIMEOUT:
        case CUDA_ERROR_CONTEXT_IS_DESTROYED:
        case CUDA_ERROR_ASSERT:
        case CUDA_ERROR_HARDWARE_STACK_ERROR:
        case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        case CUDA_ERROR_MISALIGNED_ADDRESS:
        case CUDA_ERROR_INVALID_ADDRESS_SPACE:
        case CUDA_ERROR_INVALID_PC:
        case CUDA_ERROR_LAUNCH_FAILED:
        case 721:  // CUDA_ERROR_TENSOR_MEMORY_LEAK, likewise
        case CUDA_ERROR_MPS_CLIENT_TERMINATED:
        case CUDA_ERROR_EXTERNAL_DEVICE:
        case CUDA_ERROR_UNKNOWN: return true;
        default: return false;
    }
}

void check(const DriverApi& api, CUresult status, std::string_view doing) {
    if (status == CUDA_SUCCESS) return;
    if (is_sticky(status))
        throw DeviceLostError(fmt::format("cannot {}: {}. This process can no longer use the GPU",
                                          doing, describe(api, status)),
                              ExitCode::partial);
    throw PointError(fmt::format("cannot {}: {}", doing, describe(api, status)), ExitCode::partial);
}

}  // namespace coalprof
