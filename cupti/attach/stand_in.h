// A program that stands in for ptxas: asked as it is, it hands on the PTX that it should compile,
// as text with a zero behind it, which the driver compiles.
#pragma once

#include <string>

namespace coalprof {

// Of CUDA, 12090 is 12.9: the last one whose PTX the frameworks know by the same number. GPUs that
// need a later one are served by newer frameworks.
inline constexpr int latest_release = 12090;

struct StandIn {
    int release = latest_release;  // that it says it is of, which limits the PTX that it is given
    // Empty: whoever calls it gets PTX. Else others than XLA may, who are served by this program:
    // they hand over files with the ending .ptx, or want code that is linked.
    std::string compiler_of_others = {};
};

// Whether it was written and may be started: a file system may forbid to execute what lies on it.
bool write_stand_in(const std::string& path, const StandIn& stand_in);

}  // namespace coalprof
