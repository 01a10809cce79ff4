// The arguments of a kernel as typed: "n=1000", "2=3.5", "x=f32[1048576]=iota", "col=@col.npy",
// "y=x" for a pointer to another one's target.
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

// A launch with its arrays. Arrays of pointers that are not given are as large as the touched
// places.
struct BoundLaunch {
    KernelLaunch launch;
    LaunchMemory memory;
};

// Throws UsageError: an unknown name, a value that does not fit, a scalar that is missing although
// an address or a branch depends on it. Where pointers share an array, the code is marked anew:
// values that one stores the other loads.
BoundLaunch bind_arguments(Code& code, const KernelArguments& arguments);

// True if "NAME=VALUE" names one of its parameters.
bool takes_argument(const Code& code, const std::vector<std::string>& names,
                    const std::string& typed);

// An argument that a launch lacks.
struct MissingArgument {
    std::string text;     // "--arg n (int)"
    std::string option;   // "--arg"
    std::string example;  // "n=1000"
};
// Throws UsageError naming `missing` and every number or structure that decides addresses or
// branches and was not given, with the option to add.
void require_nothing_missing(const Code& code, const KernelArguments& arguments,
                             std::vector<MissingArgument> missing);

// "scale<float, 4>": a kernel's name with its template arguments.
std::string long_kernel_name(const std::string& symbol);

// "x (float*), 1 (u32)": a kernel's parameters for --list and errors. Types are those of the source
// as far as the symbol keeps them.
std::string describe_parameters(const Code& code, const std::vector<std::string>& names);

}  // namespace coalprof
