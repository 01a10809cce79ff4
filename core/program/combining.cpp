// Which atomics of a warp ptxas makes one of, as read from the machine code that ptxas 13.0 makes
// of 57 kernels (tests/core/program/combining_test.cpp): for sm_75, 80, 90 and 120, those with
// branches, loops and uniform values for sm_75, 80 and 90. 7.0 and 10.0 are assumed to be the same.
// It is decided at compile time: the address must be the same in all lanes by what ptxas proves,
// and a[threadIdx.x / 32] or a[threadIdx.y] is not. Between lanes that diverged each group sends
// for itself.
#include <algorithm>
#include <vector>

#include "core/program/code.h"
#include "core/runtime/signal.h"

namespace coalprof {
namespace {

// Registers whose numbers may differ from lane to lane of a warp.
class VaryingSlots {
 public:
    explicit VaryingSlots(const Code& code)
        : code_(code), varies_(code.slots.size()), writers_(code.slots.size()) {
        for (Slot slot = 0; slot < code.slots.size(); ++slot)
            varies_[slot] = is_of_lane(code.slots[slot].kind);
        for (std::uint32_t i = 0; i < code.instructions.size(); ++i)
            for (const Slot slot : code.instructions[i].results)
                if (slot != no_slot) writers_[slot].push_back(i);
        // Each turn finds another one or is the last.
        while (spread()) stop_if_asked();
    }
    bool has(Slot slot) const { return slot != no_slot && varies_[slot]; }

 private:
    static bool is_of_lane(SlotKind kind) {
        switch (kind) {
            case SlotKind::tid_x:
            case SlotKind::tid_y:
            case SlotKind::tid_z:
            case SlotKind::laneid:
            case SlotKind::warpid:
            case SlotKind::lanemask_eq:
            case SlotKind::lanemask_le:
            case SlotKind::lanemask_lt:
            case SlotKind::lanemask_ge:
            case SlotKind::lanemask_gt:
            case SlotKind::fetched:
            case SlotKind::clock: return true;
            default: return false;
        }
    }
    static bool makes_varying(const PtxInstruction& one) {
        switch (one.opcode) {
            case Opcode::atomic:
            case Opcode::shuffle:
            case Opcode::vote:
            case Opcode::match:
            case Opcode::active_mask:
            case Opcode::reduce_warp:
            case Opcode::unknown: return true;
            case Opcode::load: return one.state == PtxState::local || one.is_opaque;
            default: return false;
        }
    }
    bool spread() {
        bool changed = false;
        const auto add = [&](Slot slot) {
            if (slot == no_slot || varies_[slot]) return;
            varies_[slot] = changed = true;
        };
        for (const PtxInstruction& one : code_.instructions) {
            const bool varies =
                makes_varying(one) ||
                std::ranges::any_of(one.inputs, [&](Slot slot) { return has(slot); });
            for (const Slot slot : one.results)
                if (varies || (has(one.guard) && slot != no_slot && writers_[slot].size() > 1))
                    add(slot);
        }
        for (std::uint32_t i = 0; i < code_.instructions.size(); ++i)
            if (diverges(code_.instructions[i])) join_after(region_of(i), add);
        return changed;
    }
    bool diverges(const PtxInstruction& one) const {
        return (one.opcode == Opcode::branch && has(one.guard)) ||
               (one.opcode == Opcode::branch_table && (has(one.guard) || has(one.inputs.front())));
    }
    // What some lanes execute and others do not, or not as often.
    struct Region {
        std::uint32_t begin, end;
        bool has(std::uint32_t at) const { return at >= begin && at < end; }
    };
    Region region_of(std::uint32_t at) const {
        const PtxInstruction& branch = code_.instructions[at];
        std::uint32_t target = branch.target;
        for (const std::uint32_t one : branch.targets) target = std::max(target, one);
        if (target <= at) return {target, at + 1};
        Region region{at + 1, target};
        for (std::uint32_t i = region.begin; i < region.end; ++i)  // it leaves a loop
            if (const PtxInstruction& one = code_.instructions[i];
                one.opcode == Opcode::branch && one.target <= at)
                region.begin = std::min(region.begin, one.target);
        return region;
    }
    // Registers that are written inside and outside: lanes come with either number.
    template <typename Add>
    void join_after(const Region& region, Add add) const {
        for (std::uint32_t i = region.begin; i < region.end; ++i)
            for (const Slot slot : code_.instructions[i].results)
                if (slot != no_slot && std::ranges::any_of(writers_[slot], [&](std::uint32_t at) {
                        return !region.has(at);
                    }))
                    add(slot);
    }

    const Code& code_;
    std::vector<bool> varies_;
    std::vector<std::vector<std::uint32_t>> writers_;
};

Combining combining_of(const Code& code, const PtxInstruction& one, const VaryingSlots& varying) {
    const bool is_integer = one.type.kind != 'f' && one.type.kind != 'g' && one.type.kind != 'h';
    const bool is_counted = one.site != ~0u && one.inputs.size() == 2 && is_integer &&
                            (one.state == PtxState::global || one.state == PtxState::generic);
    if (!is_counted || varying.has(one.inputs[0])) return Combining::none;
    const bool is_used = code.sites[one.site].kind == AccessKind::atomic;
    const bool is_short = one.type.bits == 32;
    switch (one.variant) {
        case '+':
            if (!varying.has(one.inputs[1])) return Combining::always;
            return !is_short ? Combining::none
                   : is_used ? Combining::whole_warps
                             : Combining::reduces;
        case '<':
        case '>':
        case '&':
        case '|':
        case '^': return is_short && !is_used ? Combining::reduces : Combining::none;
        default: return Combining::none;
    }
}

}  // namespace

void mark_uniform_accesses(Code& code) {
    const auto is_examined = [](const PtxInstruction& one) {
        return one.opcode == Opcode::atomic ||
               (one.opcode == Opcode::load && one.state == PtxState::constant);
    };
    constexpr std::size_t most_examined = 1u << 14;
    if (code.instructions.size() > most_examined ||
        std::ranges::none_of(code.instructions, is_examined))
        return;
    const VaryingSlots varying(code);
    for (PtxInstruction& one : code.instructions)
        if (one.opcode == Opcode::atomic)
            one.combining = combining_of(code, one, varying);
        else if (is_examined(one) && varying.has(one.inputs.front()))
            code.uncounted.push_back(one.statement);
}

}  // namespace coalprof
