#include "cupti/attach/launch_turn.h"

namespace coalprof {

StreamCaptures::Stream StreamCaptures::in_this_thread(CUstream stream) {
    return {stream,
            stream == CU_STREAM_PER_THREAD ? std::this_thread::get_id() : std::thread::id()};
}

void StreamCaptures::has_begun(CUcontext context, CUstream stream, bool succeeded) {
    --beginning_;
    if (succeeded) streams_[in_this_thread(stream)] = context;
}

void StreamCaptures::may_have_ended(CUstream stream) {
    // A recording that was invalidated and not ended has a separate status.
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (is_capturing_ && is_capturing_(stream, &status) == CUDA_SUCCESS &&
        status != CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    stream_ends(stream);
}

void StreamCaptures::stream_ends(CUstream stream) { streams_.erase(in_this_thread(stream)); }

void StreamCaptures::context_ends(CUcontext context) {
    std::erase_if(streams_, [&](const auto& entry) { return entry.second == context; });
}

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
