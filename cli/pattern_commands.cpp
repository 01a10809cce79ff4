// `coalprof PATTERN`: one command per entry of the catalog.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/sweep_job.h"
#include "core/sweep/sweep.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

struct PatternCommand {
    SweepOptions sweep;
    MachineOptions machine;
    OutputOptions output;
};

// With every word of the option that the pattern compares, where none was chosen and all of them
// fit the other options.
Sweep sweep_of(const PatternInfo& pattern, SweepOptions options) {
    const LaunchOption* compared = find_launch_option(pattern.compares);
    if (!compared || !options.typed[compared->key].empty()) return options.sweep_of(pattern);
    SweepOptions all = options;
    all.typed[compared->key] = joined(compared->words(), ",");
    try {
        Sweep sweep = all.sweep_of(pattern);
        Sweep tried = sweep;
        tried.machines = {find_machine("h200")};
        SweepPoints(std::move(tried)).check();
        return sweep;
    } catch (const UsageError&) {
        return options.sweep_of(pattern);
    }
}

ExitCode run_pattern(const PatternInfo& pattern, const PatternCommand& command,
                     const Invocation& invocation) {
    const Sweep sweep = sweep_of(pattern, command.sweep);
    const auto points = [&sweep](const std::vector<Machine>& machines, KernelLauncher* launcher) {
        Sweep concrete = sweep;
        concrete.machines = machines;
        if (launcher)
            concrete.auto_pitch = [launcher](std::uint64_t row_bytes) {
                return launcher->pitch_bytes(row_bytes);
            };
        return std::make_unique<SweepPoints>(std::move(concrete));
    };
    return run_sweep_job({points, describe_sweep(sweep), command.sweep}, command.machine,
                         command.output, invocation);
}

}  // namespace

void add_pattern_commands(CLI::App& app, Invocation& invocation) {
    for (const PatternInfo& pattern : pattern_catalog()) {
        const auto [sub, command] = add_command<PatternCommand>(
            app, invocation, std::string(pattern.name), std::string(pattern.teaches),
            [&pattern](const PatternCommand& chosen, const Invocation& all) {
                return run_pattern(pattern, chosen, all);
            });
        sub->group("Patterns");
        command->sweep.add_range_to(*sub, pattern);
        command->sweep.add_pattern_options_to(*sub, pattern.options);
        command->sweep.add_shape_to(*sub, &pattern);
        command->machine.add_to(*sub);
        command->output.add_to(*sub);
        command->output.view.add_to(*sub);
        sub->footer(fmt::format(
            "{1}Examples:\n"
            "  coalprof {0} --type f32,f64\n"
            "  coalprof {0} --machine k80,h200 --format md\n"
            "  coalprof {0} --block 64..1024*2 -o {0}.json\n"
            "  coalprof explain {0}\n",
            pattern.name, pattern.mapping.empty() ? "" : fmt::format("{}\n\n", pattern.mapping)));
    }
}

}  // namespace coalprof
