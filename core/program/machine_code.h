// Kernels that are machine code without PTX: CUPTI's SASS metrics count each of their memory
// instructions, of one function in a run of the program. The names of the metrics, the meaning of
// their counts, and which kernels are worth such a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/trace.h"
#include "core/program/traced_kernels.h"

namespace coalprof {

// CUPTI's names, the most useful first. A chip may lack some.
std::span<const std::string_view> machine_code_metrics();
// This many of the first fit together (H200, CUDA 13.0); more may not.
inline constexpr std::size_t sure_machine_code_metrics = 7;

// One entry for each line of a function, kind and width of access; without line information one
// for each instruction.
std::vector<LineSummary> lines_of_machine_code(const std::vector<Trace>& traces);

// Executions of bulk copies (TMA), which have no sectors, by their functions.
std::map<std::string, std::uint64_t> bulk_copies_of(const std::vector<Trace>& traces);

// True if the kernel, by its mangled name, is one of NVIDIA's libraries or of PyTorch.
bool is_of_library(const std::string& symbol);

// A kernel, by its mangled name, and the number of its counted launches in the first run.
struct KernelOfMachineCode {
    std::string name;
    std::uint64_t launches = 0;
};
// Kernels that do not count themselves, at most `most`: those of the program before those of
// libraries, then those that take most time. `kernels` and `first_run` are of the run that the
// hardware counted, `of_ptx` of that in which code counted itself; empty: there was no such run.
std::vector<KernelOfMachineCode> kernels_of_machine_code(const std::vector<KernelSummary>& kernels,
                                                         const std::vector<Trace>& first_run,
                                                         const std::vector<Trace>& of_ptx,
                                                         std::size_t most);

}  // namespace coalprof
