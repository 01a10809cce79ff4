#include "cupti/attach/frameworks.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "cupti/attach/stand_in.h"
#include "cupti/attach/xla.h"

namespace coalprof {
namespace {

// The last release whose PTX all versions of Triton know by the same number.
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

}  // namespace coalprof
