// The cost of a PTX instruction for the scheduler that issues it, as ptxas would compile it, and
// the registers of a thread of the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

// Cost of a warp. Cycles are those of a scheduler, which has a quarter of each unit.
struct IssueCost {
    float issued = 0;   // instructions
    float integer = 0;  // cycles of the units for integers and comparisons: 16 lanes a cycle
    float special = 0;  // of those for reciprocals, roots and exponentials: 4 lanes a cycle
    float doubles = 0;  // of those for doubles: 16 lanes a cycle
    void add(const IssueCost& other) {
        issued += other.issued;
        integer += other.integer;
        special += other.special;
        doubles += other.doubles;
    }
    IssueCost times(float by) const {
        return {issued * by, integer * by, special * by, doubles * by};
    }
};

// By Code::instructions.
std::vector<IssueCost> costs_of(const Code& code);

// Registers of a thread, from how many of PTX's registers live at once.
std::uint32_t registers_of(const Code& code);

}  // namespace coalprof
