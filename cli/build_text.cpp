#include "cli/build_text.h"

#include <fmt/format.h>

#include <CLI/Version.hpp>

#include "build_commit.h"  // made by cmake/commit.cmake in each build
#include "core/text/utf8.h"
#include "core/write/list_json.h"

namespace coalprof {
namespace {

std::string cuda_text() {
#ifdef COALPROF_HAS_CUDA
    return "on, headers of CUDA " COALPROF_CUDA_VERSION;
#else
    return "off: the model answers alone";
#endif
}

std::string compiler_text() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace

std::string build_text() {
    const std::string commit = COALPROF_COMMIT;
    return fmt::format(
        "coalprof {}\n"
        "commit    {}\n"
        "compiler  {}\n"
        "cuda      {}\n"
        "libraries fmt {}.{}.{}, CLI11 {}, nlohmann/json {}, utf8proc {}\n",
        COALPROF_VERSION, commit.empty() ? "not known: built outside a git checkout" : commit,
        compiler_text(), cuda_text(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
        FMT_VERSION % 100, CLI11_VERSION, version_of_json_library(), version_of_utf8_library());
}

}  // namespace coalprof
