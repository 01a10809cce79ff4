// `coalprof report RESULT`: a saved result in any format, as if it had just been made.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "cli/saved_result.h"
#include "core/text/files_in_use.h"
#include "core/write/columns.h"

namespace coalprof {
namespace {

struct ReportCommand {
    std::vector<std::string> files;
    OutputOptions output;
};

// Collects the counters of the points of a warps file: there any point may have new ones.
class ColumnsOfWarps : public ResultSink {
 public:
    struct Alike {};  // thrown: all points of any other result have the same
    void begin(const ResultHead& head) override {
        if (head.sweep.pattern != "warps" || !head.columns.empty()) throw Alike{};
    }
    void point(const Point& point) override {
        seen_.add(point.predicted);
        if (point.measured) seen_.add(*point.measured);
    }
    void finish(const ResultTail&) override {}
    std::vector<Counter> columns() const { return seen_.in_output_order(); }

 private:
    SeenCounters seen_;
};

// The columns of a csv are in its first line, so they must be known before the first point. Empty
// where the first points decide: points of one sweep have the same counters.
std::vector<Counter> columns_of_mixed_points(SavedResult& saved) {
    ColumnsOfWarps seen;
    try {
        saved.look(seen);
    } catch (const ColumnsOfWarps::Alike&) {
    }
    return seen.columns();
}

// Passes a result on, with these columns if there are some.
class WithColumns : public ResultSink {
 public:
    WithColumns(ResultSink& next, std::vector<Counter> columns)
        : next_(next), columns_(std::move(columns)) {}
    void begin(const ResultHead& head) override {
        if (columns_.empty()) return next_.begin(head);
        ResultHead with_columns = head;
        with_columns.table_columns = columns_;
        next_.begin(with_columns);
    }
    void point(const Point& point) override { next_.point(point); }
    void finish(const ResultTail& tail) override { next_.finish(tail); }

 private:
    ResultSink& next_;
    std::vector<Counter> columns_;
};

// Several results as one, which ends when all have, and each in a table of its own.
class JoinedResults : public ResultSink {
 public:
    explicit JoinedResults(ResultSink& next) : next_(next) {}
    void show_next_in(ResultSink& table) { table_ = &table; }
    void begin(const ResultHead& head) override {
        next_.begin(head);
        table_->begin(head);
    }
    void point(const Point& point) override {
        next_.point(point);
        table_->point(point);
    }
    void finish(const ResultTail& tail) override {
        table_->finish(tail);
        next_.end_of_part(tail);
        tail_.status = std::max(tail_.status, tail.status);
        tail_.warnings.insert(tail_.warnings.end(), tail.warnings.begin(), tail.warnings.end());
    }
    void end() { next_.finish(tail_); }

 private:
    ResultSink& next_;
    ResultSink* table_ = nullptr;
    ResultTail tail_;
};

bool is_table_on_screen(const OutputTarget& target) {
    return is_standard_output(target.path) && target.format == &default_format();
}

// Several results make one picture; other formats show one at a time.
void require_that_all_join(const std::vector<OutputTarget>& targets) {
    for (const OutputTarget& target : targets)
        if (!target.format->traits.takes_several)
            throw UsageError(
                fmt::format("report: {} shows one result at a time", target.format->name),
                "html, svg and openmetrics show several: -o FILE.html");
}

// One picture of all of them, and on standard output a table of each.
ExitCode run_joined(const ReportCommand& command, std::vector<OutputTarget> targets) {
    std::vector<OutputTarget> screen;
    std::ranges::copy_if(targets, std::back_inserter(screen), is_table_on_screen);
    std::erase_if(targets, is_table_on_screen);
    require_that_all_join(targets);
    for (const std::string& file : command.files) note_input(file);  // before one of them is shown
    Outputs pictures = command.output.open(targets);
    JoinedResults joined(pictures);
    bool is_damaged = false;
    bool has_best = true;
    for (const std::string& file : command.files) {
        if (!screen.empty() && &file != &command.files.front()) print_out("\n");
        Outputs tables(screen);
        joined.show_next_in(tables);
        WithColumns shown(joined, command.output.view.chosen_columns());
        Viewed viewed(shown, command.output.view);
        is_damaged |= SavedResult(file, "report").read(viewed.sink()) == ReadOutcome::damaged;
        has_best = has_best && viewed.found_best();
    }
    if (!targets.empty()) joined.end();
    if (is_damaged) return ExitCode::partial;
    return has_best ? ExitCode::done : ExitCode::environment;
}

ExitCode run_report(const ReportCommand& command) {
    std::vector<OutputTarget> targets = command.output.targets();
    if (command.files.size() > 1) return run_joined(command, std::move(targets));
    SavedResult saved(command.files.front(), "report");
    std::vector<Counter> columns = command.output.view.chosen_columns();
    if (columns.empty() && has_csv(targets) && saved.source().can_rewind()) {
        columns = columns_of_mixed_points(saved);
        saved.source().rewind();
    }
    Outputs outputs = command.output.open(targets);
    WithColumns shown(outputs, std::move(columns));
    Viewed viewed(shown, command.output.view);
    if (saved.read(viewed.sink()) == ReadOutcome::damaged) return ExitCode::partial;
    return viewed.found_best() ? ExitCode::done : ExitCode::environment;
}

}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<ReportCommand>(
        app, invocation, "report", "Saved results, JSON or JSON Lines, in any format", run_report);
    sub->add_option("RESULT", command->files,
                    "What --json, --jsonl or --output saved; - reads standard input; of several "
                    "each has its table, and html, svg and openmetrics draw all")
        ->required();
    command->output.add_to(*sub);
    command->output.add_source_to(*sub);
    command->output.view.add_to(*sub);
    sub->footer(
        "Examples:\n"
        "  coalprof report run.json\n"
        "  coalprof report run.jsonl --format csv --columns load_sectors\n"
        "  coalprof report run.json --sort load_sectors_per_request\n");
}

}  // namespace coalprof
