#include "core/sim/code_flow.h"

#include <algorithm>

namespace coalprof {

bool is_step(const Code& code, const PtxInstruction& one) {
    return one.opcode == Opcode::add && one.results.size() == 1 && one.inputs.size() == 2 &&
           one.inputs[0] == one.results[0] && one.inputs[1] != no_slot &&
           code.slots[one.inputs[1]].kind == SlotKind::constant;
}

CodeFlow::CodeFlow(const Code& code)
    : code_(code),
      is_target_(code.instructions.size() + 1),
      ends_block_(code.instructions.size() + 1),
      is_round_(code.instructions.size() + 1),
      next_kept_(code.instructions.size() + 1) {
    const auto count = static_cast<std::uint32_t>(code.instructions.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        const PtxInstruction& one = code.instructions[i];
        const bool is_skip =
            one.opcode == Opcode::branch && one.target > i && one.target <= i + shortest_block;
        if (one.opcode == Opcode::branch && !is_skip) is_target_[one.target] = true;
        for (const std::uint32_t target : one.targets) is_target_[target] = true;
        ends_block_[i] = (is_control_flow(one.opcode) && !is_skip) || one.opcode == Opcode::barrier;
    }
    next_kept_.back() = count;
    for (std::uint32_t i = count; i-- > 0;) {
        const PtxInstruction& one = code.instructions[i];
        const bool is_kept = is_control_flow(one.opcode) || one.opcode == Opcode::barrier ||
                             one.is_needed || (is_access(one.opcode) && one.site != ~0u);
        next_kept_[i] = is_kept ? i : next_kept_[i + 1];
    }
    for (std::uint32_t i = 0; i < count; ++i) is_round_[i] = counts_rounds(i);
}

bool CodeFlow::counts_rounds(std::uint32_t branch) const {
    const PtxInstruction& one = code_.instructions[branch];
    if (one.opcode != Opcode::branch || one.target > branch) return false;
    std::vector<Slot> counted, compared;
    for (std::uint32_t i = one.target; i < branch; ++i) {
        const PtxInstruction& each = code_.instructions[i];
        const bool is_other_block = (i > one.target && is_target_[i]) || ends_block_[i];
        if (is_other_block || each.opcode == Opcode::atomic) return false;
        if (is_step(code_, each)) counted.push_back(each.inputs[0]);
        if (std::ranges::find(each.results, one.guard) != each.results.end())
            compared = each.inputs;
    }
    return std::ranges::any_of(
        compared, [&](Slot slot) { return std::ranges::find(counted, slot) != counted.end(); });
}

std::uint32_t CodeFlow::begin_of(std::uint32_t before, std::uint32_t at) const {
    const PtxInstruction& one = code_.instructions[before];
    if (next_kept_[before + 1] == at) return before + 1;
    if (one.opcode == Opcode::branch && next_kept_[one.target] == at) return one.target;
    return at;  // other lanes go on
}

}  // namespace coalprof
