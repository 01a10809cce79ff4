// What ptxas makes of a kernel's accesses of shared memory: it unrolls loops once more than the
// compiler before it, and makes one wide access of several. Each access of the PTX gets a line
// number of its own, by which the line table of the machine code names it.
#pragma once

#include <string>
#include <string_view>

#include "core/program/code.h"

namespace coalprof {

// The PTX that ptxas takes; empty: no access of the kernel can become wider.
std::string ptx_with_marks(const PtxModule& module, const Code& code);

// Sets Code::machine_widths, and the widths of sites that became wider, from the cubin (7.5 and
// later) that ptxas made of it with -lineinfo. False: it cannot be read.
bool take_machine_widths(Code& code, std::string_view cubin);

}  // namespace coalprof
