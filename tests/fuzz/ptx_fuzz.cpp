// PTX of any kind is read, and its kernels executed in a small launch: refused with a printable
// error, or done within the steps and the memory that the limits allow.
#include <string>

#include "core/kernel/kernel_points.h"
#include "core/machine/machine.h"
#include "core/program/code.h"
#include "fuzz/claim.h"

namespace {

using namespace coalprof;

void execute_kernel(const Code& code, const Machine& machine) {
    KernelLaunch launch;
    launch.grid = {5, 2, 1};
    launch.block = {16, 3, 1};
    LaunchMemory memory;
    launch.parameters.resize(code.parameter_bytes);
    for (std::size_t i = 0; i < code.parameters.size(); ++i) {
        const std::uint64_t value = code.is_address[i] ? first_array + i * array_distance : 5;
        for (std::uint32_t byte = 0; byte < std::min(8u, code.parameters[i].size_bytes); ++byte)
            launch.parameters[code.parameter_offsets[i] + byte] =
                static_cast<std::uint8_t>(value >> (8 * byte));
        if (code.is_address[i]) memory.add({.name = "p", .base = value});
    }
    if (code.shared_bytes > 48u << 10) return;  // what a machine refuses is not executed
    const KernelResult result =
        predict_kernel(code, launch, memory, machine, {.limits = {.steps_of_warp = 2000}});
    fuzz::claim(!result.points.empty(), "a kernel has a point");
    fuzz::claim(result.points.size() == result.warps.size(), "each point has its warps");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Machine machine = find_machine("h200");
    const std::string text(fuzz::text_of(data, size));
    try {
        const PtxModule module = read_module(text, "k.ptx");
        for (const PtxFunction* kernel : module.kernels()) {
            Code code = make_code(module, *kernel);
            merge_shared_accesses(code);
            execute_kernel(code, machine);
        }
    } catch (const UsageError& error) {
        fuzz::claim_printable(error);
    }
    return 0;
}
