// What the instructions of PTX cost as ptxas compiled them.
#pragma once

#include <span>

#include "core/program/code.h"
#include "core/program/cubin.h"

namespace coalprof {

// Sets Code::machine_costs from machine code whose line table has the marks of machine_widths.h.
void take_machine_costs(Code& code, std::span<const MachineInstruction> machine_code);

}  // namespace coalprof
