// The arguments of a kernel as typed: "n=1000", "2=3.5", "x=f32[1048576]=iota", "col=@col.npy",
// "y=x" for a pointer to another one's target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/program/execute.h"

namespace coalprof {

// A launch with its arrays. Arrays of pointers that are not given are as large as the touched
// places.
struct BoundLaunch {
    KernelLaunch launch;
    LaunchMemory memory;
};

// `typed`: each NAME_OR_POSITION=VALUE. Throws UsageError: an unknown name, a value that does not
// fit, a scalar that is missing although an address or a branch depends on it. Where pointers share
// an array, the code is marked anew: values that one stores the other loads.
BoundLaunch bind_arguments(Code& code, const std::vector<std::string>& typed);

// The parameter that "NAME", "NAME=VALUE" or "2=VALUE" names.
std::optional<std::size_t> parameter_of(const Code& code, const std::string& typed);

// An argument that a launch lacks.
struct MissingArgument {
    std::string text;     // "--arg n (int)"
    std::string option;   // "--arg"
    std::string example;  // "n=1000"
};
// Throws UsageError naming `missing` and every number or structure that decides addresses or
// branches and was not given, with the option to add.
void require_nothing_missing(const Code& code, const std::vector<std::string>& typed,
                             std::vector<MissingArgument> missing);

// "x (float*), 1 (u32)": a kernel's parameters for --list and errors. Types are those of the source
// as far as they are known.
std::string describe_parameters(const Code& code);

}  // namespace coalprof
