// Work on all threads of --threads (threads.h). Two shapes:
//
//     const Counts sum = parallel_sum<Counts>(chunks, [&](std::uint64_t i, Counts& part) { ... });
//     Answer<Readings> answer = start_answer([=] { return predict(plan); });   ...   answer.get();
//
// They may be used within each other to any depth: all share the same threads, of which never more
// than thread_count() work, and a thread that waits does other work meanwhile, first of all what it
// waits for. Threads help where they can and nobody relies on it: with one thread, or where none
// can be had, the caller does everything, in order, with the same results.
//
// Giving an item to another thread costs some microseconds, starting a thread some 20: let an item
// be work of 100 microseconds or more. Long items ask stop_if_asked() (core/runtime/signal.h)
// themselves; what they throw reaches the caller. Of several failures it is that of the lowest
// item, as with one thread, and items after one that failed may be left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/runtime/job.h"

namespace coalprof {

// Calls work(i, part) for every i < count, lowest first, each thread with a part of its own that
// begins as Sum(), and returns when all are done. The parts are added up by sum.add(part): in no
// order, so adding must not depend on it.
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

// Work that another thread begins when one is idle, and else the one that asks for the answer. Work
// whose answer goes out of scope is not begun any more; what has begun is waited for.
template <typename T>
class Answer {
 public:
    explicit Answer(std::function<T()> work) : state_(std::make_unique<State>(std::move(work))) {}
    // Once, by the thread that asked for the work. Throws what the work throws.
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

}  // namespace coalprof
