#include "core/program/step_code.h"

#include <algorithm>

namespace coalprof {
namespace {

bool is_kept(const PtxInstruction& one) {
    return is_control_flow(one.opcode) || one.is_needed ||
           (is_access(one.opcode) && one.site != ~0u);
}

// From after a step to before it.
void update_live(const PtxStep& step, std::vector<std::uint64_t>& live) {
    const auto bit = [](Slot place) { return std::uint64_t{1} << place % 64; };
    if (step.guard == no_slot)
        for (std::size_t i = 0; i < step.results; ++i)
            if (step.result[i] != no_slot) live[step.result[i] / 64] &= ~bit(step.result[i]);
    for (std::size_t i = 0; i < step.inputs; ++i)
        if (step.input[i] != no_slot) live[step.input[i] / 64] |= bit(step.input[i]);
    if (step.guard != no_slot) live[step.guard / 64] |= bit(step.guard);
}

// The number of instructions that set each register, at most 2.
std::vector<std::uint8_t> writers_of(const Code& code) {
    std::vector<std::uint8_t> writers(code.slots.size());
    for (const PtxInstruction& one : code.instructions)
        for (const Slot slot : one.results)
            if (slot != no_slot && writers[slot] < 2) ++writers[slot];
    return writers;
}

}  // namespace

bool is_control_flow(Opcode opcode) {
    return opcode == Opcode::branch || opcode == Opcode::branch_table || opcode == Opcode::exit ||
           opcode == Opcode::barrier || opcode == Opcode::warp_barrier || opcode == Opcode::trap;
}

bool is_access(Opcode opcode) {
    return opcode == Opcode::load || opcode == Opcode::store || opcode == Opcode::atomic;
}

StepCode::StepCode(const Code& code) : code_(code), places_(code.slots.size(), no_slot) {
    const std::vector<std::uint8_t> writers = writers_of(code);
    std::vector<std::uint32_t> new_at(code.instructions.size() + 1);
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        new_at[i] = static_cast<std::uint32_t>(steps_.size());
        if (is_kept(code.instructions[i]) && !preset(code.instructions[i], writers))
            add_step(code.instructions[i], i);
    }
    new_at.back() = static_cast<std::uint32_t>(steps_.size());
    for (PtxStep& step : steps_) resolve(step, new_at);
    for (Slot place = 0; place < slots_.size(); ++place) {
        const SlotInfo& slot = slot_at(place);
        predicates_.push_back(slot.kind == SlotKind::reg && slot.bits == 1);
        if (slot.kind >= SlotKind::ctaid_x && slot.kind <= SlotKind::ctaid_z)
            block_numbers_.push_back(place);
    }
    find_read_first();
}

bool StepCode::preset(const PtxInstruction& one, const std::vector<std::uint8_t>& writers) {
    const bool is_fixed = one.opcode == Opcode::load && one.state == PtxState::param &&
                          one.guard == no_slot && one.variant == 0 &&
                          code_.slots[one.inputs.front()].kind == SlotKind::constant;
    if (!is_fixed || std::ranges::any_of(one.results, [&](Slot slot) {
            return slot != no_slot && writers[slot] != 1;
        }))
        return false;
    std::uint64_t address =
        code_.slots[one.inputs.front()].value + static_cast<std::uint64_t>(one.offset);
    for (const Slot slot : one.results) {
        if (slot != no_slot) presets_.push_back({place_of(slot), address, one.type});
        address += std::max<std::uint64_t>(1, one.type.bytes());
    }
    return true;
}

Slot StepCode::place_of(Slot slot) {
    if (slot == no_slot) return no_slot;
    if (places_[slot] == no_slot) {
        places_[slot] = static_cast<Slot>(slots_.size());
        slots_.push_back(slot);
    }
    return places_[slot];
}

