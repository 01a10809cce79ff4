#include "core/sim/instruction_cost.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace coalprof {
namespace {

bool is_constant_slot(const Code& code, Slot slot) {
    return slot != no_slot && code.slots[slot].kind == SlotKind::constant;
}

// A product used by sums only is fused with them (IMAD.WIDE, IMAD), and so is a shift (LEA).
class Fusions {
 public:
    explicit Fusions(const Code& code) : readers_(code.slots.size(), 0), joins_(code.slots.size()) {
        for (const PtxInstruction& one : code.instructions)
            for (const Slot slot : one.inputs)
                if (slot != no_slot) {
                    ++readers_[slot];
                    const bool is_sum = one.opcode == Opcode::add && !one.type.is_real();
                    if (is_sum) ++joins_[slot];
                }
    }
    bool goes_into_sum(const PtxInstruction& one) const {
        if (one.results.size() != 1 || one.results.front() == no_slot) return false;
        const Slot slot = one.results.front();
        return readers_[slot] > 0 && readers_[slot] == joins_[slot];
    }

 private:
    std::vector<std::uint32_t> readers_;
    std::vector<std::uint32_t> joins_;  // of the readers
};

bool has_word(const Code& code, const PtxInstruction& one, std::string_view word) {
    return one.statement < code.statements.size() &&
           code.statements[one.statement].text.find(word) != std::string::npos;
}

// Instructions in the sequences that ptxas 13.0 writes for operations without an instruction,
// counted in SASS of sm_90.
IssueCost cost_of_division(const Code& code, const PtxInstruction& one) {
    if (one.type.is_real()) {
        if (one.type.bits == 64) return {26, 4, 8, 44};
        if (has_word(code, one, ".approx")) return {3, 0, 8, 0};
        return has_word(code, one, ".full") ? IssueCost{5, 2, 8, 0} : IssueCost{10, 3, 8, 0};
    }
    if (one.inputs.size() > 1 && is_constant_slot(code, one.inputs[1])) {
        const bool is_power = std::has_single_bit(code.slots[one.inputs[1]].value);
        return is_power ? IssueCost{2, 2, 0, 0} : IssueCost{4, 6, 0, 0};
    }
    return one.type.bits == 64 ? IssueCost{75, 90, 24, 0} : IssueCost{22, 26, 24, 0};
}

IssueCost cost_of_root(const Code& code, const PtxInstruction& one) {
    if (one.type.bits == 64) return {24, 4, 8, 40};
    const bool is_short = has_word(code, one, ".approx") || one.opcode == Opcode::inverse_root;
    return is_short ? IssueCost{2, 1, 8, 0} : IssueCost{8, 2, 8, 0};
}

IssueCost cost_of_conversion(const PtxInstruction& one) {
    const bool was_real = one.from.is_real(), is_real = one.type.is_real();
    if (!was_real && !is_real) {
        if (one.type.bits > one.from.bits && one.type.bits == 64) return {0.5f, 0.5f, 0, 0};
        return {0.5f, 1, 0, 0};
    }
    const bool is_wide = one.type.bits == 64 || one.from.bits == 64;
    return is_wide ? IssueCost{1, 0, 8, 2} : IssueCost{1, 2, 0, 0};
}

IssueCost cost_of_arithmetic(const PtxInstruction& one, const Fusions& fusions) {
    const bool is_wide = one.type.bits == 64;
    if (one.type.is_real()) return is_wide ? IssueCost{1, 0, 0, 2} : IssueCost{1};
    switch (one.opcode) {
        case Opcode::multiply_wide:
        case Opcode::multiply:
            if (is_wide && one.opcode == Opcode::multiply) return {4.5f, 4.5f, 0, 0};
            return fusions.goes_into_sum(one) ? IssueCost{} : IssueCost{1, 1, 0, 0};
        case Opcode::shift_left:
            if (fusions.goes_into_sum(one)) return {};
            break;
        case Opcode::mad:
        case Opcode::mad_wide:
            return is_wide && one.opcode == Opcode::mad ? IssueCost{4, 4, 0, 0}
                                                        : IssueCost{1, 1, 0, 0};
        default: break;
    }
    if (one.type.kind == 'p') return {0.5f, 1, 0, 0};  // many are folded into comparisons
    return is_wide ? IssueCost{1.75f, 3, 0, 0} : IssueCost{1, 1.5f, 0, 0};
}

IssueCost cost_of_memory(const PtxInstruction& one) {
    if (one.state == PtxState::param) return {};  // an operand of the instruction that reads it
    if (one.state == PtxState::constant) return {0.5f};
    return {1};
}

IssueCost cost_of(const Code& code, const PtxInstruction& one, const Fusions& fusions) {
    switch (one.opcode) {
        case Opcode::load:
        case Opcode::store:
        case Opcode::atomic: return cost_of_memory(one);
        case Opcode::move: {
            const bool is_number = !one.inputs.empty() && is_constant_slot(code, one.inputs[0]);
            const bool is_special = !one.inputs.empty() && one.inputs[0] != no_slot &&
                                    code.slots[one.inputs[0]].kind > SlotKind::constant;
            return {is_special ? 1.0f : is_number ? 0.5f : 0.25f};
        }
        case Opcode::to_generic:
        case Opcode::from_generic:
        case Opcode::pack:
        case Opcode::unpack: return {0};
        case Opcode::divide:
        case Opcode::remainder: return cost_of_division(code, one);
        case Opcode::reciprocal:
            return one.type.bits == 64
                       ? IssueCost{18, 2, 8, 30}
                       : IssueCost{has_word(code, one, ".approx") ? 2.f : 7.f, 2, 8, 0};
        case Opcode::square_root:
        case Opcode::inverse_root: return cost_of_root(code, one);
        case Opcode::sine:
        case Opcode::cosine:
        case Opcode::log2:
        case Opcode::exp2:
        case Opcode::hyperbolic_tangent: return {2, 0, 8, 0};
        case Opcode::popc:
        case Opcode::clz:
        case Opcode::bfind:
        case Opcode::brev: return {1, 0, 8, 0};
        case Opcode::convert: return cost_of_conversion(one);
        case Opcode::compare:
        case Opcode::minimum:
        case Opcode::maximum:
        case Opcode::select:
            if (one.type.is_real() && one.type.bits == 64) return {2, 2, 0, 2};
            return one.from.bits == 64 && !one.from.is_real() ? IssueCost{2, 4, 0, 0}
                                                              : IssueCost{1, 2, 0, 0};
        case Opcode::branch:
        case Opcode::branch_table:
        case Opcode::exit:
        case Opcode::barrier:
        case Opcode::warp_barrier: return {1};
        case Opcode::trap:
        case Opcode::nothing: return {0};
        case Opcode::unknown: return has_word(code, one, "mma") ? IssueCost{2} : IssueCost{1};
        default: return cost_of_arithmetic(one, fusions);
    }
}

// Instructions from the first to the last that name a register; those of a loop, if it is there
// when the loop begins.
struct Span {
    std::size_t first = ~std::size_t{0}, last = 0;
    std::uint32_t writers = 0;
    bool is_parameter = false;  // read from constant memory, without a register
};

std::vector<Span> spans_of(const Code& code) {
    std::vector<Span> spans(code.slots.size());
    const auto name = [&](Slot slot, std::size_t at) {
        if (slot == no_slot) return;
        spans[slot].first = std::min(spans[slot].first, at);
        spans[slot].last = at;
    };
    for (std::size_t at = 0; at < code.instructions.size(); ++at) {
        const PtxInstruction& one = code.instructions[at];
        for (const Slot slot : one.inputs) name(slot, at);
        name(one.guard, at);
        const bool passes_on = (one.opcode == Opcode::to_generic || one.opcode == Opcode::move) &&
                               one.inputs.size() == 1 && one.inputs[0] != no_slot &&
                               spans[one.inputs[0]].is_parameter;
        for (const Slot slot : one.results) {
            name(slot, at);
            if (slot != no_slot)
                spans[slot].is_parameter =
                    ++spans[slot].writers == 1 &&
                    (passes_on || (one.opcode == Opcode::load && one.state == PtxState::param));
        }
        if (one.opcode != Opcode::branch || one.target > at) continue;
        for (Span& span : spans)
            if (span.first < one.target && span.last >= one.target) span.last = at;
    }
    return spans;
}

}  // namespace

