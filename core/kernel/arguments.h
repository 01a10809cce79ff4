// The arguments of a kernel as typed: "n=1000", "2=3.5", "x=f32[1048576]=iota", "col=@col.npy".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/execute.h"

namespace coalprof {

struct KernelArguments {
    std::vector<std::string> typed;        // each NAME_OR_POSITION=VALUE
    std::vector<std::string> known_names;  // of the source's parameters, where it has them
};

// A launch with its arrays. Pointers that are not given are as large as what is touched.
struct BoundLaunch {
    KernelLaunch launch;
    LaunchMemory memory;
};

// Throws UsageError: an unknown name, a value that does not fit, a scalar that is missing although
// an address or a branch depends on it (it lists all parameters).
BoundLaunch bind_arguments(const Code& code, const KernelArguments& arguments);

// "0: float* x, 1: unsigned n": what --list and errors say of a kernel's parameters.
std::string describe_parameters(const Code& code, const std::vector<std::string>& names);

}  // namespace coalprof
