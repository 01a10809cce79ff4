#include "cupti/attach/frameworks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace coalprof {
namespace {

// Told and asked as ptxas is; the driver compiles what it writes: PTX as text with a zero behind
// it.
constexpr const char* stand_in_code = R"(#!/bin/sh
# Stands in for ptxas while coalprof run --lines runs: hands PTX to the driver as it is.
PATH=/usr/bin:/bin${{PATH:+:$PATH}}
if [ "$1" = --version ]; then
    echo 'coalprof: PTX for the driver'
    echo 'Cuda compilation tools, release {0}, V{0}.0'
    exit 0
fi
ptx= code=
while [ $# -gt 0 ]; do
    case $1 in
        -o|--output-file) code=$2; shift ;;
        --gpu-name|-arch) shift ;;
        -*) ;;
        *) [ ! -f "$1" ] || ptx=$1 ;;
    esac
    [ $# -eq 0 ] || shift
done
[ -n "$ptx" ] && [ -n "$code" ] && cat "$ptx" > "$code" && printf '\0' >> "$code"
)";

// Releases of CUDA whose PTX all versions of Triton know by the same number. GPUs that need a later
// one are served by newer Tritons.
constexpr int release_for_triton = 12080;
constexpr int release_for_triton_blackwell = 12090;

bool write_stand_in(const std::string& path, int release) {
    std::ofstream file(path);
    file << fmt::format(stand_in_code, fmt::format("{}.{}", release / 1000, release % 1000 / 10));
    file.close();
    // A file system may forbid to execute what lies on it.
    return file && ::chmod(path.c_str(), 0700) == 0 && ::access(path.c_str(), X_OK) == 0;
}

struct StandIns {
    std::string usual;
    std::string blackwell;
    bool are_there = false;
};

StandIns write_stand_ins(const std::string& folder, int driver_version) {
    StandIns all{.usual = folder + "/ptxas", .blackwell = folder + "/ptxas-blackwell"};
    if (driver_version == 0) return all;
    all.are_there =
        write_stand_in(all.usual, std::min(driver_version, release_for_triton)) &&
        write_stand_in(all.blackwell, std::min(driver_version, release_for_triton_blackwell));
    return all;
}

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

}  // namespace

NamesAndValues variables_for_ptx(const std::string& folder, int driver_version) {
    NamesAndValues all;
    // The user's lasting caches hold machine code, and must not get PTX.
    if (!is_set("CUPY_COMPILE_WITH_PTX"))
        all = {{"CUPY_COMPILE_WITH_PTX", "1"}, {"CUPY_CACHE_IN_MEMORY", "1"}};
    const StandIns compilers = write_stand_ins(folder, driver_version);
    if (compilers.are_there && !is_set("TRITON_PTXAS_PATH"))
        all.insert(all.end(), {{"TRITON_PTXAS_PATH", compilers.usual},
                               {"TRITON_PTXAS_BLACKWELL_PATH", compilers.blackwell},
                               {"TRITON_CACHE_DIR", folder + "/triton"},
                               {"TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1"}});
    return all;
}

}  // namespace coalprof
