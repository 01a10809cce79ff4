// Several threads count, each on a GPU of its own. CUPTI is asked by one at a time: with two, an
// H100 was no longer known by its chip's name (CUDA 13.0, 2026-11-22,
// docs/measurements/h100/two_gpus.txt). What a sweep does between CUPTI's calls is done by all.
#pragma once

#include <mutex>

namespace coalprof {

inline std::mutex& turn_at_cupti() {
    static std::mutex mutex;
    return mutex;
}

}  // namespace coalprof
