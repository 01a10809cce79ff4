// What has XLA, by which JAX compiles, hand PTX to the driver. Written from XLA's and JAX's own
// source (xla/stream_executor/cuda: subprocess_compilation.cc, assemble_compilation_provider.cc;
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

// Whether a library's file name is one of XLA's or JAX's.
bool may_hold_xla(const std::string& path);

// Of libraries that the program has loaded, what its environment is to be: none where there is no
// XLA among them that calls ptxas, where the user's XLA_FLAGS choose its compiler, or where it
// cannot be. An unknown flag would end the program, so each is looked for in the libraries.
// `folder` is to outlive the program; `driver_version` as in variables_for_ptx().
std::vector<std::pair<std::string, std::string>> variables_for_xla(
    const std::set<std::string>& libraries, const std::string& folder, int driver_version);

}  // namespace coalprof
