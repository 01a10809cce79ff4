// What a GPU stops a launch for: addresses outside of memory or between elements, and traps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/execute.h"
#include "core/result/result.h"

namespace coalprof {

inline constexpr std::string_view fault_cause = "fault";  // of such findings

// One for each line and reason, the first thread in the order of the launch.
std::vector<LineFinding> findings_of_faults(const Code& code, const KernelLaunch& launch,
                                            const Machine& machine, const ExecutionNotes& notes);

// What a launch may have beside the shared memory that the kernel declares.
std::uint64_t most_dynamic_shared(const Code& code, const Machine& machine);
// Throws UsageError where the kernel asks for more than it declares: of a launch that does not say
// how much dynamic shared memory it has.
void require_shared_size(const Code& code, const ExecutionNotes& notes);

}  // namespace coalprof
