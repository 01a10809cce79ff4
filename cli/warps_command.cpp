// `coalprof warps FILE`: one line, one warp instruction, one point.
#include <fmt/format.h>

#include <memory>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "cli/sweep_job.h"
#include "cli/sweep_options.h"
#include "cli/wiring.h"
#include "core/count/predict.h"
#include "core/run/backend.h"
#include "core/run/device_backend.h"
#include "core/run/device_ceilings.h"
#include "core/run/run_points.h"
#include "core/sweep/warps_source.h"
#include "core/write/columns.h"

namespace coalprof {
namespace {

struct WarpsCommand {
    std::string file;
    std::string type;
    std::string op;
    bool totals = false;
    MachineOptions machine;
    OutputOptions output;
};

// The columns of a csv are in its first line: those that any later line of the file can have. None
// where no output is one, or the user chose.
std::vector<Counter> csv_columns(const WarpsCommand& command, const Machine& machine,
                                 const std::vector<OutputTarget>& targets, bool is_measured) {
    if (!has_csv(targets)) return {};
    SeenCounters seen;
    const Predictor predictor(machine);
    for (const WarpOp& op : ops_in_warps_file(command.file, npy_warps(command.op, command.type))) {
        WarpAccess access;
        access.kind = op.kind;
        access.space = op.space;
        access.active_lanes = 1;
        Readings readings;
        predictor.predict_warp(access, readings);
        seen.add(readings);
        if (!is_measured) continue;
        for (const Counter counter : counters_of(command.machine.counters, accesses_of(access)))
            seen.add(counter);
    }
    return seen.in_output_order();
}

// The columns of a histogram's totals: how many requests, and the cost of each.
std::vector<Counter> columns_of_totals(const WarpsCommand& command) {
    std::vector<Counter> columns;
    for (const WarpOp& op : ops_in_warps_file(command.file, npy_warps(command.op, command.type))) {
        if (op.space == Space::global) {
            for (const AccessField field :
                 {AccessField::requests, AccessField::sectors, AccessField::sectors_per_request,
                  AccessField::efficiency})
                columns.push_back(access_counter(op.kind, field));
        } else if (op.kind == AccessKind::load) {
            columns.insert(columns.end(),
                           {Counter::shared_load_requests, Counter::shared_load_wavefronts});
        } else {
            columns.insert(columns.end(),
                           {Counter::shared_store_requests, Counter::shared_store_wavefronts});
        }
    }
    return columns;
}

std::unique_ptr<Backend> backend_for(const MachineOptions& options, const DeviceAccess& device) {
    if (!device.launcher) return std::make_unique<ModelBackend>();
    return std::make_unique<DeviceBackend>(DeviceRun{
        .launcher = *device.launcher,
        .collector = device.collector.get(),
        .no_counters = device.no_counters,
        .wanted =
            [&options](AccessSet accesses) { return counters_of(options.counters, accesses); },
        .accesses = {Access::global_load},
        .repeats = 0,
        .points_together = warps_together,
    });
}

ExitCode run_warps_command(const WarpsCommand& command, const Invocation& invocation) {
    const StepLines steps(command.output.verbose);
    std::vector<Machine> machines = command.machine.machines();
    if (machines.size() != 1)
        throw UsageError("--machine: a warps file is predicted for one machine at a time");
    std::vector<Counter> chosen = command.output.view.chosen_columns();
    const bool has_sectors = machines.front().rules->global == GlobalRule::sectors_by_warp;
    if (chosen.empty() && command.machine.counters.empty() && command.totals && has_sectors)
        chosen = columns_of_totals(command);
    const auto targets = command.output.targets();
    if (!command.machine.shard.empty())
        throw UsageError("--shard: how many lines a warps file has is not known before its end",
                         "split the file itself: split -n l/2/4 FILE | coalprof warps -");
    RunSinks sinks(targets, command.machine, command.output);
    DeviceAccess device;
    if (command.machine.chosen_backend() == MachineOptions::Backend::device) {
        const std::future<void> loading = load_counters_ahead(true);
        device = open_device({.index = command.machine.device_index(), .of_lone_warps = true});
        if (!device.launcher) throw Error(fmt::format("--backend device: {}", device.no_gpu));
        if (command.machine.machine.empty()) machines = {machine_of(device.launcher->device())};
    }

    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines(machines);
    head.sweep = {.pattern = "warps", .file = command.file};
    head.columns = counters_listed(command.machine.counters);
    head.table_columns = std::move(chosen);
    if (head.columns.empty() && head.table_columns.empty())
        head.table_columns =
            csv_columns(command, machines.front(), targets, device.launcher != nullptr);
    WarpsSource source(command.file, machines.front(), npy_warps(command.op, command.type));
    const std::unique_ptr<Backend> backend = backend_for(command.machine, device);
    if (!command.totals)
        return sinks.judged(run_points(source, *backend, head, sinks.sink(), sinks.keeping()));
    WarpTotals totals(sinks.sink());
    return sinks.judged(run_points(source, *backend, head, totals));
}

}  // namespace

void add_warps_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<WarpsCommand>(
        app, invocation, "warps",
        "Warp instructions from a file: one line, 32 addresses, one point", run_warps_command);
    sub->add_option(
           "FILE", command->file,
           "The warps file, or a .npy file of addresses or indices; - reads standard input")
        ->required();
    add_value(*sub, "--type", command->type,
              "The type of elements whose indices a .npy file has (default: it has addresses)",
              "T");
    add_value(*sub, "--op", command->op,
              "The operation of the warps of a .npy file (default: load)", "O");
    sub->add_flag("--totals", command->totals,
                  "The sum of all lines, and how many requests take 1, 2, 3, ... sectors");
    sub->footer(
        "A line of the file is one warp instruction, # starts a comment:\n"
        "  NAME OP WIDTH A0 A1 ... A31\n"
        "  OP      load, store, atomic, reduce, shared_load or shared_store\n"
        "  WIDTH   bytes per lane: 1, 2, 4, 8, 16, or 32 from 10.0 on (atomic, reduce: 4 or 8)\n"
        "  A0...   32 byte addresses, decimal or 0x..., or - for an inactive lane\n\n"
        "Examples:\n"
        "  coalprof warps FILE\n"
        "  coalprof warps indices.npy --type f32 --totals\n"
        "  coalprof warps FILE --columns load_sectors --sort load_sectors\n");
    command->machine.add_to(*sub);
    command->output.add_to(*sub);
    command->output.view.add_to(*sub);
}

}  // namespace coalprof
