// The files that `coalprof kernel` was given, and the launches of their kernels that it answers
// for: those of --grid and --block, else those that the host code makes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "cli/kernel_options.h"
#include "core/runtime/work_limits.h"

namespace coalprof {

// `first`, then those of the words that are files, which are taken out of `words`; in place of a
// folder the CUDA sources and PTX in it. Throws UsageError, Error.
std::vector<std::string> kernel_files(const std::string& first, std::vector<std::string>& words);

// A kernel with its launches.
struct LaunchedKernel {
    KernelFiles* files = nullptr;
    std::string name;
    KernelAxes axes = {};
    std::vector<KernelChoice> choices = {};
    std::vector<Warning> notes = {};      // of launches that the host code makes
    std::string place = {};               // of the first of them
    std::vector<std::string> types = {};  // of its parameters
};

// All kernels that were asked for, and why others have no launch.
struct LaunchedKernels {
    std::vector<LaunchedKernel> kernels;
    std::vector<Warning> skipped = {};
    bool are_of_source = false;

    std::uint64_t launches() const;
    // Kernels that take the same arguments are several ways to do one thing.
    bool are_variants() const;
};

// What stands in the way of a kernel or a file.
Warning skipped(const std::string& what, const UsageError& error);

// The host code's. `names`: none means all kernels. Throws UsageError where no kernel has a launch.
LaunchedKernels launches_of_source(std::deque<KernelFiles>& files,
                                   const std::vector<std::string>& names, const Machine& machine,
                                   const LimitsHeld& limits);

// Those of --grid and --block, one for all or one for each kernel. Throws UsageError.
LaunchedKernels launches_of_options(std::deque<KernelFiles>& files,
                                    const std::vector<std::string>& names, bool means_all,
                                    const std::vector<std::string>& grids,
                                    const std::vector<std::string>& blocks, const Machine& machine);

}  // namespace coalprof
