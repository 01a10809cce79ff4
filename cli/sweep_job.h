// The part that all sweeping commands share: points are checked, a GPU is opened where there is one
// and it is wanted, and the result goes to the outputs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/gate_options.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/progress.h"
#include "cli/sweep_options.h"
#include "core/device/device.h"
#include "core/run/run_points.h"
#include "core/sweep/swept_points.h"
#include "core/write/part_file.h"

namespace coalprof {

struct SweepJob {
    // The points on these machines, measured by `launcher`, which is null with the model alone.
    std::function<std::unique_ptr<SweptPoints>(const std::vector<Machine>& machines,
                                               KernelLauncher* launcher)>
        points;
    SweepFacts description;  // the head's sweep
    const SweepOptions& typed;
};

ExitCode run_sweep_job(const SweepJob& job, const MachineOptions& machine_options,
                       const OutputOptions& output_options, const Invocation& invocation);

// The stages between the points of a run and its outputs: progress, budgets, the part file.
class RunSinks {
 public:
    // Opens the outputs. Warnings of `said_code` are not printed again. Throws as Outputs does, and
    // UsageError for --resume without a file.
    RunSinks(const std::vector<OutputTarget>& targets, const MachineOptions& machine,
             const OutputOptions& output, std::string_view said_code = {});

    ResultSink& sink() { return *progress_; }
    // Keeps points in the part file, after those that an earlier run has finished if the user wants
    // to resume. Throws UsageError where that file holds other points.
    Keeping keeping();
    // The exit code of a run that ended with `code`, with its budgets and --best.
    ExitCode judged(ExitCode code) {
        const bool lacks_best = code == ExitCode::done && !viewed_->found_best();
        return budgets_->judged(lacks_best ? ExitCode::environment : code);
    }

 private:
    std::string earlier_points(const ResultHead& head);

    std::function<void(std::string_view)> note_;
    std::optional<Outputs> outputs_;
    std::optional<Viewed> viewed_;  // gets its points after the part file, which has all
    std::optional<PartFile> part_;
    std::optional<BudgetedRun> budgets_;
    std::optional<Progress> progress_;
    std::string file_;  // the first output that may have a part file; empty if there is none
    bool resumes_ = false;
};

}  // namespace coalprof
