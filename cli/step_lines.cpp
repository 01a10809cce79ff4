#include "cli/step_lines.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

#include "cli/loaded_libraries.h"
#include "cli/print.h"
#include "core/runtime/steps.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct Sum {
    std::uint64_t count = 0;
    double seconds = 0;
};

// Never destroyed: a thread may still end a step of its own.
struct Steps {
    std::mutex mutex;
    std::map<std::string_view, Sum> many;
};
Steps& steps() {
    static auto& steps = *new Steps;
    return steps;
}

void tell(std::string_view what, double seconds, std::uint64_t count) {
    if (count == 0) return print_err(fmt::format("coalprof: {} ({:.3f} s)\n", what, seconds));
    const std::lock_guard lock(steps().mutex);
    Sum& sum = steps().many[what];
    sum.count += count;
    sum.seconds += seconds;
}

}  // namespace

StepLines::StepLines(bool wanted) : wanted_(wanted) {
    if (wanted_) watch_steps(tell);
}

StepLines::~StepLines() {
    if (!wanted_) return;
    const std::lock_guard lock(steps().mutex);
    for (const auto& [what, sum] : steps().many)
        print_err(fmt::format("coalprof: {}: {} ({:.3f} s)\n", what, sum.count, sum.seconds));
    for (const std::string& path : loaded_cuda_libraries())
        print_err(fmt::format("coalprof: loaded {}\n", shown(path)));
}

}  // namespace coalprof
