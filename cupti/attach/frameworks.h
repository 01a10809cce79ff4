// Environment variables that make Python frameworks pass PTX to the driver, which `run --lines`
// rewrites when it is loaded, instead of machine code.
//
// Triton, and torch.compile with it, calls the compiler that TRITON_PTXAS_PATH names (from compute
// capability 10.0 on TRITON_PTXAS_BLACKWELL_PATH): once with --version, of which it reads the
// release and with it the version of PTX that it may write, then with the PTX's file and "-o FILE".
// Our stand-in passes the PTX on unchanged. Code that they find in their caches is not compiled.
// CuPy keeps machine code and PTX in the same files of its cache. Seen with Triton of PyTorch 2.11
// and CuPy 14.2 on an H100 (2026-11-23). For JAX see below.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace coalprof {

// By name; a framework whose first variable is set already is left alone. Its others override the
// user's. `folder` must outlive the program: the stand-in for the compiler and caches go there.
// `driver_version`: CUDA's version in the driver, 13000 is 13.0, which limits the PTX that it
// compiles; 0: not known. `libraries`: those that the program has loaded.
std::vector<std::pair<std::string, std::string>> variables_for_ptx(
    const std::string& folder, int driver_version, const std::set<std::string>& libraries = {});

// Environment variables for counting in code that a program links with NVIDIA's linker, nvJitLink,
// unknown to the driver (Numba, cuda.core). See linking/library.cpp.

// True if a library's file name is the linker's, or that of cuda.bindings which loads it when code
// is to be linked first.
bool may_hold_linker(const std::string& path);

// The program's environment, given the libraries that it has loaded: none where there is no such
// linker among them, one of a release that is not known (12 and 13 are), or two of different ones,
// since a link could then be either's.
// `library`: the one that replaces it. `folder` must outlive the program: Numba's cache goes there,
// as the user's must not get code that counts itself.
std::vector<std::pair<std::string, std::string>> variables_for_linkers(
    const std::set<std::string>& libraries, const std::string& folder, const std::string& library);

// Makes XLA, by which JAX compiles, pass PTX to the driver. Written from the source of XLA and JAX
// (xla/stream_executor/cuda: subprocess_compilation.cc, assemble_compilation_provider.cc;
// jax/_src/lib/__init__.py, 2026-11).
//
// XLA calls ptxas where flags keep it from NVIDIA's libraries, and looks first where
// xla_gpu_cuda_data_dir says. JAX sets that one anew for each program, from CUDA_ROOT, or from what
// pip has installed: so the flag alone changes nothing. It calls ptxas with --version; with PTX of
// a version that cannot be, to read in the complaint which one is the highest; and then with a file
// without an end, "-o FILE" and "-arch=sm_90a".
//
// True if a library's file name is one of XLA's or JAX's.
bool may_hold_xla(const std::string& path);

// The program's environment, given the libraries that it has loaded: none where there is no XLA
// among them that calls ptxas, where the user's XLA_FLAGS choose its compiler, or where it cannot
// be set. An unknown flag would end the program, so each is searched for in the libraries. `folder`
// must outlive the program; `driver_version` as in variables_for_ptx().
std::vector<std::pair<std::string, std::string>> variables_for_xla(
    const std::set<std::string>& libraries, const std::string& folder, int driver_version);

}  // namespace coalprof
