// `coalprof check RESULT --budget B`: a saved result against budgets.
#include <fmt/format.h>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/progress.h"
#include "cli/saved_result.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct CheckCommand {
    std::string file;
    BudgetOptions budgets;
    GateReportOptions report;
};

ExitCode run_check(const CheckCommand& command) {
    const StepLines steps(command.report.telling.verbose);
    if (!command.budgets.are_given())
        throw UsageError(
            "check: there is no budget",
            "for example --budget 'load_sectors_per_request <= 4', or --budget-file; kernels "
            "of source: coalprof kernel FILE --budget B");
    BudgetJudge judge = command.budgets.judge(nullptr);
    command.report.check();
    SavedResult(command.file, "check").read(judge);
    if (const std::string shard = judge.shard(); !shard.empty())
        command.report.telling.note(fmt::format(
            "{} is shard {} of a sweep; coalprof merge joins all", shown(command.file), shard));
    GateReport report = std::move(judge).report();
    report.files = {command.file};
    command.report.write(report);
    return report.code();
}

}  // namespace

void add_check_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<CheckCommand>(
        app, invocation, "check", "A saved result against budgets; exit code 1 where one is broken",
        run_check);
    sub->add_option("RESULT", command->file,
                    "What --json, --jsonl or --output saved; - reads standard input")
        ->required();
    command->budgets.add_to(*sub);
    command->report.add_to(*sub);
    sub->footer(
        "A budget: [predicted|measured] COUNTER SIGN LIMIT [if NAME=VALUES and ...]\n"
        "  COUNTER a key (load_sectors), or the same of each operation (sectors); excess:\n"
        "          sectors beyond the fewest, of all accesses together\n"
        "  SIGN    <= < >= > == !=\n"
        "  LIMIT   a number with a unit of the counter (5%, 20us), or FACTOR*COUNTER\n"
        "  NAME    a parameter (stride, line, kernel), pattern, machine, type, name; for\n"
        "          single accesses of a formula: array, index\n"
        "          != in place of = makes an exception: if line!=app.cu:9\n"
        "  VALUES  a range (1..8), words with * for any text (warp_*), or exact text in\n"
        "          quotes (index='i*2'); blanks do not count\n"
        "Exit code 0: all are kept; 1: one is broken; 4: a number is missing.\n\n"
        "Examples:\n"
        "  coalprof check run.json --budget 'load_sectors_per_request <= 4 if stride=1..8'\n"
        "  coalprof check run.json --budget 'excess <= 5%'\n"
        "  coalprof check run.json --budget 'load_sectors <= 1.25*load_ideal_sectors'\n");
}

}  // namespace coalprof
