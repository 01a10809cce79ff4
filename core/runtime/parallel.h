// Work on all threads of --threads. Two shapes:
//
//     const Counts sum = parallel_sum<Counts>(chunks, [&](std::uint64_t i, Counts& part) { ... });
//     Answer<Readings> answer = start_answer([=] { return predict(plan); });   ...   answer.get();
//
// They may be used within each other to any depth: all share the same threads, of which never more
// than thread_count() work, and a thread that waits does other work, first of all the work that it
// waits for. Threads help where they can and nobody relies on it: with one thread, or where none
// can be had, the caller does everything, in order, with the same results.
//
// Giving an item to another thread costs some microseconds, starting a thread some 20: let an item
// be work of 100 microseconds or more. Long items ask stop_if_asked() (core/runtime/signal.h)
// themselves; exceptions reach the caller. If several items fail it is that of the lowest one, as
// with one thread, and items after one that failed may be left out.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/runtime/job.h"
#include "core/runtime/signal.h"

namespace coalprof {

// Calls work(i, part) for every i < count, lowest first, with one part per thread that begins as
// Sum(), and returns when all are done. The parts are added up by sum.add(part): in no order, so
// adding must not depend on it.
template <typename Sum, typename Work>
Sum parallel_sum(std::uint64_t count, const Work& work) {
    Sum sum;
    if (count == 1) work(0, sum);
    if (count <= 1) return sum;
    std::mutex adding;
    Job(count, [&](Items& items) {
        Sum part;
        items.each([&](std::uint64_t i) { work(i, part); });
        const std::lock_guard lock(adding);
        sum.add(part);
    }).finish();
    return sum;
}

// Work that another thread begins when one is idle, and else the caller of get(). Work whose answer
// goes out of scope before it began is dropped; else its end is waited for.
template <typename T>
class Answer {
 public:
    explicit Answer(std::function<T()> work) : state_(std::make_unique<State>(std::move(work))) {}
    // Once, by the thread that asked for the work. Rethrows exceptions of the work.
    T get() {
        state_->job.finish();
        return std::move(*state_->value);
    }

 private:
    struct State {
        explicit State(std::function<T()> work)
            : job(1, [this, asked = std::move(work)](Items& items) {
                  items.each([&](std::uint64_t) { value.emplace(asked()); });
              }) {}
        std::optional<T> value;
        Job job;  // last: it ends before the value does
    };
    std::unique_ptr<State> state_;
};

template <typename Work>
Answer<std::invoke_result_t<Work>> start_answer(Work work) {
    return Answer<std::invoke_result_t<Work>>(std::move(work));
}

// Work that runs in another thread.

// Without free threads, the first caller of get() does the work, or it is not done at all.
template <typename Work>
std::future<std::invoke_result_t<Work>> in_background(Work work) {
    const SignalsHeld held;  // the thread that begins here gets no signals
    try {
        return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
        return std::async(std::launch::deferred, std::move(work));
    }
}

// The number of threads that share the work of this process.

// Processors that this process may run on; a container's time quota is not considered.
unsigned processors_of_this_process();

// The value of --threads, which includes the thread that shares its work out; before that, one for
// each processor. 1 means that the caller does everything.
unsigned thread_count();
// `count` is 1 or more. Must not be called while work is shared.
void set_thread_count(unsigned count);

}  // namespace coalprof
