// Faults that stop a launch on a GPU: addresses outside of memory or between elements, and traps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/execute.h"
#include "core/result/result.h"

namespace coalprof {

inline constexpr std::string_view fault_cause = "fault";  // cause of such findings

// The instruction without its guard and its operands.
std::string name_of(const CodeStatement& statement);

struct FoundFault {
    KernelFault fault;
    LineFinding finding;
};
// One for each line and reason, the first thread in the order of the launch.
std::vector<FoundFault> found_faults(const Code& code, const KernelLaunch& launch,
                                     const Machine& machine, const ExecutionNotes& notes);

// The most dynamic shared memory of a launch, besides the memory that the kernel declares.
std::uint64_t most_dynamic_shared(const Code& code, const Machine& machine);
// Throws UsageError where the kernel uses more shared memory than it declares and the launch gives
// no size of dynamic shared memory.
void require_shared_size(const Code& code, const ExecutionNotes& notes);

}  // namespace coalprof
