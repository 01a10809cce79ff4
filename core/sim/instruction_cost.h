// The cost of a PTX instruction for the scheduler that issues it, as ptxas would compile it, and
// the registers of a thread of the kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/program/code.h"

namespace coalprof {

// By Code::instructions.
std::vector<IssueCost> costs_of(const Code& code);

// Registers of a thread, from how many of PTX's registers live at once.
std::uint32_t registers_of(const Code& code);

}  // namespace coalprof
