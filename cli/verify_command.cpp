// `coalprof verify`: the whole catalog on the GPU, against the model.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cli/invocation.h"
#include "cli/print.h"
#include "cli/result_head.h"
#include "cli/sweep_options.h"
#include "cli/wiring.h"
#include "core/pattern/catalog.h"
#include "core/run/device_machine.h"
#include "core/run/stop.h"
#include "core/run/verify.h"
#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/size.h"
#include "core/text/suggest.h"
#include "core/write/outputs.h"
#include "core/write/verify_json.h"

namespace coalprof {
namespace {

struct VerifyCommand {
    std::string patterns;
    std::string types;
    std::string ops;
    std::string size = "1MiB";
    std::string counters = "memory";
    bool full = false;
    bool json = false;
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
            const auto op = find_op(name);
            if (!op) throw UsageError(unknown_word("--op", name, op_list()));
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
            fmt::format("--output {}: points of all kinds fit no one table", shown(path)), {},
            UsageError::no_caret, "name the file FILE.jsonl or FILE.json");
    return std::make_unique<Outputs>(std::vector<OutputTarget>{{path, &format, {}}});
}

// Takes the points of a run, keeps nothing but the tally and hands them on to `points`, if any.
class TallySink : public ResultSink {
 public:
    TallySink(VerifyReport& report, const std::vector<Counter>& wanted, ResultSink* points)
        : report_(report), wanted_(wanted), points_(points) {}
    void begin(const ResultHead& head) override {
        report_.head.passes = std::max(report_.head.passes, head.passes);
    }
    void point(const Point& point) override {
        tally(report_.totals, point.name, point, wanted_);
        if (points_) points_->point(point);
    }
    void finish(const ResultTail& tail) override {
        report_.status = std::max(report_.status, tail.status);
        report_.warnings.insert(report_.warnings.end(), tail.warnings.begin(), tail.warnings.end());
        for (const Warning& warning : tail.warnings)
            if (warning.point.empty())
                report_.totals.findings.push_back({"", warning.text, std::nullopt});
    }

 private:
    VerifyReport& report_;
    const std::vector<Counter>& wanted_;
    ResultSink* points_;
};

std::string text_of(const VerifyTotals& totals, const std::string& device) {
    std::string text = fmt::format("{}: {} of {} counters of {} points agree exactly\n", device,
                                   totals.agreed(), totals.compared, totals.points);
    if (totals.missing > 0)
        text += fmt::format("{} predicted counters could not be measured\n", totals.missing);
    if (totals.failed_points > 0) text += fmt::format("{} points failed\n", totals.failed_points);
    for (const auto& finding : totals.findings)
        text += fmt::format("  {}{}{}\n", finding.point, finding.point.empty() ? "" : ": ",
                            finding.text);
    return text;
}

// Points whose counters are the same are read in one session: those of one memory and, as a table
// of pointers is loaded besides, of one set of accesses.
std::map<std::vector<Counter>, std::vector<PlannedPoint>> by_counters(
    const std::vector<PlannedPoint>& points, const std::string& counters) {
    std::map<std::vector<Counter>, std::vector<PlannedPoint>> groups;
    for (const PlannedPoint& point : points)
        groups[counters_named(counters, {point})].push_back(point);
    return groups;
}

NamedValues describe_scope(const VerifyCommand& command, const VerifyScope& scope) {
    const auto all_or = [](const std::string& list) { return list.empty() ? "all" : list; };
    return {{"patterns", all_or(command.patterns)},
            {"types", all_or(command.types)},
            {"ops", all_or(command.ops)},
            {"counters", command.counters},
            {"size_bytes", static_cast<std::int64_t>(scope.size_bytes)},
            {"whole_sweeps", command.full}};
}

bool is_wanted(const VerifyScope& scope, Op op) {
    return scope.ops.empty() ||
           std::find(scope.ops.begin(), scope.ops.end(), op) != scope.ops.end();
}

void verify_op(Op op, const VerifyCommand& command, const VerifyScope& scope,
               const Machine& machine, const DeviceAccess& device, VerifyReport& report,
               ResultSink* all_points) {
    const auto points = points_to_verify(scope, op, machine);
    if (points.empty() || stop_signal() != 0) return;
    for (auto& [wanted, alike] : by_counters(points, command.counters)) {
        TallySink sink(report, wanted, all_points);
        run_sweep_on_device(std::move(alike), {},
                            {.launcher = *device.launcher,
                             .collector = device.collector.get(),
                             .no_counters = {},
                             .wanted = wanted,
                             .repeats = 0},
                            sink);
    }
}

ExitCode run_verify(const VerifyCommand& command, const Invocation& invocation) {
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
    VerifyReport report{.head = head_of(invocation.argv), .scope = describe_scope(command, scope)};
    report.head.machine = describe_machines({machine});
    report.head.device = describe_device(device.launcher->device());
    report.head.backend = "device";
    if (points) {
        ResultHead head = report.head;
        head.parameter = "name";
        head.sweep = {{"pattern", std::string("verify")},
                      {"size_bytes", static_cast<std::int64_t>(scope.size_bytes)}};
        points->begin(head);
    }
    for (const std::string_view name : op_list())
        if (const Op op = *find_op(name); is_wanted(scope, op))
            verify_op(op, command, scope, machine, device, report, points.get());
    if (stop_signal() != 0) report.status = Status::interrupted;
    if (points) points->finish({report.status, report.warnings});
    print_out(command.json ? json_document(report)
                           : text_of(report.totals, device.launcher->device().name));
    if (report.status == Status::interrupted) return exit_code_of(Status::interrupted);
    return report.totals.findings.empty() ? ExitCode::done : ExitCode::finding;
}

}  // namespace

void add_verify_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<VerifyCommand>();
    CLI::App* sub = app.add_subcommand(
        "verify", "Measure the whole catalog and compare every counter with the model");
    sub->group("Commands");
    const auto option = [&](const char* name, std::string& value, const char* help) {
        sub->add_option(name, value, help)->type_name("L");
    };
    option("--patterns", command->patterns, "Only these patterns: a,b (default all)");
    option("--type", command->types, "Only these types: a,b (default all)");
    option("--op", command->ops, "Only these ops: a,b (default all)");
    option("--size", command->size, "Useful data of each point (default 1MiB)");
    option("--counters", command->counters,
           "basic, memory, all, none (data only), or keys (default memory)");
    option("--device", command->device, "CUDA device index (default 0)");
    sub->add_option("--output,-o", command->output,
                    "Besides, every point, predicted and measured, to FILE.jsonl or FILE.json")
        ->type_name("FILE");
    sub->add_flag("--full", command->full, "Every value of every default sweep, not three of each");
    sub->add_flag("--json", command->json, "The report as one JSON document");
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] { return run_verify(*command, invocation); };
    });
}

}  // namespace coalprof
