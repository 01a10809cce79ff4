#include "cupti/attach/launch_turn.h"

namespace coalprof {

bool LaunchTurn::wait(std::unique_lock<std::mutex>& lock) {
    // Each wait has the full patience: another thread may be faster to begin the next launch.
    while (!is_free() && !is_mine()) {
        const std::uint64_t turn = turns_;
        if (!ended_.wait_for(lock, patience_, [&] { return is_free() || turns_ != turn; })) break;
    }
    return is_free();
}

void LaunchTurn::end() {
    owner_ = {};
    ended_.notify_all();
}

}  // namespace coalprof
