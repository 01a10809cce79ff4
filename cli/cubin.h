// The resources of compiled kernels, asked of NVIDIA's cuobjdump. No shell takes part: the file's
// name reaches the tool as it was typed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coalprof {

struct CubinKernel {
    std::string name;
    std::uint32_t registers = 0;     // per thread
    std::uint64_t shared_bytes = 0;  // static, per block
};

// Throws Error when cuobjdump is not there (ExitCode::environment) or the file holds no kernel that
// it can read (ExitCode::usage), Stopped when a signal asks for the end. Names are as the file has
// them: printable() belongs before a terminal.
std::vector<CubinKernel> read_cubin(const std::string& path);

// The kernels in what `cuobjdump --dump-resource-usage` prints.
std::vector<CubinKernel> kernels_in(const std::string& resource_usage);

}  // namespace coalprof
