// A kernel's code as executed: only the instructions that matter, with indices of a warp's
// registers instead of slots.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/arithmetic.h"
#include "core/program/code.h"

namespace coalprof {

bool is_access(Opcode opcode);        // a load, a store or an atomic
bool is_control_flow(Opcode opcode);  // changes the next instruction

// A register that a single instruction sets, to a parameter of the launch.
struct PresetRegister {
    Slot place = no_slot;
    std::uint64_t address = 0;  // place among the parameters
    PtxType type = {};
};

// The value of a register of `bits` that loads this number from memory.
inline std::uint64_t number_as_loaded(std::uint64_t number, PtxType type, std::uint8_t bits) {
    return type.kind == 's'
               ? static_cast<std::uint64_t>(extended(number, type.bits)) & mask_of(bits)
               : number;
}

class StepCode {
 public:
    explicit StepCode(const Code& code);

    const Code& code() const { return code_; }
    const PtxStep& step(std::uint32_t at) const { return steps_[at]; }
    const std::vector<std::uint32_t>& table(const PtxStep& branch) const {
        return tables_[branch.target];
    }
    std::size_t places() const { return slots_.size(); }
    const SlotInfo& slot_at(Slot place) const { return code_.slots[slots_[place]]; }
    bool is_predicate(Slot place) const { return predicates_[place]; }
    // Registers that some path reads before writing: they are zero when a block begins.
    const std::vector<Slot>& read_first() const { return read_first_; }
    // Set once for all blocks instead of by steps: kernels begin with such loads.
    const std::vector<PresetRegister>& presets() const { return presets_; }
    // Registers with the number of the block.
    const std::vector<Slot>& block_numbers() const { return block_numbers_; }

 private:
    Slot place_of(Slot slot);
    bool preset(const PtxInstruction& one, const std::vector<std::uint8_t>& writers);
    void add_step(const PtxInstruction& one, std::size_t at);
    void resolve(PtxStep& step, const std::vector<std::uint32_t>& new_at);
    bool is_cleared(Slot place) const;
    void find_read_first();
    std::vector<std::uint32_t> followers_of(std::uint32_t at) const;

    const Code& code_;
    std::vector<PtxStep> steps_;
    std::vector<std::vector<std::uint32_t>> tables_;
    std::vector<Slot> places_;  // slot -> index in a warp's registers
    std::vector<Slot> slots_;   // the slot of a place
    std::vector<bool> predicates_;
    std::vector<Slot> read_first_;
    std::vector<Slot> block_numbers_;
    std::vector<PresetRegister> presets_;
};

}  // namespace coalprof
