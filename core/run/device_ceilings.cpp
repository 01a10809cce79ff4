#include "core/run/device_ceilings.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

Reading ceiling_or_reason(double bytes_per_second) {
    if (bytes_per_second > 0) return bytes_per_second;
    return Unavailable{"this GPU's ceiling was too fast for the clock, so there is no share of it"};
}

bool only_loads(const Program& program) {
    return std::all_of(program.instructions.begin(), program.instructions.end(),
                       [](const Instruction& one) {
                           return one.space != Space::global || one.kind == AccessKind::load;
                       });
}

}  // namespace

DeviceCeilings measure_ceilings(KernelLauncher& launcher) {
    try {
        const Reading read = ceiling_or_reason(launcher.read_ceiling());
        return {read, ceiling_or_reason(launcher.copy_ceiling())};
    } catch (const DeviceLostError&) {
        throw;
    } catch (const Error& error) {
        const Unavailable reason{keep_reason(
            fmt::format("this GPU's ceilings could not be measured: {}", error.what()))};
        return {reason, reason};
    }
}

Reading bandwidth_share(const DeviceCeilings& ceilings, const Program& program,
                        const Reading& bandwidth) {
    const Reading& ceiling = only_loads(program) ? ceilings.read : ceilings.copy;
    if (!is_present(ceiling) || !is_present(bandwidth) || !touches_global_memory(program))
        return {};
    if (!is_number(bandwidth)) return bandwidth;
    if (!is_number(ceiling)) return ceiling;
    return number_in(bandwidth) / number_in(ceiling);
}

}  // namespace coalprof
