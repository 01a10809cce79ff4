// The places of libcupti in search order. Pure: it looks at an environment and a folder tree that
// tests can plant.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace coalprof {

struct LibrarySearch {
    std::function<std::optional<std::string>(const char*)> environment;
    std::filesystem::path root = "/";
    // CUDA version of the driver, 13000 for 13.0; 0: not known. libcupti.so.13 does not work with a
    // driver older than 13.0, but libcupti.so.12 works with newer ones, so an old driver is offered
    // .12 first.
    std::uint32_t driver_version = 0;
};

// The environment of this process and the real file system.
LibrarySearch process_library_search(std::uint32_t driver_version);

struct LibraryCandidate {
    std::string name;          // for dlopen: a soname or an absolute path
    bool if_loaded = false;    // only if the process has it already
    bool is_demanded = false;  // the user's choice: if it does not load, nothing else is tried
};

// Already loaded; $COALPROF_CUPTI (a file, or a folder that holds one); by soname, as the loader is
// set up; $CUDA_HOME and $CUDA_PATH; $CONDA_PREFIX and the Python packages of $VIRTUAL_ENV;
// /usr/local/cuda, then /usr/local/cuda-* from the newest on. Paths must exist, and variables must
// hold absolute paths: load_cupti() refuses another one in COALPROF_CUPTI.
std::vector<LibraryCandidate> library_candidates(const LibrarySearch& search);

}  // namespace coalprof
