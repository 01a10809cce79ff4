// `coalprof warps FILE`: one line, one warp instruction, one point.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/device_machine.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/result_head.h"
#include "cli/sweep_options.h"
#include "cli/wiring.h"
#include "core/run/warps_device_run.h"
#include "core/run/warps_run.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct WarpsCommand {
    std::string file;
    MachineOptions machine;
    OutputOptions output;
};

// An output that replaces the file it is made from would lose it.
void keep_input(const std::string& file, const std::vector<OutputTarget>& targets) {
    std::error_code none;  // what does not exist or cannot be looked at is not the same file
    for (const OutputTarget& target : targets)
        if (std::filesystem::equivalent(file, target.path, none))
            throw UsageError(
                fmt::format("--output {}: this is the warps file itself", shown(target.path)), {},
                UsageError::no_caret, "give the result a name of its own");
}

ExitCode run_warps_command(const WarpsCommand& command, const Invocation& invocation) {
    std::vector<Machine> machines = command.machine.machines();
    if (machines.size() != 1)
        throw UsageError("--machine: a warps file is predicted for one machine at a time");
    const auto listed = counters_listed(command.machine.counters);
    const auto targets = command.output.targets();
    keep_input(command.file, targets);
    Outputs outputs(targets);
    DeviceAccess device;
    if (command.machine.chosen_backend() == MachineOptions::Backend::device) {
        device =
            open_device({.index = command.machine.only_device_index("a warps file is replayed"),
                         .of_lone_warps = true});
        if (!device.launcher) throw Error(fmt::format("--backend device: {}", device.no_gpu));
        if (command.machine.machine.empty()) machines = {machine_of(device.launcher->device())};
    }

    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines(machines);
    head.backend = "model";
    head.sweep = {{"pattern", std::string("warps")}, {"file", command.file}};
    head.parameter = "name";
    head.columns = listed;
    if (!device.launcher) return run_warps(command.file, machines.front(), head, outputs);
    return run_warps_on_device(command.file, machines.front(), head,
                               {.launcher = *device.launcher,
                                .collector = device.collector.get(),
                                .no_counters = device.no_counters,
                                .wanted =
                                    [&](AccessKind kind, Space space) {
                                        return counters_of_warp(command.machine.counters, kind,
                                                                space);
                                    }},
                               outputs);
}

}  // namespace

void add_warps_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<WarpsCommand>();
    CLI::App* sub = app.add_subcommand(
        "warps", "Warp instructions from a file: one line, 32 addresses, one point");
    sub->group("Commands");
    sub->add_option("FILE", command->file, "The warps file; - reads standard input")->required();
    command->machine.add_to(*sub);
    command->output.add_to(*sub);
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] { return run_warps_command(*command, invocation); };
    });
}

}  // namespace coalprof
