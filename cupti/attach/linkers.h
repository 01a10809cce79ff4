// What has code count itself that a program links with NVIDIA's linker, nvJitLink, which the driver
// does not know of (Numba, cuda.core): environment variables of the program. See
// linking/library.cpp.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coalprof {

// Whether a library's file name is the linker's, or that of cuda.bindings which loads it when code
// is to be linked first.
bool may_hold_linker(const std::string& path);

// Of libraries that the program has loaded, what its environment is to be: none where there is no
// such linker among them, one of a release that is not known (12 and 13 are), or two of different
// ones, of which nobody could tell whose a link is.
// `library`: the one that stands before it. `folder` is to outlive the program: Numba's cache goes
// there, as the user's must not get code that counts itself.
std::vector<std::pair<std::string, std::string>> variables_for_linkers(
    const std::set<std::string>& libraries, const std::string& folder, const std::string& library);

}  // namespace coalprof
