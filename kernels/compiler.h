// CUDA source to code for one GPU, through NVRTC. Equal requests are compiled once; requests can
// be made ahead, so that compiling overlaps with the start of the driver.
#pragma once

#include <nvrtc.h>

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/pattern/plan.h"

namespace coalprof {

// NVRTC, the run-time compiler, behind a table: loaded by name at run time, replaced by a fake in
// tests.
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

struct CompileRequest {
    std::string source;
    LoadModifier dlcm = LoadModifier::ca;
    StoreModifier dscm = StoreModifier::wb;
};

struct Compiled {
    std::string code;  // cubin, or PTX where NVRTC does not know the GPU
    std::string ptx;
    std::string architecture;  // "sm_90", or "compute_90" for PTX
    bool is_ptx = false;
};

class Compiler {
 public:
    // `nvrtc` may still be loading; a library without a table makes every request fail with its
    // sentence. `compute_capability` is 90 for 9.0.
    Compiler(std::shared_future<NvrtcLibrary> nvrtc, int compute_capability);

    // Starts to compile in another thread.
    void compile_ahead(const CompileRequest& request);
    // Waits for the code. Throws Error: ExitCode::environment where NVRTC is missing or too old or
    // too new for the GPU, an internal one where the source does not compile; and PointError where
    // NVRTC failed otherwise (memory): then the same request is compiled anew the next time.
    std::shared_ptr<const Compiled> compile(const CompileRequest& request);

    // 13000 for NVRTC 13.0. Throws where NVRTC is missing.
    std::uint32_t version();

 private:
    using Answer = std::shared_future<std::shared_ptr<const Compiled>>;

    Answer answer_for(const CompileRequest& request);
    void forget(const CompileRequest& request);

    std::shared_future<NvrtcLibrary> nvrtc_;
    int compute_capability_;
    std::mutex mutex_;
    std::map<std::string, Answer> answers_;  // options and source -> answer
};

// Compute capabilities that NVRTC compiles for (75, 80, ...), in rising order.
std::vector<int> supported_architectures(const NvrtcApi& api);

// The text of the kernels and of the headers that they share with the host, embedded when the
// program is built (embed.cmake).

struct SourceFile {
    const char* name;  // name for #include: "core/pattern/formulas.h"
    const char* text;
};

std::span<const SourceFile> embedded_sources();

}  // namespace coalprof
