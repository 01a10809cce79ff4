// What ptxas makes of a kernel: it unrolls loops once more than the compiler before it, makes one
// wide access of shared memory of several, and gives each thread registers. Each statement of the
// PTX gets a line number of its own, by which the line table of the machine code names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/program/code.h"

namespace coalprof {

// A statement's line number is this and its place in the module's text: no source has so many.
inline constexpr std::uint64_t first_mark = 100'000'000;

// The PTX that ptxas takes.
std::string ptx_with_marks(const PtxModule& module, const Code& code);

// Sets Code::machine_costs, machine_registers and machine_widths, and the widths of sites that
// became wider, from the cubin (7.5 and later) that ptxas made of it with -lineinfo. False: it
// cannot be read.
bool take_machine_code(Code& code, std::string_view cubin);

}  // namespace coalprof
