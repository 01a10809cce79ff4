// What has Python frameworks hand PTX to the driver, which `run --lines` rewrites when it is
// loaded, where they would hand over machine code: environment variables of the program.
//
// Triton, and torch.compile with it, calls the compiler that TRITON_PTXAS_PATH names (from compute
// capability 10.0 on TRITON_PTXAS_BLACKWELL_PATH): once with --version, of which it reads the
// release and with it the version of PTX that it may write, then with the PTX's file and "-o FILE".
// Ours hands the PTX on as it is. What they find in their caches they do not compile. CuPy keeps
// machine code and PTX in the same files of its cache. Seen with Triton of PyTorch 2.11 and CuPy
// 14.2 on an H100 (2026-11-23). For JAX see xla.h.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coalprof {

// By name; a framework whose first one is set already is left alone. Its others take the place of
// the user's. `folder` is to outlive the program: the stand-in for the compiler and caches go
// there. `driver_version`: of CUDA that the driver offers, 13000 is 13.0, which limits the PTX that
// it compiles; 0: not known. `libraries`: that the program has loaded.
std::vector<std::pair<std::string, std::string>> variables_for_ptx(
    const std::string& folder, int driver_version, const std::set<std::string>& libraries = {});

// What has code count itself that a program links with NVIDIA's linker, nvJitLink, which the driver
// does not know of (Numba, cuda.core): environment variables of the program. See
// linking/library.cpp.

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
