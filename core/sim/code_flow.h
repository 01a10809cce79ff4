// Facts about the flow of a kernel's code that are known before it is executed: where basic blocks
// begin and end as ptxas has them, and which loops it unrolls.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

// A constant is added to a register.
bool is_step(const Code& code, const PtxInstruction& one);

class CodeFlow {
 public:
    explicit CodeFlow(const Code& code);

    // Code that a branch skips becomes guarded instructions, if it is as short as this.
    static constexpr std::uint32_t shortest_block = 12;
    bool is_target(std::uint32_t at) const { return is_target_[at]; }
    bool ends_block(std::uint32_t at) const { return ends_block_[at]; }
    // A branch back to the begin of its own basic block, which counts by a constant and has no
    // atomic: ptxas unrolls these (docs/measurements/h200/hoisted.txt).
    bool is_round(std::uint32_t branch) const { return is_round_[branch]; }
    // Where execution continued after `before`, if `at` was executed next.
    std::uint32_t begin_of(std::uint32_t before, std::uint32_t at) const;

 private:
    bool counts_rounds(std::uint32_t branch) const;

    const Code& code_;
    std::vector<bool> is_target_, ends_block_, is_round_;
    std::vector<std::uint32_t> next_kept_;
};

}  // namespace coalprof
