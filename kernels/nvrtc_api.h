// NVRTC, the run-time compiler, behind a table: loaded by name at run time, replaced by a fake in
// tests.
#pragma once

#include <nvrtc.h>

#include <optional>
#include <string>
#include <vector>

namespace coalprof {

#define COALPROF_NVRTC_CALLS(X)                      \
    X(version, nvrtcVersion)                         \
    X(error_string, nvrtcGetErrorString)             \
    X(architecture_count, nvrtcGetNumSupportedArchs) \
    X(architectures, nvrtcGetSupportedArchs)         \
    X(create_program, nvrtcCreateProgram)            \
    X(destroy_program, nvrtcDestroyProgram)          \
    X(compile_program, nvrtcCompileProgram)          \
    X(log_size, nvrtcGetProgramLogSize)              \
    X(log, nvrtcGetProgramLog)                       \
    X(cubin_size, nvrtcGetCUBINSize)                 \
    X(cubin, nvrtcGetCUBIN)                          \
    X(ptx_size, nvrtcGetPTXSize)                     \
    X(ptx, nvrtcGetPTX)

struct NvrtcApi {
#define COALPROF_NVRTC_MEMBER(member, symbol) decltype(&::symbol) member = nullptr;
    COALPROF_NVRTC_CALLS(COALPROF_NVRTC_MEMBER)
#undef COALPROF_NVRTC_MEMBER
};

struct NvrtcLibrary {
    std::optional<NvrtcApi> api;  // none: see sentence
    std::string path;             // the file that was loaded
    std::string sentence;         // the reason why there is none, and a remedy
};

// Places where NVRTC is looked for, best first: one already loaded, then $CUDA_HOME, $CUDA_PATH,
// the loader's own search, /usr/local/cuda. The release that fits the driver (13020 is CUDA 13.2;
// 0: not known) comes first, because a driver cannot load code from a newer major release.
std::vector<std::string> nvrtc_candidates(int driver_version);

NvrtcLibrary load_nvrtc(int driver_version);

// 13000 for NVRTC 13.0; 0 where it does not say.
int version_of(const NvrtcApi& api);

}  // namespace coalprof
