// The run-time compiler of this machine, where there is one.
#pragma once

#include <future>

#include "kernels/compiler.h"

namespace coalprof {

inline const NvrtcLibrary& nvrtc_here() {
    static const NvrtcLibrary library = load_nvrtc(0);
    return library;
}

inline std::shared_future<NvrtcLibrary> ready(NvrtcLibrary library) {
    std::promise<NvrtcLibrary> promise;
    promise.set_value(std::move(library));
    return promise.get_future().share();
}

#define COALPROF_NEEDS_NVRTC() \
    if (!nvrtc_here().api) GTEST_SKIP() << nvrtc_here().sentence

}  // namespace coalprof
