// Which boxes of blocks are executed: the whole grid first, and its parts where blocks differ.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/program/execute.h"

namespace coalprof {
namespace {

// Boxes that are still to be executed, for all threads. The last ones first: few wait at a time.
class Boxes {
 public:
    void add(std::vector<BlockBox> more) {
        const std::lock_guard lock(mutex_);
        std::ranges::move(more, std::back_inserter(waiting_));
        changed_.notify_all();
    }
    // None: all are done, or a thread failed.
    bool take(BlockBox& box) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_.empty() || running_ == 0 || failed_; });
        if (waiting_.empty() || failed_) return false;
        box = waiting_.back();
        waiting_.pop_back();
        ++running_;
        return true;
    }
    void done() {
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) changed_.notify_all();
    }
    void fail(std::exception_ptr why) {
        const std::lock_guard lock(mutex_);
        if (!failed_) failed_ = std::move(why);
        changed_.notify_all();
    }
    void rethrow() const {
        if (failed_) std::rethrow_exception(failed_);
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<BlockBox> waiting_;
    std::size_t running_ = 0;
    std::exception_ptr failed_;
};

// The longest of the dimensions along which blocks differ.
std::size_t dimension_to_split(const BlockBox& box, std::uint8_t dimensions) {
    std::size_t best = 0;
    std::uint32_t most = 0;
    for (std::size_t d = 0; d < 3; ++d)
        if ((dimensions >> d & 1) != 0 && box.count[d] > most) {
            best = d;
            most = box.count[d];
        }
    if (most > 1) return best;
    return static_cast<std::size_t>(std::ranges::max_element(box.count) - box.count.begin());
}

std::vector<BlockBox> parts_of(const BlockBox& box, const BoxMustSplit& why) {
    const std::size_t d = dimension_to_split(box, why.dimensions);
    std::vector<BlockBox> parts;
    if (why.stride > 1 && why.stride < box.count[d]) {
        for (std::uint32_t i = 0; i < why.stride; ++i) {
            BlockBox part = box;
            part.first[d] += i * box.stride[d];
            part.stride[d] *= why.stride;
            part.count[d] = (box.count[d] - i + why.stride - 1) / why.stride;
            parts.push_back(part);
        }
        return parts;
    }
    const std::uint32_t count = std::min(box.count[d], std::max(2u, why.parts));
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto begin = static_cast<std::uint32_t>(std::uint64_t{box.count[d]} * i / count);
        const auto end = static_cast<std::uint32_t>(std::uint64_t{box.count[d]} * (i + 1) / count);
        if (begin == end) continue;
        BlockBox part = box;
        part.first[d] += begin * box.stride[d];
        part.count[d] = end - begin;
        parts.push_back(part);
    }
    return parts;
}

void work(Boxes& boxes, Executor& executor, AccessSink& sink, ExecutionNotes& notes) {
    BlockBox box;
    while (boxes.take(box)) {
        try {
            executor.run(box, sink, notes);
            sink.keep();
        } catch (const BoxMustSplit& why) {
            sink.drop();
            boxes.add(parts_of(box, why));
        } catch (...) {
            boxes.fail(std::current_exception());
        }
        boxes.done();
    }
}

// One block after the other, as they are numbered: what one stores, later ones load.
void run_in_order(const KernelLaunch& launch, Executor& executor, AccessSink& sink,
                  ExecutionNotes& notes) {
    for (std::uint32_t z = 0; z < launch.grid[2]; ++z)
        for (std::uint32_t y = 0; y < launch.grid[1]; ++y)
            for (std::uint32_t x = 0; x < launch.grid[0]; ++x) {
                executor.run({.first = {x, y, z}}, sink, notes);
                sink.keep();
            }
}

}  // namespace

ExecutionNotes execute(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
                       const ExecutionLimits& limits, const std::vector<AccessSink*>& sinks) {
    ExecutionNotes all;
    if (code.needs_stored_values) {
        Executor executor(code, launch, memory, limits);
        run_in_order(launch, executor, *sinks.front(), all);
        return all;
    }
    Boxes boxes;
    boxes.add({{.first = {0, 0, 0}, .stride = {1, 1, 1}, .count = launch.grid}});
    std::vector<ExecutionNotes> notes(sinks.size());
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < sinks.size(); ++i)
            threads.emplace_back([&, i] {
                try {
                    Executor executor(code, launch, memory, limits);
                    work(boxes, executor, *sinks[i], notes[i]);
                } catch (...) {
                    boxes.fail(std::current_exception());
                }
            });
    }
    boxes.rethrow();
    for (const ExecutionNotes& one : notes) all.add(one);
    return all;
}

}  // namespace coalprof
