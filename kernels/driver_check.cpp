#include "kernels/driver_check.h"

#include <fmt/format.h>

namespace coalprof {

std::string describe(const DriverApi& api, CUresult status) {
    const char* name = nullptr;
    const char* text = nullptr;
    if (api.error_name(status, &name) != CUDA_SUCCESS || name == nullptr)
        return fmt::format("CUDA error {}", static_cast<int>(status));
    if (api.error_string(status, &text) != CUDA_SUCCESS || text == nullptr) return name;
    return fmt::format("{} ({})", text, name);
}

// The codes of which cuda.h says that the process must be terminated and relaunched, and those
// after which the device or the context is gone.
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
        case CUDA_ERROR_UNKNOWN:
            return true;
        default:
            return false;
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
