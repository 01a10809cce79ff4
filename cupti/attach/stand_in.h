// A program that replaces ptxas: it returns the PTX that it should compile, as text with a final
// zero, which the driver compiles.
#pragma once

#include <string>

namespace coalprof {

// A release of CUDA, 12090 is 12.9: the last one whose PTX the frameworks know by the same number.
// GPUs that need a later one are served by newer frameworks.
inline constexpr int latest_release = 12090;

struct StandIn {
    int release = latest_release;  // its stated release, which limits the PTX that it gets
    // Empty: every caller gets PTX. Else callers other than XLA are served by this program: they
    // pass files with the ending .ptx, or want code that is linked.
    std::string compiler_of_others = {};
};

// True if it was written and may be started: a file system may forbid to execute its files.
bool write_stand_in(const std::string& path, const StandIn& stand_in);

}  // namespace coalprof
