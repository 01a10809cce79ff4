// Launches that host code makes, from clang's own tree of it (-ast-dump=json): the program is gone
// through as if it were started without arguments, and what its numbers come to is kept.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// A number of the host, or the three of a dim3; nothing if it cannot be worked out.
using HostNumber = std::optional<double>;
using HostTriple = std::array<HostNumber, 3>;

struct HostLaunch {
    std::string kernel;     // its symbol on the device
    std::size_t place = 0;  // place in its file's text
    std::string file;       // name as the compiler was given it
    HostTriple grid, block;
    HostNumber shared_bytes;
    std::vector<HostNumber> arguments;
};

// `tree`: what clang prints. Only what stands outside of files below `toolkit` counts. Each launch
// once, in the order of execution; those of functions that nobody calls come last.
std::vector<HostLaunch> launches_in(std::string_view tree, std::string_view toolkit);

}  // namespace coalprof
