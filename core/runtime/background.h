// Work that goes on in another thread.
#pragma once

#include <future>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/runtime/signal.h"

namespace coalprof {

// Where no thread can be had, the work is done by whoever asks first for its answer, or not at all
// if nobody does.
template <typename Work>
std::future<std::invoke_result_t<Work>> in_background(Work work) {
    const SignalsHeld held;  // the thread that begins here gets none
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, std::move(work));
    }
}

}  // namespace coalprof
