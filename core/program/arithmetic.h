// What instructions without memory make of a warp's registers, for all blocks of a box at once.
#pragma once

#include <array>
#include <cstdint>

#include "core/program/code.h"
#include "core/program/lanes.h"

namespace coalprof {

inline constexpr std::size_t most_inputs = 9;
inline constexpr std::size_t most_results = 8;

// An instruction whose slots are places in a warp's registers.
struct PtxStep {
    Opcode opcode = Opcode::nothing;
    PtxType type = {};
    PtxType from = {};
    PtxRelation relation = PtxRelation::eq;
    char variant = 0;
    bool is_negated = false;
    bool is_ordered = true;
    bool is_needed = false;
    std::uint8_t inputs = 0;
    std::uint8_t results = 0;
    PtxState state = PtxState::generic;
    Slot guard = no_slot;
    std::array<Slot, most_inputs> input{};
    std::array<Slot, most_results> result{};
    std::int64_t offset = 0;
    std::uint32_t width_bytes = 0;
    std::uint32_t site = ~0u;
    std::uint32_t target = 0;
    std::uint32_t instruction = 0;  // in Code::instructions
};

using Inputs = std::array<const LaneValue*, most_inputs>;

// The first result; of `active` lanes only. Throws BoxMustSplit.
void compute(const PtxStep& step, const Inputs& inputs, std::uint32_t active, const BlockBox& box,
             LaneValue& result);

// Throws BoxMustSplit where the register grows from block to block.
void need_fixed(const LaneValue& value);
// Throws where `bits` wide numbers of active lanes wrap somewhere in the box; signed or not.
void need_no_wrap(const LaneValue& value, std::uint32_t active, const BlockBox& box,
                  std::uint8_t bits, bool is_signed);

constexpr std::uint64_t mask_of(std::uint8_t bits) {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}
constexpr std::int64_t extended(std::uint64_t value, std::uint8_t bits) {
    return bits >= 64 ? static_cast<std::int64_t>(value)
                      : static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

}  // namespace coalprof
