// The streams whose launches are being recorded into graphs. While there is one, nothing may be
// copied from the GPU and no other stream be asked: that could spoil the graph. Everything is
// called under one lock, which must be held while copying or asking.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <thread>
#include <utility>

namespace coalprof {

class StreamCaptures {
 public:
    using IsCapturing = decltype(&::cuStreamIsCapturing);
    // nullptr: the driver cannot be asked.
    explicit StreamCaptures(IsCapturing is_capturing) : is_capturing_(is_capturing) {}

    // Around a call of cuStreamBeginCapture: capturing counts from its beginning.
    void begins() { ++beginning_; }
    void has_begun(CUcontext context, CUstream stream, bool succeeded);
    // After cuStreamEndCapture, whatever it returned: an error ends an invalidated recording, but
    // not one of another thread.
    void may_have_ended(CUstream stream);
    // Called without cuStreamEndCapture.
    void stream_ends(CUstream stream);
    void context_ends(CUcontext context);

    bool any() const { return beginning_ > 0 || !streams_.empty(); }

 private:
    // CU_STREAM_PER_THREAD is another stream in each thread.
    using Stream = std::pair<CUstream, std::thread::id>;
    static Stream in_this_thread(CUstream stream);

    IsCapturing is_capturing_;
    std::map<Stream, CUcontext> streams_;
    std::size_t beginning_ = 0;  // calls that have not returned
};

}  // namespace coalprof