void StepCode::add_step(const PtxInstruction& one, std::size_t at) {
    PtxStep step{.opcode = one.opcode,
                 .type = one.type,
                 .from = one.from,
                 .relation = one.relation,
                 .variant = one.variant,
                 .is_negated = one.is_negated,
                 .is_ordered = one.is_ordered,
                 .is_needed = one.is_needed,
                 .is_transposed = one.is_transposed,
                 .is_copy = one.is_copy,
                 .is_saturated = one.is_saturated,
                 .gathers = one.gathers,
                 .rounding = one.rounding,
                 .combining = one.combining,
                 .state = one.state,
                 .guard = place_of(one.guard),
                 .offset = one.offset,
                 .width_bytes = one.width_bytes,
                 .site = one.site,
                 .target = one.target,
                 .instruction = static_cast<std::uint32_t>(at)};
    const bool takes_all = one.is_needed || one.is_copy || one.opcode == Opcode::branch_table;
    const std::size_t inputs = takes_all               ? std::min(one.inputs.size(), most_inputs)
                               : is_access(one.opcode) ? 1
                                                       : 0;
    for (std::size_t i = 0; i < inputs; ++i) step.input[step.inputs++] = place_of(one.inputs[i]);
    if (one.is_needed)
        for (std::size_t i = 0; i < std::min(one.results.size(), most_results); ++i)
            step.result[step.results++] = place_of(one.results[i]);
    steps_.push_back(step);
}

void StepCode::resolve(PtxStep& step, const std::vector<std::uint32_t>& new_at) {
    const PtxInstruction& one = code_.instructions[step.instruction];
    if (step.opcode == Opcode::branch) step.target = new_at[one.target];
    if (step.opcode != Opcode::branch_table) return;
    step.target = static_cast<std::uint32_t>(tables_.size());
    tables_.emplace_back();
    for (const std::uint32_t target : one.targets) tables_.back().push_back(new_at[target]);
}

std::vector<std::uint32_t> StepCode::followers_of(std::uint32_t at) const {
    const PtxStep& step = steps_[at];
    std::vector<std::uint32_t> all;
    if (step.opcode == Opcode::branch_table) all = table(step);
    if (step.opcode == Opcode::branch) all.push_back(step.target);
    const bool goes_on = step.guard != no_slot ||
                         (step.opcode != Opcode::branch && step.opcode != Opcode::exit &&
                          step.opcode != Opcode::trap && step.opcode != Opcode::branch_table);
    if (goes_on) all.push_back(at + 1);
    std::erase_if(all, [&](std::uint32_t one) { return one >= steps_.size(); });
    return all;
}

bool StepCode::is_cleared(Slot place) const {
    return slot_at(place).kind == SlotKind::reg &&
           std::ranges::find(presets_, place, &PresetRegister::place) == presets_.end();
}

// Registers that are live at the first step, found backwards until nothing changes: resetting all
// of them for each block took a third of the time.
void StepCode::find_read_first() {
    const std::size_t words = slots_.size() / 64 + 1;
    constexpr std::size_t most_words = std::size_t{1} << 23;
    if (steps_.size() * words > most_words) {  // all are assumed to be live
        for (Slot place = 0; place < slots_.size(); ++place)
            if (is_cleared(place)) read_first_.push_back(place);
        return;
    }
    std::vector<std::uint64_t> live((steps_.size() + 1) * words);
    std::vector<std::uint64_t> now(words);
    for (bool changed = true; changed;) {
        changed = false;
        for (auto at = static_cast<std::uint32_t>(steps_.size()); at-- > 0;) {
            std::ranges::fill(now, 0);
            for (const std::uint32_t next : followers_of(at))
                for (std::size_t i = 0; i < words; ++i) now[i] |= live[next * words + i];
            update_live(steps_[at], now);
            std::uint64_t* const before = &live[at * words];
            changed = changed || !std::equal(now.begin(), now.end(), before);
            std::ranges::copy(now, before);
        }
    }
    for (Slot place = 0; place < slots_.size(); ++place)
        if (is_cleared(place) && (live[place / 64] >> place % 64 & 1) != 0)
            read_first_.push_back(place);
}

}  // namespace coalprof
