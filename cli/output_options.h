// --format, --output and the amount of text: the options that every command with a result shares.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/judge/best.h"
#include "core/write/outputs.h"

namespace coalprof {

// The look of text on standard output.
struct LookOptions {
    bool plain = false;
    std::string color = "auto";

    void add_to(CLI::App& command);
    void check() const;  // throws UsageError for an unknown --color
    TableStyle style() const;
};

// The name of an output file with %q{VARIABLE}, %p (this process), %h (this host) and %% filled in,
// as Nsight Systems and Nsight Compute do. Throws UsageError.
std::string expanded_name(const std::string& name);

// --columns, --all-rows, --sort and --best: which parts of a result are shown, and in which order.

struct ViewOptions {
    std::string columns;
    std::string sort;
    std::string best;
    bool all_rows = false;
    bool is_offered = false;  // the command has this option
    const BestSink::Lines* costliest = nullptr;
    bool compares_same_work_alone = false;

    void add_to(CLI::App& command);
    // The counters of --columns; none: all. Throws UsageError.
    std::vector<Counter> chosen_columns() const;
};

// A result on its way to `next`, with the verdict and the order that were asked for. Throws
// UsageError.
class Viewed {
 public:
    Viewed(ResultSink& next, const ViewOptions& options);
    ResultSink& sink() { return *sink_; }
    // False where --best names a counter that no point had.
    bool found_best() const { return !best_ || best_->was_there(); }

 private:
    ResultSink* sink_;
    std::unique_ptr<SortedSink> sorted_;
    std::unique_ptr<BestSink> best_;
};

struct OutputOptions {
    std::string format;
    std::vector<std::string> files;
    std::vector<std::string> source_folders;
    std::vector<std::string> usual_sources = {};  // the folders without --source
    bool json = false;
    bool jsonl = false;
    bool csv = false;
    bool quiet = false;
    bool verbose = false;
    bool no_progress = false;
    LookOptions look;
    ViewOptions view;

    // All options but the view, which results with points have.
    void add_to(CLI::App& command);
    // For commands that print no result: keeps only these of the formats that add_to() added.
    static void offer_only(CLI::App& command, std::string_view formats);
    // For a command whose table goes to standard error: the help of add_to() says so.
    static void tell_of_standard_error(CLI::App& command);
    // --source, for results of programs.
    void add_source_to(CLI::App& command);
    // The look and the amount of text, for commands without the other options.
    void add_telling_to(CLI::App& command);
    // True if --output names standard output.
    bool sends_files_to_standard_output() const;
    // Throws UsageError for unknown formats and for two that contradict each other.
    std::vector<OutputTarget> targets() const;
    // Opens the targets; warnings at their end go to standard error. The options must live as long.
    Outputs open(const std::vector<OutputTarget>& targets) const;
    // Notes and hints to standard error, silent with --quiet.
    void note(std::string_view line) const;
    // The same for warnings, the first ones, without those of `said_code`, which the user has seen
    // already.
    void note_warnings(const std::vector<Warning>& warnings, std::string_view said_code = {}) const;
};

}  // namespace coalprof
