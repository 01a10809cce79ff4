#include "cupti/attach/launch_turn.h"

namespace coalprof {

bool LaunchTurn::wait(std::unique_lock<std::mutex>& lock) {
    if (!is_mine()) ended_.wait_for(lock, patience_, [this] { return is_free(); });
    return is_free();
}

void LaunchTurn::end() {
    owner_ = {};
    ended_.notify_all();
}

}  // namespace coalprof
