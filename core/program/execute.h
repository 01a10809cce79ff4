// Executes the instructions that a kernel's addresses and branches depend on, warp by warp, for
// boxes of blocks: all blocks of a box at once where they go the same way. What a box comes to, and
// whether it must be split, depends on the box alone: not on what its executor did before.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/program/code.h"
#include "core/program/growth.h"
#include "core/program/launch_memory.h"

namespace coalprof {

struct KernelLaunch {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint64_t dynamic_shared_bytes = 0;
    std::vector<std::uint8_t> parameters;  // in the kernel's layout
    std::uint32_t multiprocessors = 132;   // an H100's
    std::uint32_t cc_major = 9;            // of the GPU that it is compiled for
    std::uint64_t blocks() const { return std::uint64_t{1} * grid[0] * grid[1] * grid[2]; }
    std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

// An action of a thread that stops a program on a GPU, or that was not intended.
struct KernelFault {
    enum class Kind : std::uint8_t { out_of_bounds, no_memory, misaligned, trap, shared_bounds };
    Kind kind = Kind::out_of_bounds;
    std::uint32_t instruction = 0;  // in Code::instructions
    std::array<std::uint32_t, 3> block{};
    std::array<std::uint32_t, 3> thread{};
    std::uint64_t address = 0;
    std::string array = {};
    std::string declared = {};      // LaunchArray::declared
    std::int64_t offset_bytes = 0;  // from where the array begins
    std::uint64_t array_bytes = 0;
    WarpAccess warp = {};  // as it was asked for, with the lanes that fault; none: a trap
    bool is_before(const KernelFault& other) const;  // in the order of the launch
};

// The outcome of one attempt at a box besides its accesses.
struct ExecutionNotes {
    std::vector<KernelFault> faults;  // in the order of instructions: the first in launch order
    UnsaidArrays decisive = 0;        // arrays without given contents: of an address or a branch
    UnsaidArrays without_bounds = 0;  // arrays of unknown size that were accessed
    std::uint64_t steps = 0;          // warp instructions that were executed
    std::uint64_t warps = 0;
    std::uint64_t shared_bytes = 0;  // of a block's shared memory: the end of what is asked for
    void add(const KernelFault& fault);
    void add(const ExecutionNotes& other);
};

// Takes accesses of an attempt, which is discarded if the box must be split.
class AccessSink {
 public:
    virtual ~AccessSink() = default;
    virtual void begin(const BlockBox& /*box*/) {}
    // `growth` of the addresses from block to block of the box.
    virtual void take(std::uint32_t site, Space space, const WarpAccess& access,
                      const Growth& growth, const BlockBox& box) = 0;
    virtual void keep() = 0;  // the whole box was executed
    virtual void drop() = 0;
    // A warp of the block begins, or continues after a barrier.
    virtual void resume(std::uint32_t /*warp*/) {}
    // True if step() is called before each instruction that is executed.
    virtual bool follows_steps() const { return false; }
    // False: the warp ends here.
    virtual bool step(std::uint32_t /*instruction*/) { return true; }
};

struct ExecutionLimits {
    std::uint64_t steps_of_warp = std::uint64_t{1} << 25;  // some seconds
    // Limit for the whole launch; if one takes more, only a sample of its blocks is executed. Some
    // seconds.
    std::uint64_t steps_before_sampling = std::uint64_t{1} << 26;
};

// The limit for all executors of a launch together.
struct BudgetSpent {};
class StepBudget {
 public:
    explicit StepBudget(std::uint64_t steps) : most_(steps) {}
    // Throws BudgetSpent.
    void spend(std::uint64_t steps) {
        if (spent_.fetch_add(steps, std::memory_order_relaxed) + steps > most_) throw BudgetSpent{};
    }

 private:
    std::atomic<std::uint64_t> spent_ = 0;
    std::uint64_t most_;
};

class StepCode;  // step_code.h

// One for each executing thread; not thread-safe.
class Executor {
 public:
    Executor(const StepCode& steps, const KernelLaunch& launch, LaunchMemory& memory,
             const ExecutionLimits& limits, StepBudget& budget);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    // Throws BoxMustSplit; BudgetSpent; Stopped; UsageError where a warp takes more steps than the
    // limits allow.
    void run(const BlockBox& box, AccessSink& sink, ExecutionNotes& notes);

 private:
    class Body;
    std::unique_ptr<Body> body_;
};

// The groups of a sample, each with a sink.
inline constexpr std::uint32_t sample_groups = 16;

struct Execution {
    ExecutionNotes notes;
    // Not 0: this many blocks were executed, as many in each of the last sample_groups sinks;
    // accesses in the sinks before them do not count.
    std::uint64_t sampled_blocks = 0;
};
// The whole launch. `new_sink` is called by this thread. Nothing depends on the number of threads
// or their order: boxes are split by what they do, the budget counts the steps of all, and of
// several refusals the one of the first block is thrown. Throws UsageError, Stopped.
Execution execute(const Code& code, const KernelLaunch& launch, LaunchMemory& memory,
                  const ExecutionLimits& limits, std::size_t threads,
                  const std::function<AccessSink&()>& new_sink);

}  // namespace coalprof
