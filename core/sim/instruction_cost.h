// What an instruction of PTX costs the scheduler that issues it, as ptxas would leave it, and how
// many registers a thread of the kernel needs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

// Of a warp. Cycles are of a scheduler, which has a quarter of each unit.
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

// Of a thread, from how many of PTX's registers live at once.
std::uint32_t registers_of(const Code& code);

}  // namespace coalprof
