#include "cupti/attach/stand_in.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <utility>

#include "core/text/describe.h"

namespace coalprof {
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