std::vector<IssueCost> costs_of(const Code& code) {
    if (!code.machine_costs.empty()) return code.machine_costs;
    const Fusions fusions(code);
    std::vector<IssueCost> costs;
    for (const PtxInstruction& one : code.instructions)
        costs.push_back(cost_of(code, one, fusions));
    return costs;
}

std::uint32_t registers_of(const Code& code) {
    if (code.machine_registers != 0) return code.machine_registers;
    constexpr int least = 16, most = 255;
    constexpr std::size_t most_steps = std::size_t{1} << 26;  // some hundredths of a second
    if (code.instructions.size() * code.slots.size() / 64 > most_steps) return 64;
    std::vector<int> change(code.instructions.size() + 1);
    const std::vector<Span> spans = spans_of(code);
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const SlotInfo& slot = code.slots[i];
        if (slot.kind != SlotKind::reg || slot.bits == 1 || spans[i].is_parameter) continue;
        if (spans[i].first >= spans[i].last) continue;
        const int words = slot.bits > 32 ? 2 : 1;
        change[spans[i].first] += words;
        change[spans[i].last] -= words;
    }
    int now = 0, most_live = 0;
    for (const int one : change) most_live = std::max(most_live, now += one);
    // ptxas keeps a few for addresses and hoisted values.
    constexpr int beside = 8;
    return static_cast<std::uint32_t>(std::clamp(most_live + beside, least, most));
}

}  // namespace coalprof
