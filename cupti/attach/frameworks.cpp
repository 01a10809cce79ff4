#include "cupti/attach/frameworks.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/text/describe.h"
#include "cupti/attach/xla.h"

namespace coalprof {
namespace {

// The last release with the same PTX number in all versions of Triton.
constexpr int release_for_triton = 12080;

struct StandIns {
    std::string usual;
    std::string blackwell;
    bool are_there = false;
};

StandIns write_stand_ins(const std::string& folder, int driver_version) {
    StandIns all{.usual = folder + "/ptxas", .blackwell = folder + "/ptxas-blackwell"};
    if (driver_version == 0) return all;
    all.are_there =
        write_stand_in(all.usual, {.release = std::min(driver_version, release_for_triton)}) &&
        write_stand_in(all.blackwell, {.release = std::min(driver_version, latest_release)});
    return all;
}

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

}  // namespace

NamesAndValues variables_for_ptx(const std::string& folder, int driver_version,
                                 const std::set<std::string>& libraries) {
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
    std::ranges::move(variables_for_xla(libraries, folder, driver_version),
                      std::back_inserter(all));
    return all;
}

namespace {

constexpr const char* linker_name = "libnvJitLink.so.";
constexpr const char* preload_variable = "LD_PRELOAD";

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

}  // namespace

bool may_hold_linker(const std::string& path) {
    const std::string name = file_name(path);
    return name.starts_with(linker_name) || name.starts_with("nvjitlink.");
}

std::vector<std::pair<std::string, std::string>> variables_for_linkers(
    const std::set<std::string>& libraries, const std::string& folder, const std::string& library) {
    bool may_link = false;
    std::set<std::string> releases;
    for (const std::string& path : libraries) {
        may_link = may_link || may_hold_linker(path);
        const std::string name = file_name(path);
        if (name.starts_with(linker_name))
            releases.insert(name.substr(std::string_view(linker_name).size(), 2));
    }
    const bool is_known = std::ranges::all_of(
        releases, [](const std::string& one) { return one == "12" || one == "13"; });
    if (!may_link || !is_known || releases.size() > 1 || !std::filesystem::exists(library))
        return {};
    const char* theirs = std::getenv(preload_variable);
    return {{preload_variable, theirs && *theirs ? std::string(theirs) + ':' + library : library},
            {"NUMBA_CACHE_DIR", folder + "/numba"}};
}

namespace {

// {0}: release, {1}: version of PTX, {2}: the command for other callers.
constexpr const char* code = R"(#!/bin/sh
# Stands in for ptxas while coalprof run --lines runs: hands PTX to the driver as it is.
PATH=/usr/bin:/bin${{PATH:+:$PATH}}
if [ "$1" = --version ]; then
    echo 'coalprof: PTX for the driver'
    echo 'Cuda compilation tools, release {0}, V{0}.0'
    exit 0
fi
case "$*" in
    *--input-as-string*'.version 99.99'*)
        echo "ptxas application ptx input, line 1; fatal   : Unsupported .version 99.99; current version is '{1}'" >&2
        exit 255 ;;
esac
{2}ptx= code=
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

constexpr const char* code_for_others = R"(for word in "$@"; do
    case $word in
        *.ptx|-c|--compile-only|--input-as-string) exec '{}' "$@" ;;
    esac
done
)";

// PTX versions by CUDA's, from the table of the PTX ISA's release notes.
std::string ptx_version_of(int release) {
    constexpr std::array versions{std::pair{12090, "8.8"}, std::pair{12080, "8.7"},
                                  std::pair{12070, "8.6"}, std::pair{12050, "8.5"},
                                  std::pair{12040, "8.4"}, std::pair{12030, "8.3"},
                                  std::pair{12020, "8.2"}, std::pair{12010, "8.1"}};
    for (const auto& [first, version] : versions)
        if (release >= first) return version;
    return "8.0";
}

}  // namespace

bool write_stand_in(const std::string& path, const StandIn& stand_in) {
    const int release = stand_in.release;
    const std::string others =
        stand_in.compiler_of_others.empty()
            ? std::string()
            : fmt::format(code_for_others, within_single_quotes(stand_in.compiler_of_others));
    std::ofstream file(path);
    file << fmt::format(code, fmt::format("{}.{}", release / 1000, release % 1000 / 10),
                        ptx_version_of(release), others);
    file.close();
    return file && ::chmod(path.c_str(), 0700) == 0 && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace coalprof
