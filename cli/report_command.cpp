// `coalprof report RESULT`: a saved result in any format, as if it had just been made.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/saved_result.h"

namespace coalprof {
namespace {

struct ReportCommand {
    std::string file;
    OutputOptions output;
};

bool has_csv(const std::vector<OutputTarget>& targets) {
    return std::any_of(targets.begin(), targets.end(),
                       [](const OutputTarget& target) { return target.format->name == "csv"; });
}

// Hears which counters the points of a warps file have: there any point may bring new ones.
class ColumnsOfWarps : public ResultSink {
 public:
    void begin(const ResultHead& head) override {
        looks_ = head.sweep.pattern == "warps" && head.columns.empty();
    }
    void point(const Point& point) override {
        if (!looks_) return;
        look_at(point.predicted);
        if (point.measured) look_at(*point.measured);
    }
    void finish(const ResultTail&) override {}
    std::vector<Counter> columns() const {
        std::vector<Counter> columns;
        for (const CounterInfo& counter : all_counters())
            if (has_[static_cast<std::size_t>(counter.counter)]) columns.push_back(counter.counter);
        return columns;
    }

 private:
    void look_at(const Readings& readings) {
        readings.each([&](Counter counter, const Reading&) {
            has_[static_cast<std::size_t>(counter)] = true;
        });
    }

    bool looks_ = false;
    std::array<bool, counter_count> has_{};
};

// The columns of a csv stand in its first line, so they have to be known before the first point.
// Empty where the first points tell: points of one sweep are alike.
std::vector<Counter> columns_of_mixed_points(ByteSource& source, const std::string& name) {
    ColumnsOfWarps seen;
    ResultReader(source, name).next(seen);
    return seen.columns();
}

// Passes a result on, with these columns where there are some.
class WithColumns : public ResultSink {
 public:
    WithColumns(ResultSink& next, std::vector<Counter> columns)
        : next_(next), columns_(std::move(columns)) {}
    void begin(const ResultHead& head) override {
        if (columns_.empty()) return next_.begin(head);
        ResultHead with_columns = head;
        with_columns.columns = columns_;
        next_.begin(with_columns);
    }
    void point(const Point& point) override { next_.point(point); }
    void finish(const ResultTail& tail) override { next_.finish(tail); }

 private:
    ResultSink& next_;
    std::vector<Counter> columns_;
};

ExitCode run_report(const ReportCommand& command) {
    const std::vector<OutputTarget> targets = command.output.targets();
    refuse_inputs(targets, {command.file});
    SavedResult saved(command.file, "report");
    std::vector<Counter> columns;
    if (has_csv(targets) && saved.source().can_rewind()) {
        columns = columns_of_mixed_points(saved.source(), saved.name());
        saved.source().rewind();
    }
    Outputs outputs(
        targets,
        [&](const std::vector<Warning>& warnings) { command.output.note_warnings(warnings); },
        [&](std::string_view remark) { command.output.note(remark); });
    WithColumns shown(outputs, std::move(columns));
    return saved.read(shown) == ReadOutcome::damaged ? ExitCode::partial : ExitCode::done;
}

}  // namespace

void add_report_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<ReportCommand>();
    CLI::App* sub =
        app.add_subcommand("report", "A saved result, JSON or JSON Lines, in any format");
    sub->group("Commands");
    sub->add_option("RESULT", command->file,
                    "What --json, --jsonl or --output saved; - reads standard input")
        ->required();
    command->output.add_to(*sub);
    sub->callback(
        [&invocation, command] { invocation.run = [command] { return run_report(*command); }; });
}

}  // namespace coalprof
