#include "core/write/outputs.h"

#include <fmt/format.h>

#include <utility>

#include "core/text/describe.h"
#include "core/write/output_file.h"
#include "core/write/standard_output.h"

namespace coalprof {
namespace {

// Why a counter that was asked for is not there at all.
Unavailable why_absent(Counter counter, bool is_measured) {
    const std::string_view key = key_of(counter);
    if (counter == Counter::duration_seconds && !is_measured)
        return {"time is not predicted; only a measurement tells"};
    if (key.ends_with("_transactions") || key.ends_with("_transaction_bytes"))
        return {"transactions are counted of what a launch executes before compute capability 7.0"};
    return {"it does not concern this launch, or this machine does not count so"};
}

Readings only(const std::vector<Counter>& counters, const Readings& readings, bool explains,
              bool is_measured) {
    Readings some;
    for (const Counter counter : counters) {
        some[counter] = readings[counter];
        if (explains && !is_present(some[counter]))
            some[counter] = why_absent(counter, is_measured);
    }
    return some;
}

}  // namespace

// One output: where its bytes go and the format that makes them.
class Outputs::Output {
 public:
    explicit Output(const OutputTarget& target) {
        if (target.path == "-" || target.path == "/dev/stdout") {
            bytes_ = std::make_unique<StandardOutput>();
            place_ = std::string(1, '-');
        } else {
            auto file = std::make_unique<OutputFile>(target.path);
            file_ = file.get();
            place_ = file->target();
            bytes_ = std::move(file);
        }
        format_ = target.format->make(*bytes_, target.style);
    }

    ResultSink& format() { return *format_; }
    void commit() {
        if (file_) file_->commit();
    }
    // What two outputs must not share; empty for what several may write to, as /dev/null.
    const std::string& place() const { return place_; }
    bool is_open() const { return format_ != nullptr; }
    // Lets go of the target; a file that was not committed vanishes.
    void close() {
        format_.reset();
        file_ = nullptr;
        bytes_.reset();
    }

 private:
    std::unique_ptr<ByteSink> bytes_;
    OutputFile* file_ = nullptr;
    std::string place_;
    std::unique_ptr<ResultSink> format_;
};

Outputs::Outputs(const std::vector<OutputTarget>& targets,
                 std::function<void(const std::vector<Warning>&)> untold)
    : untold_(std::move(untold)) {
    for (const OutputTarget& target : targets) {
        if (target.format->tells_warnings) untold_ = nullptr;
        auto output = std::make_unique<Output>(target);
        for (const auto& other : outputs_)
            if (!output->place().empty() && other->place() == output->place())
                throw UsageError(fmt::format("--output {}: two outputs cannot go to the same place",
                                             shown(target.path)),
                                 {}, UsageError::no_caret,
                                 "give each output a file of its own; one of them may be -");
        outputs_.push_back(std::move(output));
    }
}

Outputs::~Outputs() = default;

// Does `work` with every open output. One that fails is closed; the others go on.
template <typename Work>
void Outputs::for_each(Work work) {
    bool some_are_open = false;
    for (const auto& output : outputs_) {
        if (!output->is_open()) continue;
        try {
            work(*output);
            some_are_open = true;
        } catch (const ReaderGone&) {
            output->close();
        } catch (const Error& error) {
            output->close();
            if (!failures_.empty()) failures_ += "; ";
            failures_ += error.what();
        }
    }
    if (some_are_open || outputs_.empty()) return;
    throw_failures();
    throw ReaderGone();
}

void Outputs::throw_failures() const {
    if (!failures_.empty()) throw Error(failures_, ExitCode::output);
}

void Outputs::begin(const ResultHead& head) {
    listed_ = head.columns;
    // The points of a sweep are alike; the lines of a warps file each have counters of their own.
    explains_absent_ = head.points.has_value();
    for_each([&](Output& output) { output.format().begin(head); });
}

void Outputs::point(const Point& point) {
    const auto deliver = [this](const Point& shown) {
        for_each([&](Output& output) { output.format().point(shown); });
    };
    if (listed_.empty()) return deliver(point);
    Point shown = point;
    shown.predicted = only(listed_, point.predicted, explains_absent_, false);
    if (point.measured) shown.measured = only(listed_, *point.measured, explains_absent_, true);
    deliver(shown);
}

void Outputs::finish(const ResultTail& tail) {
    for_each([&](Output& output) {
        output.format().finish(tail);
        output.commit();
    });
    if (untold_) untold_(tail.warnings);
    throw_failures();
}

}  // namespace coalprof
