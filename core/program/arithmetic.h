// Instructions without memory, executed on a warp's registers for all blocks of a box at once.
// numbers.h computes each lane's result.
#pragma once

#include <array>
#include <cstdint>

#include "core/program/code.h"
#include "core/program/growth.h"

namespace coalprof {

inline constexpr std::size_t most_inputs = 9;
inline constexpr std::size_t most_results = 8;

// An instruction whose slots are indices of a warp's registers.
struct PtxStep {
    Opcode opcode = Opcode::nothing;
    PtxType type = {};
    PtxType from = {};
    PtxRelation relation = PtxRelation::eq;
    char variant = 0;
    bool is_negated = false;
    bool is_ordered = true;
    bool is_needed = false;
    bool is_transposed = false;  // .trans of ldmatrix and stmatrix
    bool is_copy = false;        // cp.async
    bool is_saturated = false;
    bool gathers = false;
    char rounding = 0;
    Combining combining = Combining::none;
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
    std::uint32_t instruction = 0;  // place in Code::instructions
};

using Inputs = std::array<const LaneValue*, most_inputs>;

// The first result, for `active` lanes only. Throws BoxMustSplit.
void compute(const PtxStep& step, const Inputs& inputs, std::uint32_t active, const BlockBox& box,
             LaneValue& result);

}  // namespace coalprof
