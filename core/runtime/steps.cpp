#include "core/runtime/steps.h"

#include <utility>

namespace coalprof {
namespace {

// Never destroyed: threads may end a step while the process ends.
const StepWatcher* watcher = nullptr;

}  // namespace

void watch_steps(StepWatcher given) { watcher = new StepWatcher(std::move(given)); }

Step::Step(std::string_view what, std::uint64_t count) : what_(what), count_(count) {
    if (watcher) start_ = std::chrono::steady_clock::now();
}

Step::~Step() {
    if (!watcher) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    (*watcher)(what_, took.count(), count_);
}

}  // namespace coalprof
