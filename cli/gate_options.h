// Budgets on the command line, and the output of a gate's report, shared by `compare`, `check` and
// sweeps with budgets.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/output_options.h"
#include "core/judge/budget.h"
#include "core/judge/gate.h"

namespace coalprof {

struct BudgetOptions {
    std::vector<std::string> budgets;
    std::vector<std::string> files;
    std::string base;  // a saved result, none of whose lines may get worse
    BudgetExceptions exceptions;

    void add_to(CLI::App& command);
    bool are_given() const { return !budgets.empty() || !files.empty() || !base.empty(); }
    // Passes the result on to `next`, if any. Throws UsageError, Error.
    BudgetJudge judge(ResultSink* next) const;
};

struct GateReportOptions {
    std::string format = "text";
    std::string output;     // empty: standard output
    OutputOptions telling;  // only the options of add_telling_to()

    void add_to(CLI::App& command);
    // Throws UsageError before anything is read.
    void check() const;
    // Writes the report; within GitHub Actions its format `github` fills the job's summary too.
    void write(const GateReport& report) const;
};

// Compares the points of a run with budgets on their way to `next`.
class BudgetedRun {
 public:
    // Throws UsageError, Error.
    BudgetedRun(const BudgetOptions& options, ResultSink& next);
    ResultSink& sink() { return judge_ ? static_cast<ResultSink&>(*judge_) : next_; }
    // The exit code of the run, `code` without budgets; standard error names budgets that are not
    // kept.
    ExitCode judged(ExitCode code);

 private:
    ResultSink& next_;
    std::optional<BudgetJudge> judge_;
};

// "5%" or "0.05"; throws UsageError.
double parse_share(const std::string& text, const std::string& option);

}  // namespace coalprof
