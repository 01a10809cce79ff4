// Kernels for the tests of core/program and core/kernel: PTX, launches, and what they come to.
#pragma once

#include <string>
#include <vector>

#include "core/kernel/arguments.h"
#include "core/kernel/site_counts.h"
#include "core/machine/machine.h"
#include "core/program/code.h"
#include "core/program/execute.h"
#include "core/program/step_code.h"

namespace coalprof {

// A kernel `k` with the parameters p0, p1, ... (64 bits each) around `body`.
inline std::string ptx_of(const std::string& body, int parameters = 1) {
    std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n";
    for (int i = 0; i < parameters; ++i)
        text += "  .param .u64 p" + std::to_string(i) + (i + 1 < parameters ? ",\n" : "\n");
    return text + ")\n{\n  .reg .pred %p<9>;\n  .reg .b32 %r<40>;\n  .reg .b64 %rd<40>;\n" + body +
           "\n}\n";
}

struct Executed {
    std::vector<SiteCounts> counts;  // by site
    ExecutionNotes notes;
    std::vector<std::string> contents_missing = {};
    const SiteCounts& operator[](std::size_t site) const { return counts.at(site); }
};

inline Executed executed(const Code& code, KernelLaunch launch, LaunchMemory& memory,
                         const ExecutionLimits& limits = {}) {
    SiteCounter counter(find_machine("h100"), code.sites.size());
    Executed result;
    result.notes =
        execute(code, launch, memory, limits, 1, [&]() -> AccessSink& { return counter; }).notes;
    result.contents_missing = memory.names_of(result.notes.decisive);
    result.counts = counter.counts();
    return result;
}

// Each block for itself: what all blocks at once must come to.
inline Executed executed_one_by_one(const Code& code, const KernelLaunch& launch,
                                    LaunchMemory& memory) {
    SiteCounter counter(find_machine("h100"), code.sites.size());
    const StepCode steps(code);
    StepBudget budget(~std::uint64_t{0});
    Executor executor(steps, launch, memory, {}, budget);
    Executed result;
    for (std::uint32_t z = 0; z < launch.grid[2]; ++z)
        for (std::uint32_t y = 0; y < launch.grid[1]; ++y)
            for (std::uint32_t x = 0; x < launch.grid[0]; ++x) {
                executor.run({.first = {x, y, z}}, counter, result.notes);
                counter.keep();
            }
    result.counts = counter.counts();
    return result;
}

// The only kernel of the text, as `coalprof kernel` executes it.
inline Code code_of(const std::string& ptx) {
    const PtxModule module = read_module(ptx, "test.ptx");
    Code code = make_code(module, *module.kernels().front());
    merge_shared_accesses(code);
    return code;
}

// A launch of it, with arguments as they are typed.
inline Executed run(const std::string& ptx, std::array<std::uint32_t, 3> grid,
                    std::array<std::uint32_t, 3> block,
                    const std::vector<std::string>& arguments = {}) {
    Code code = code_of(ptx);
    BoundLaunch bound = bind_arguments(code, arguments);
    bound.launch.grid = grid;
    bound.launch.block = block;
    return executed(code, bound.launch, bound.memory);
}

}  // namespace coalprof
