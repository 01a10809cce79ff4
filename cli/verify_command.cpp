// `coalprof verify`: the whole catalog on the GPU, against the model.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "cli/wiring.h"
#include "core/judge/verify.h"
#include "core/result/result.h"
#include "core/run/device_backend.h"
#include "core/run/device_ceilings.h"
#include "core/run/run_points.h"
#include "core/sweep/patterns.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/write/outputs.h"

namespace coalprof {
namespace {

struct VerifyCommand {
    std::string patterns;
    VerifyScope scope;
    std::string counters = "memory";
    bool full = false;
    GateReportOptions report;  // its file is that of the points
    std::string device = "0";
};

// The points of all ops as one result, where the user asked for it.
std::unique_ptr<ResultSink> open_points(const std::string& path) {
    if (path.empty()) return nullptr;
    const Format& format = format_of_path(path);
    if (format.name != "jsonl" && format.name != "json")
        throw UsageError(
            fmt::format("--output {}: points of all kinds fit no one table", shown(path)),
            "name the file FILE.jsonl or FILE.json");
    return std::make_unique<Outputs>(
        std::vector<OutputTarget>{{path, &format, {}}}, nullptr, [](std::string_view remark) {
            print_err(fmt::format("coalprof: {}\n", printable(remark)));
        });
}

ExitCode run_verify(VerifyCommand& command, const Invocation& invocation) {
    const StepLines steps(command.report.telling.verbose);
    command.report.check();
    if (!command.patterns.empty())
        for (const std::string& name : split_list(command.patterns, "--patterns"))
            command.scope.patterns.emplace_back(find_pattern(name).name);
    command.scope.sweep();  // refuses what no sweep takes
    if (command.full) command.scope.most_values = most_range_points;
    const std::unique_ptr<ResultSink> points =
        open_points(std::exchange(command.report.output, {}));
    const bool counts = command.counters != "none";
    const std::future<void> loading = load_counters_ahead(counts);
    const DeviceAccess device =
        open_device({.index = static_cast<int>(parse_integer(command.device, "--device", 0, 1023)),
                     .wants_counters = counts});
    if (!device.launcher)
        throw Error(
            fmt::format("verify needs a GPU: {}; run it on the host that has one", device.no_gpu));
    if (counts && !device.collector)
        throw Error(fmt::format("verify needs hardware counters: {}", device.no_counters));
    const Machine machine = machine_of(device.launcher->device());
    CatalogPoints catalog(command.scope, machine);
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines({machine});
    head.sweep = {.pattern = "verify"};
    DeviceBackend backend(
        {.launcher = *device.launcher,
         .collector = device.collector.get(),
         .wanted = [&](AccessSet accesses) { return counters_of(command.counters, accesses); },
         .repeats = 0});
    VerifyJudge judge(points.get());
    Progress progress(judge, command.report.telling);
    const ExitCode code = run_points(catalog, backend, head, progress);
    command.report.write(judge.report());
    return code == exit_code_of(Status::interrupted) ? code : judge.report().code();
}

}  // namespace

void add_verify_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<VerifyCommand>(
        app, invocation, "verify",
        "Measure the whole catalog and compare every counter with the model", run_verify);
    const auto option = [&](const char* name, std::string& value, const char* help) {
        add_value(*sub, name, value, help, "L");
    };
    option("--patterns", command->patterns, "Only these patterns: a,b (default all)");
    option("--type", command->scope.types, "Only these types: a,b (default all)");
    option("--op", command->scope.ops, "Only these ops: a,b (default all)");
    option("--size", command->scope.size, "Useful data of each point (default 1MiB)");
    option("--counters", command->counters,
           "basic, memory, all, none (data only), or keys (default memory)");
    option("--device", command->device, "CUDA device index (default 0)");
    add_threads_to(*sub);
    sub->add_flag("--full", command->full, "Every value of every default sweep, not three of each");
    command->report.add_to(*sub);
    sub->get_option("--output")
        ->description("Also write every point, predicted and measured, to FILE.jsonl or FILE.json");
    sub->footer(
        "Examples:\n"
        "  coalprof verify\n"
        "  coalprof verify --patterns offset,stride --type f32 -o points.json\n");
}

}  // namespace coalprof
