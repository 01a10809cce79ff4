// The launch of a kernel where none is given: the one that the host's part of its file makes, else
// one of a million threads.
#pragma once

#include <array>
#include <cstdint>
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

// A million threads in as many dimensions as the kernel reads.
Dimensions assumed_block(const Code& code);
GridSize assumed_grid(const Code& code);
std::array<std::uint64_t, 3> threads_of(const KernelChoice& choice);  // of its grid

// Gives a launch the numbers that it lacks, and says so behind `text` and `options`, what of it was
// assumed before: " --block 256". W-SOURCE where nothing is assumed.
Warning with_numbers(const Code& code, KernelChoice& choice,
                     const std::array<std::uint64_t, 3>& threads, std::string text,
                     std::string options);

// `places`: where it may be launched; the first that does so counts. `typed` arguments come before
// those of the host code.
std::vector<SourceLaunch> launches_of_kernel(
    const Code& code, const std::vector<const std::vector<PlacedLaunch>*>& places,
    const std::vector<std::string>& typed);

}  // namespace coalprof
