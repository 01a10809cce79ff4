#include "cupti/attach/stream_captures.h"

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

}  // namespace coalprof
