// The boxes of blocks to execute: the whole grid first, and its parts where blocks differ. If that
// takes too many steps, a sample of blocks.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/program/execute.h"
#include "core/program/step_code.h"
#include "core/runtime/job.h"
#include "core/runtime/work_limits.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Boxes still to execute, for all threads. The newest first, so that few are stored.
class Boxes {
 public:
    void add(std::vector<BlockBox> more) {
        const std::lock_guard lock(mutex_);
        std::ranges::move(more, std::back_inserter(waiting_));
        changed_.notify_all();
    }
    // False: all are done, or a thread was stopped.
    bool take(BlockBox& box) {
        call_taking_hook();
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !waiting_.empty() || running_ == 0 || is_stopped_; });
        if (waiting_.empty() || is_stopped_) return false;
        box = waiting_.back();
        waiting_.pop_back();
        ++running_;
        return true;
    }
    void done() {
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) changed_.notify_all();
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
        changed_.notify_all();
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<BlockBox> waiting_;
    std::size_t running_ = 0;
    bool is_stopped_ = false;
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

// The block of this number, x fastest.
BlockBox block_of(const KernelLaunch& launch, std::uint64_t number) {
    BlockBox box;
    for (std::size_t d = 0; d < 3; ++d) {
        box.first[d] = static_cast<std::uint32_t>(number % launch.grid[d]);
        number /= launch.grid[d];
    }
    return box;
}

// The refusal of the work with the lowest number: the same whichever thread comes to it first.
class FirstRefusal {
 public:
    // False: it was refused.
    template <typename Run>
    bool attempt(std::uint64_t number, const Run& run) {
        try {
            run();
            return true;
        } catch (const UsageError&) {
            const std::lock_guard lock(mutex_);
            if (!failure_ || number < number_)
                failure_ = std::current_exception(), number_ = number;
            return false;
        }
    }
    bool is_before(std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        return failure_ && number_ < number;
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    std::mutex mutex_;
    std::exception_ptr failure_;
    std::uint64_t number_ = 0;
};

// Of its first block, in the order of the launch.
std::uint64_t number_of(const KernelLaunch& launch, const BlockBox& box) {
    return (std::uint64_t{box.first[2]} * launch.grid[1] + box.first[1]) * launch.grid[0] +
           box.first[0];
}

// The kernel to execute, for all threads.
struct Work {
    const StepCode& steps;
    const KernelLaunch& launch;
    LaunchMemory& memory;
    const ExecutionLimits& limits;
    std::size_t threads;
    bool may_sample;
    const std::function<AccessSink&()>& new_sink;
};

// Where all are executed: nobody knows how many of them come before a sample.
class BlocksExecuted {
 public:
    explicit BlocksExecuted(const Work& work) {
        if (!work.may_sample) counted_.emplace("blocks executed", work.launch.blocks());
    }
    void add(std::uint64_t blocks) {
        if (counted_) counted_->add(blocks);
    }

