// One access of a formula compiled for the CPU: a flat list of steps over registers of 32 lanes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/access/warp_access.h"
#include "core/formula/facts.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

// The steps of a lane program: each does one operator for the 32 lanes of a warp. None of them can
// trap, whatever the operands: a lane whose value is not wanted may compute nonsense.
using LaneValues = std::array<std::int64_t, warp_lanes>;

struct LaneStep;
struct LaneState {
    LaneValues* registers;
    std::uint64_t first_thread;
    const Scope* scope;
};

// Does the step; returns true if it failed in some lane that its guard includes. Steps that are
// proven not to fail, or that are not asked to check, return false.
using LaneKernel = bool (*)(const LaneStep& step, const LaneState& state);

struct LaneStep {
    LaneKernel kernel = nullptr;
    std::uint16_t to = 0;  // registers; `to` is none of the operands
    std::array<std::uint16_t, 3> operands{};
    std::uint16_t guard = 0;    // a register of masks: all ones where the lane counts
    std::int64_t constant = 0;  // or the number of a variable, or of a table
};

// to = operator(operands), of one that evaluates all of them.
LaneKernel strict_kernel(NodeKind kind, bool checked);
LaneKernel constant_kernel();              // to = `constant`
LaneKernel variable_kernel();              // to = variable `constant`
LaneKernel lookup_kernel(bool checked);    // to = table `constant` at the operand
LaneKernel select_kernel();                // to = a ? b : c
LaneKernel truth_kernel();                 // to = a != 0
LaneKernel guard_kernel(bool where_zero);  // to = guard a, only where b is (not) zero
LaneKernel and_kernel();                   // to = a && b
LaneKernel or_kernel();                    // to = a || b

enum class Checking : std::uint8_t {
    off,  // the launch cannot fail; failures would wrap around
    on,   // every operator that is not proven safe, and the index
};

class LaneProgram {
 public:
    // `condition`: none when every lane takes part. An index above `largest_index` fails.
    LaneProgram(const std::vector<Node>& nodes, const std::vector<NodeFacts>& facts,
                const Scope& scope, NodeId index, std::optional<NodeId> condition,
                Checking checking, std::int64_t largest_index);

    // elements[k] = the index in thread first + k, or idle_lane; 32 of them, those of threads
    // beyond the launch meaningless. Returns true if some lane failed (never without checking),
    // which may be one beyond the launch.
    bool run(std::uint64_t first, std::uint64_t* elements) const;

    const Scope& scope() const { return scope_; }
    std::size_t step_count() const { return steps_.size(); }

 private:
    friend class LaneCompiler;

    Scope scope_;
    std::vector<LaneStep> steps_;
    std::uint16_t index_ = 0;
    std::optional<std::uint16_t> condition_;
    bool check_index_ = false;
    std::int64_t largest_index_ = 0;
};

}  // namespace coalprof
