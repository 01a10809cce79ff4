// `coalprof report RESULT`: a saved result in any format, as if it had just been made.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "core/read/result_reader.h"
#include "core/result/exit_code.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct ReportCommand {
    std::string file;
    OutputOptions output;
};

// Stands behind the one result that is shown: lines of a file may belong to several.
class RefuseAnother : public ResultSink {
 public:
    explicit RefuseAnother(std::string file) : file_(std::move(file)) {}
    void begin(const ResultHead& head) override {
        throw UsageError(
            fmt::format("report {}: another run begins behind the one that is shown ({} at {})",
                        shown(file_), shown(head.sweep.pattern), shown(head.time_utc)),
            {}, UsageError::no_caret, "save each run in a file of its own, or split this one");
    }
    void point(const Point&) override {}
    void finish(const ResultTail&) override {}

 private:
    std::string file_;
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
    const auto is_stopped = [] { return stop_signal() != 0; };
    const std::vector<OutputTarget> targets = command.output.targets();
    refuse_inputs(targets, {command.file});
    const std::unique_ptr<ByteSource> source = open_bytes(command.file, is_stopped);
    const std::string name = command.file == "-" ? "stdin" : command.file;
    std::vector<Counter> columns;
    if (has_csv(targets) && source->can_rewind()) {
        columns = columns_of_mixed_points(*source, name);
        source->rewind();
    }
    Outputs outputs(
        targets,
        [&](const std::vector<Warning>& warnings) { command.output.note_warnings(warnings); },
        [&](std::string_view remark) { command.output.note(remark); });
    WithColumns shown(outputs, std::move(columns));
    ResultReader reader(*source, name);
    const ReadOutcome outcome = reader.next(shown);
    if (is_stopped()) return exit_code_of(Status::interrupted);
    RefuseAnother rest(command.file);
    reader.next(rest);
    return outcome == ReadOutcome::damaged ? ExitCode::partial : ExitCode::done;
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
