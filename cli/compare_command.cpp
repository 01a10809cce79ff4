// `coalprof compare OLD NEW`: two saved results, counter by counter.
#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "cli/sweep_options.h"
#include "core/judge/compare.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

struct CompareCommand {
    std::string older;
    std::string newer;
    std::string across;
    std::string max_slowdown = "5%";
    std::string tolerance = "5%";
    GateReportOptions report;
};

ExitCode run_compare(const CompareCommand& command) {
    const StepLines steps(command.report.telling.verbose);
    CompareOptions options{.max_slowdown = parse_share(command.max_slowdown, "--max-slowdown"),
                           .tolerance = parse_share(command.tolerance, "--tolerance")};
    if (!command.across.empty()) options.across = split_list(command.across, "--across");
    command.report.check();
    if (command.older == "-" && command.newer == "-")
        throw UsageError("compare: standard input holds one result, not both");
    SavedResult older(command.older, "compare");
    SavedResult newer(command.newer, "compare");
    Comparison comparison(std::move(options));
    older.read(comparison.older());
    newer.read(comparison.newer());
    GateReport report = comparison.report();
    report.files = {command.older, command.newer};
    command.report.write(report);
    return report.code();
}

}  // namespace

void add_compare_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<CompareCommand>(
        app, invocation, "compare",
        "Two saved results, point by point; exit code 1 where something is worse", run_compare);
    sub->add_option("OLD", command->older, "What --json, --jsonl or --output saved; - is stdin")
        ->required();
    sub->add_option("NEW", command->newer, "Another result of the same sweep")->required();
    add_value(*sub, "--across", command->across,
              "Compare although these settings differ: machine, device, type, pattern, ...; a "
              "list, or all",
              "L");
    add_value(
        *sub, "--max-slowdown", command->max_slowdown,
        "Tolerated slowdown; smaller differences, and those within the spread of repetitions, "
        "do not count (default 5%)",
        "P");
    add_value(*sub, "--tolerance", command->tolerance,
              "Estimates, and counters that differ from run to run, are the same within "
              "this share (default 5%)",
              "P");
    command->report.add_to(*sub);
    sub->footer(
        "Exit code 0: nothing is worse; 1: something is; 4: something could not be\n"
        "compared. Exact counters compare exactly.\n\n"
        "Examples:\n"
        "  coalprof compare old.json new.json\n"
        "  coalprof compare old.json new.json --format github\n");
}

}  // namespace coalprof
