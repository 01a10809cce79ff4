// Makes XLA, by which JAX compiles, pass PTX to the driver. Written from the source of XLA and JAX
// (xla/stream_executor/cuda: subprocess_compilation.cc, assemble_compilation_provider.cc;
// jax/_src/lib/__init__.py, 2026-11).
//
// XLA calls ptxas where flags keep it from NVIDIA's libraries, and looks first where
// xla_gpu_cuda_data_dir says. JAX sets that one anew for each program, from CUDA_ROOT, or from what
// pip has installed: so the flag alone changes nothing. It calls ptxas with --version; with PTX of
// a version that cannot be, to read in the complaint which one is the highest; and then with a file
// without an end, "-o FILE" and "-arch=sm_90a".
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coalprof {

// True if a library's file name is one of XLA's or JAX's.
bool may_hold_xla(const std::string& path);

// The program's environment, given the libraries that it has loaded: none where there is no XLA
// among them that calls ptxas, where the user's XLA_FLAGS choose its compiler, or where it cannot
// be set. An unknown flag would end the program, so each is searched for in the libraries. `folder`
// must outlive the program; `driver_version` as in variables_for_ptx().
std::vector<std::pair<std::string, std::string>> variables_for_xla(
    const std::set<std::string>& libraries, const std::string& folder, int driver_version);

}  // namespace coalprof
