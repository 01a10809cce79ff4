// The arguments of a kernel as typed: "n=1000", "2=3.5", "x=f32[1048576]=iota", "col=@col.npy",
// "y=x" for a pointer to another one's target.
#pragma once

#include <array>
#include <cstdint>
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
// fit, an argument that is missing although an address or a branch depends on it. Where pointers
// share an array, the code is marked anew: values that one stores the other loads.
BoundLaunch bind_arguments(Code& code, const std::vector<std::string>& typed);

// The parameter that "NAME", "NAME=VALUE" or "2=VALUE" names.
std::optional<std::size_t> parameter_of(const Code& code, const std::string& typed);

// For numbers that decide addresses or branches and are not given, each NAME=VALUE: sizes as
// core/program/thread_bounds.h has them, 1024 where it has none, 1 of reals and truths. Not for
// structures that are no numbers, and strides in those that have no names.
std::vector<std::string> assumed_arguments(const Code& code, const std::vector<std::string>& typed,
                                           const std::array<std::uint64_t, 3>& threads);

// "x (float*), 1 (u32)": a kernel's parameters for --list and errors. Types are those of the source
// as far as they are known.
std::string describe_parameters(const Code& code);

}  // namespace coalprof
