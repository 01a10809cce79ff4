// A warp while it is executed: its registers, and the instruction of each of its lanes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/program/block_memory.h"
#include "core/program/execute.h"
#include "core/program/step_code.h"

namespace coalprof {

// Lanes at one instruction that wait for others.
struct LaneGroup {
    std::uint32_t at = 0;
    std::uint32_t lanes = 0;
    bool is_held = false;  // it waits until the other lanes of its instruction have come
    friend bool operator==(const LaneGroup&, const LaneGroup&) = default;
};

class WarpState {
 public:
    static constexpr std::uint32_t nowhere = ~0u;

    std::vector<LaneValue> registers;  // one for each place
    NearBytes local;                   // local memory, lane by lane; empty until it is used
    std::uint32_t first_thread = 0;
    std::uint32_t lanes = 0;  // threads of the block
    std::uint32_t at = 0;
    std::uint32_t active = 0;
    std::uint32_t stopped = 0;  // lanes that had a fault
    std::uint64_t steps = 0;
    std::uint64_t comes_back_since = 0;  // stores when it was in a state for the second time

    void begin_block(const StepCode& steps, const BlockBox& box);
    bool is_done() const { return active == 0 && waiting_.empty() && parked_.empty(); }
    void end() {
        active = 0;
        next_waiting_ = nowhere;
        waiting_.clear();
        parked_.clear();
    }

    // True if lanes can continue before the next barrier: those at the earliest instruction do.
    // Lanes that wait at the same instruction continue with them.
    bool has_lanes() {
        if (active != 0 && at < next_waiting_) return true;
        return meet();
    }
    void wait(const LaneGroup& group) {
        waiting_.push_back(group);
        next_waiting_ = std::min(next_waiting_, group.at);
    }
    void branch(std::uint32_t target, std::uint32_t taken);
    void wait_at_barrier() {
        parked_.push_back({at + 1, active});
        ++barriers_;
        active = 0;
    }
    void leave_barrier() {
        for (const LaneGroup& group : parked_) wait(group);
        parked_.clear();
    }

    // Called before an instruction that the named lanes execute together; false: those that have
    // come wait. If all that are left wait for each other, which stops a real GPU, each continues
    // with those there.
    bool gather(std::uint32_t named);

    void write(Slot place, const LaneValue& value, std::uint32_t written, bool is_predicate);

    // Called where the warp jumps back: true if it was in the same state before and nothing was
    // stored since, so that it never ends. `stores`: those of the block so far.
    bool has_come_back(std::uint64_t stores);
    // True if it has waited at a barrier since that state.
    bool has_waited() const { return barriers_ != barriers_before_; }

 private:
    // Brent's: compared with the state after a power of two of turns.
    static constexpr std::uint64_t first_compared = 1u << 12;
    std::uint64_t turns_ = 0, stores_before_ = 0, barriers_ = 0, barriers_before_ = 0;
    std::vector<LaneValue> before_;
    std::uint32_t at_before_ = 0, active_before_ = 0;
    std::vector<LaneGroup> waiting_before_, parked_before_;
    Slot differing_ = 0;  // a register that differed from it when last compared
    bool meet();
    void take_those_here();

    bool has_unsaid_ = false;               // a register has, or had in this block
    std::uint32_t next_waiting_ = nowhere;  // the lowest of `waiting_` that is not held
    bool waits_for_none_ = false;
    std::vector<LaneGroup> waiting_;
    std::vector<LaneGroup> parked_;  // groups that wait at a barrier
};

// With the registers that are the same in every block.
WarpState make_warp(const StepCode& steps, const KernelLaunch& launch, std::uint32_t first_thread);

std::array<std::uint32_t, 3> thread_of(const KernelLaunch& launch, std::uint32_t number);

}  // namespace coalprof
