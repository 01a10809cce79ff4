// `coalprof report RESULT`: a saved result in any format, as if it had just been made.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "cli/saved_result.h"
#include "core/sweep/rank_sum.h"
#include "core/text/describe.h"
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

// Several results as one picture; on the screen those of a program's processes are one table, too,
// and others have one each.
class JoinedResults : public ResultSink {
 public:
    JoinedResults(ResultSink& next, const std::vector<OutputTarget>& screen)
        : next_(next), screen_(screen) {}
    void start(const std::string& file) { ranks_.start(file); }
    void begin(const ResultHead& head) override {
        next_.begin(head);
        if (screen_.empty()) return;
        is_rank_ = ranks_.takes(head);
        if (!is_rank_ && has_begun_) print_out("\n");
        has_begun_ = true;
        if (is_rank_) return ranks_.begin(head);
        table_.emplace(screen_);
        table_->begin(head);
    }
    void point(const Point& point) override {
        next_.point(point);
        if (!screen_.empty()) on_screen().point(point);
    }
    void finish(const ResultTail& tail) override {
        if (!screen_.empty()) on_screen().finish(tail);
        table_.reset();
        next_.end_of_part(tail);
        tail_.status = std::max(tail_.status, tail.status);
        tail_.warnings.insert(tail_.warnings.end(), tail.warnings.begin(), tail.warnings.end());
    }
    void end(bool has_picture) {
        if (has_picture) next_.finish(tail_);
        if (ranks_.names().empty()) return;
        print_out(ranks_.names());
        Outputs sum(screen_);
        ranks_.write(sum);
    }

 private:
    ResultSink& on_screen() { return is_rank_ ? static_cast<ResultSink&>(ranks_) : *table_; }
    ResultSink& next_;
    const std::vector<OutputTarget>& screen_;
    std::optional<Outputs> table_;
    RankSum ranks_;
    bool is_rank_ = false;
    bool has_begun_ = false;
    ResultTail tail_;
};

bool is_table_on_screen(const OutputTarget& target) {
    return is_standard_output(target.path) && target.format == &default_format();
}

// One picture of all of them, and on standard output a table of each, or one of their sum.
ExitCode run_joined(const ReportCommand& command, std::vector<OutputTarget> targets) {
    std::vector<OutputTarget> screen;
    std::ranges::copy_if(targets, std::back_inserter(screen), is_table_on_screen);
    std::erase_if(targets, is_table_on_screen);
    // Several results make one picture; other formats show one at a time.
    for (const OutputTarget& target : targets)
        if (!target.format->traits.takes_several)
            throw UsageError(
                fmt::format("report: {} shows one result at a time", target.format->name),
                "html, svg and openmetrics show several: -o FILE.html");
    for (const std::string& file : command.files) note_input(file);  // before one of them is shown
    Outputs pictures = command.output.open(targets);
    bool is_damaged = false;
    bool has_best = true;
    JoinedResults joined(pictures, screen);
    for (const std::string& file : command.files) {
        joined.start(file);
        WithColumns shown(joined, command.output.view.chosen_columns());
        Viewed viewed(shown, command.output.view);
        is_damaged |= SavedResult(file, "report").read(viewed.sink()) == ReadOutcome::damaged;
        has_best = has_best && viewed.found_best();
    }
    joined.end(!targets.empty());
    if (is_damaged) return ExitCode::partial;
    return has_best ? ExitCode::done : ExitCode::environment;
}

ExitCode run_report(const ReportCommand& command) {
    const std::string& last = command.files.back();
    for (const Format& format : all_formats())  // report RESULT page.html
        if (format.traits.takes_several && last.ends_with(format.suffixes.front()) &&
            !std::filesystem::exists(last))
            throw UsageError(fmt::format("report: there is no result {}", shown(last)),
                             fmt::format("a file to write: -o {}", shown(shell_word(last))));
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
                    "each has its table (those of one program, of coalprof run, a line each and a "
                    "table of their sum), and html, svg and openmetrics draw all")
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