 private:
    std::optional<CountedWork> counted_;
};

// Calls work(executor, thread) in each thread; rethrows one of their exceptions.
template <typename Each>
void in_threads(const Work& work, std::size_t threads, StepBudget& budget, const Each& each) {
    std::exception_ptr failure;
    std::mutex failing;
    const auto run = [&](std::size_t thread) {
        try {
            Executor executor(work.steps, work.launch, work.memory, work.limits, budget);
            each(executor, thread);
        } catch (...) {
            const std::lock_guard lock(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i) others.emplace_back(run, i);
        run(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// Goes on after a refusal: whether the budget would have been spent decides which of both is
// reported, and depends on all boxes.
void take_boxes(const Work& work, Boxes& boxes, FirstRefusal& refusal, Executor& executor,
                AccessSink& sink, ExecutionNotes& notes, BlocksExecuted& executed) {
    BlockBox box;
    while (boxes.take(box)) {
        try {
            if (refusal.attempt(number_of(work.launch, box),
                                [&] { executor.run(box, sink, notes); }))
                sink.keep();
            else
                sink.drop();
            executed.add(box.blocks());
            boxes.done();
        } catch (const BoxMustSplit& why) {
            sink.drop();
            boxes.add(parts_of(box, why));
            boxes.done();
        } catch (...) {
            boxes.stop();
            throw;
        }
    }
}

ExecutionNotes run_all(const Work& work, StepBudget& budget) {
    std::vector<ExecutionNotes> notes(work.threads);
    std::vector<AccessSink*> sinks;
    for (std::size_t i = 0; i < work.threads; ++i) sinks.push_back(&work.new_sink());
    Boxes boxes;
    boxes.add({{.count = work.launch.grid}});
    FirstRefusal refusal;
    BlocksExecuted executed(work);
    in_threads(work, work.threads, budget, [&](Executor& executor, std::size_t thread) {
        take_boxes(work, boxes, refusal, executor, *sinks[thread], notes[thread], executed);
    });
    refusal.rethrow();
    ExecutionNotes all;
    for (const ExecutionNotes& one : notes) all.add(one);
    return all;
}

// One block after the other, as they are numbered, since later ones may load the values that
// earlier ones store.
ExecutionNotes run_in_order(const Work& work, StepBudget& budget) {
    AccessSink& sink = work.new_sink();
    ExecutionNotes notes;
    BlocksExecuted executed(work);
    in_threads(work, 1, budget, [&](Executor& executor, std::size_t) {
        for (std::uint64_t i = 0; i < work.launch.blocks(); ++i) {
            executor.run(block_of(work.launch, i), sink, notes);
            sink.keep();
            executed.add(1);
        }
    });
    return notes;
}

// Spread over the launch for any sample size: steps of the golden ratio repeat no place.
std::uint64_t sampled_block(std::uint64_t number, std::uint64_t blocks) {
    __extension__ using WideNatural = unsigned __int128;
    const std::uint64_t place = number * 0x9E37'79B9'7F4A'7C15u + (std::uint64_t{1} << 63);
    return static_cast<std::uint64_t>(static_cast<WideNatural>(place) * blocks >> 64);
}

// Each group gets as many blocks, one after the other in one sink: the spread of the groups shows
// how far the sample may be off. Steps decide how many, so that the result is the same with any
// number of threads.
class Sample {
 public:
    explicit Sample(const Work& work) : work_(work), notes_(sample_groups) {
        for (std::uint32_t i = 0; i < sample_groups; ++i) sinks_.push_back(&work.new_sink());
    }
    void run(ExecutionNotes& all) {
        run_rounds(0, 1);
        std::uint64_t steps = 1;
        for (const ExecutionNotes& one : notes_) steps += one.steps;
        const std::uint64_t rounds =
            std::min(most_rounds,
                     std::max<std::uint64_t>(1, work_.limits.steps_before_sampling / 4 / steps));
        run_rounds(1, rounds);
        for (const ExecutionNotes& one : notes_) all.add(one);
        blocks_ = rounds * sample_groups;
    }
    std::uint64_t blocks() const { return blocks_; }

 private:
    static constexpr std::uint64_t most_rounds = 256;
    void run_rounds(std::uint64_t first, std::uint64_t end) {
        StepBudget unlimited(~std::uint64_t{0});
        const std::size_t threads = work_.steps.code().needs_stored_values ? 1 : work_.threads;
        FirstRefusal refusal;
        CountedWork executed("blocks of a sample executed", (end - first) * sample_groups);
        in_threads(work_, threads, unlimited, [&](Executor& executor, std::size_t thread) {
            for (std::size_t group = thread; group < sample_groups; group += threads) {
                call_taking_hook();
                if (refusal.is_before(group) || !refusal.attempt(group, [&] {
                        for (std::uint64_t round = first; round < end; ++round) {
                            executor.run(
                                block_of(work_.launch, sampled_block(round * sample_groups + group,
                                                                     work_.launch.blocks())),
                                *sinks_[group], notes_[group]);
                            sinks_[group]->keep();
                            executed.add(1);
                        }
                    }))
                    return;
            }
        });
        refusal.rethrow();
    }
    const Work& work_;
    std::vector<AccessSink*> sinks_;
    std::vector<ExecutionNotes> notes_;
    std::uint64_t blocks_ = 0;
};

}  // namespace

Execution execute(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
                  const ExecutionLimits& limits, std::size_t threads,
                  const std::function<AccessSink&()>& new_sink) {
    const StepCode steps(code);
    // The registers of all threads together are limited.
    constexpr std::size_t most_register_bytes = std::size_t{256} << 20;
    const std::size_t block_bytes =
        steps.places() * sizeof(LaneValue) * (launch.threads() / warp_lanes + 1) + 1;
    const std::size_t most_threads = std::max<std::size_t>(1, most_register_bytes / block_bytes);
    constexpr std::uint64_t no_limit = ~std::uint64_t{0};
    const bool may_sample =
        launch.blocks() > 4 * sample_groups && limits.steps_before_sampling != no_limit;
    const Work work{
        steps,      launch,  memory, limits, std::clamp<std::size_t>(threads, 1, most_threads),
        may_sample, new_sink};
    Execution execution;
    StepBudget budget(may_sample ? limits.steps_before_sampling : no_limit);
    try {
        execution.notes =
            code.needs_stored_values ? run_in_order(work, budget) : run_all(work, budget);
    } catch (const BudgetSpent&) {
        Sample sample(work);
        sample.run(execution.notes);
        execution.sampled_blocks = sample.blocks();
    }
    return execution;
}

}  // namespace coalprof
