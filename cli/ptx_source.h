// The PTX of a file that a user names: PTX itself, CUDA source that nvcc compiles, or a program,
// library, object or fat binary that holds PTX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/nvcc.h"

namespace coalprof {

struct PtxTexts {
    std::vector<std::string> made;        // texts that were unpacked or compiled
    std::vector<std::string_view> texts;  // in `made` or the file; one for each part of a program
    CompiledCuda compiled = {};           // of CUDA source; its PTX is in `made`
};

// Throws UsageError for "FILE.cu:3" of a file that is there.
void refuse_line(const std::string& file);
// The bytes of the file. Throws UsageError, Stopped.
std::string read_ptx_source(const std::string& file);
// Throws Error: UsageError where there is no PTX in it, ExitCode::environment where nvcc is needed
// and missing.
PtxTexts ptx_texts_of(const CudaSource& source);

}  // namespace coalprof
