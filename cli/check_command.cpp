// `coalprof check RESULT --budget B`: a saved result against budgets.
#include <memory>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/saved_result.h"
#include "cli/step_lines.h"

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
        throw UsageError("check: there is no budget", {}, UsageError::no_caret,
                         "for example --budget 'load_sectors_per_request <= 4', or --budget-file");
    BudgetJudge judge(command.budgets.read());
    command.report.check();
    SavedResult(command.file, "check").read(judge);
    GateReport report = std::move(judge).report();
    report.files = {command.file};
    command.report.write(report);
    return report.code();
}

}  // namespace

void add_check_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<CheckCommand>();
    CLI::App* sub = app.add_subcommand(
        "check", "A saved result against budgets; exit code 1 where one is broken");
    sub->group("Commands");
    sub->add_option("RESULT", command->file,
                    "What --json, --jsonl or --output saved; - reads standard input")
        ->required();
    command->budgets.add_to(*sub);
    command->report.add_to(*sub);
    sub->footer(
        "A budget: [predicted|measured] COUNTER SIGN NUMBER[UNIT] [if NAME=VALUES and ...]\n"
        "  SIGN    <= < >= > == !=\n"
        "  UNIT    MiB, us, GB/s, %: one that the counter has\n"
        "  NAME    a parameter (stride, dlcm), pattern, machine, type, or name\n"
        "  VALUES  a range (1..8), or words with * for any text (warp_*)\n"
        "Exit code 0: all are kept; 1: one is broken; 4: a number was not there.\n\n"
        "Examples:\n"
        "  coalprof check run.json --budget 'load_sectors_per_request <= 4'\n"
        "  coalprof check run.json --budget 'load_efficiency >= 80% if stride=1..2'\n");
    sub->callback(
        [&invocation, command] { invocation.run = [command] { return run_check(*command); }; });
}

}  // namespace coalprof
