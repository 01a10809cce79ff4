// The launch of a kernel where none is given: the one that the host's part of its file makes, else
// one of a million threads.
#pragma once

#include <string>
#include <vector>

#include "cli/nvcc.h"
#include "core/kernel/kernel_launches.h"

namespace coalprof {

struct SourceLaunch {
    KernelChoice choice;
    Warning note;       // what was worked out, or assumed
    std::string place;  // "main.cu:81"; empty: it is assumed
};

// True if the kernel has a parameter that "NAME=VALUE" names.
bool takes(const Code& code, const std::string& typed);

// `places`: where it may be launched; the first that does so counts. `typed` arguments come before
// those of the host code. Throws UsageError that names what cannot be worked out and decides
// addresses or branches.
std::vector<SourceLaunch> launches_of_kernel(
    const Code& code, const std::vector<const std::vector<PlacedLaunch>*>& places,
    const std::vector<std::string>& typed);

}  // namespace coalprof
