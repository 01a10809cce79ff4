// `coalprof verify`: the whole catalog on the GPU, against the model.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "cli/sweep_options.h"
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
    std::string types;
    std::string ops;
    std::string size = "1MiB";
    std::string counters = "memory";
    bool full = false;
    OutputOptions telling;  // only the options of add_telling_to()
    std::string output;
    std::string device = "0";
};

VerifyScope scope_of(const VerifyCommand& command) {
    VerifyScope scope;
    if (!command.patterns.empty())
        for (const std::string& name : split_list(command.patterns, "--patterns"))
            scope.patterns.emplace_back(find_pattern(name).name);
    if (!command.types.empty())
        for (const std::string& name : split_list(command.types, "--type")) {
            const auto type = find_element_type(name);
            if (!type) throw UsageError(unknown_word("--type", name, element_type_list()));
            scope.types.push_back(*type);
        }
    if (!command.ops.empty())
        for (const std::string& name : split_list(command.ops, "--op")) {
            const auto op = find_word<Op>(name);
            if (!op) throw UsageError(unknown_word("--op", name, word_list<Op>()));
            scope.ops.push_back(*op);
        }
    scope.size_bytes = parse_size_bytes(command.size, "--size");
    if (command.full) scope.most_values = 100'000;
    return scope;
}

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

std::string text_of(const VerifyTotals& totals, const std::string& device) {
    std::string text = fmt::format("{}: {} of {} counters of {} points agree exactly\n", device,
                                   totals.agreed(), totals.compared, totals.points);
    if (totals.missing > 0)
        text += fmt::format("{} predicted counters could not be measured\n", totals.missing);
    for (const auto& [counter, of] : totals.estimated)
        text += fmt::format("{}: {} of {} intervals hold what was measured\n", key_of(counter),
                            of.held, of.measured);
    if (totals.failed_points > 0) text += fmt::format("{} points failed\n", totals.failed_points);
    for (const auto& finding : totals.findings)
        text += fmt::format("  {}{}{}\n", finding.point, finding.point.empty() ? "" : ": ",
                            finding.text);
    return text;
}

ExitCode run_verify(const VerifyCommand& command, const Invocation& invocation) {
    const StepLines steps(command.telling.verbose);
    command.telling.look.check();
    const VerifyScope scope = scope_of(command);
    const std::unique_ptr<ResultSink> points = open_points(command.output);
    const bool counts = command.counters != "none";
    const std::future<void> loading = load_counters_ahead(counts);
    const DeviceAccess device =
        open_device({.index = static_cast<int>(parse_integer(command.device, "--device", 0, 1023)),
                     .wants_counters = counts});
    if (!device.launcher) throw Error(fmt::format("verify needs a GPU: {}", device.no_gpu));
    if (counts && !device.collector)
        throw Error(fmt::format("verify needs hardware counters: {}", device.no_counters));
    const Machine machine = machine_of(device.launcher->device());
    ResultHead head = head_of(invocation.argv);
    head.machine = describe_machines({machine});
    head.sweep = {.pattern = "verify", .size_bytes = scope.size_bytes};
    CatalogPoints catalog(scope, machine);
    DeviceBackend backend(
        {.launcher = *device.launcher,
         .collector = device.collector.get(),
         .wanted =
             [&command](AccessSet accesses) { return counters_of(command.counters, accesses); },
         .repeats = 0});
    VerifyTotals totals;
    Tally tally(totals, points.get());
    Progress progress(tally, command.telling);
    run_points(catalog, backend, head, progress);
    print_out(text_of(totals, device.launcher->device().name));
    if (totals.status == Status::interrupted) return exit_code_of(Status::interrupted);
    return totals.findings.empty() ? ExitCode::done : ExitCode::finding;
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
    option("--type", command->types, "Only these types: a,b (default all)");
    option("--op", command->ops, "Only these ops: a,b (default all)");
    option("--size", command->size, "Useful data of each point (default 1MiB)");
    option("--counters", command->counters,
           "basic, memory, all, none (data only), or keys (default memory)");
    option("--device", command->device, "CUDA device index (default 0)");
    add_threads_to(*sub);
    add_value(*sub, "--output,-o", command->output,
              "Also write every point, predicted and measured, to FILE.jsonl or FILE.json", "FILE");
    sub->add_flag("--full", command->full, "Every value of every default sweep, not three of each");
    command->telling.add_telling_to(*sub);
    sub->footer(
        "Examples:\n"
        "  coalprof verify\n"
        "  coalprof verify --patterns offset,stride --type f32 -o points.json\n");
}

}  // namespace coalprof
