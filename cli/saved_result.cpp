#include "cli/saved_result.h"

#include <fmt/format.h>

#include <utility>

#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

// Refuses a second result: the lines of a file may belong to several.
class RefuseAnother : public ResultSink {
 public:
    RefuseAnother(std::string file, std::string command)
        : file_(std::move(file)), command_(std::move(command)) {}
    void begin(const ResultHead& head) override {
        throw UsageError(
            fmt::format("{} {}: another run begins after the one that is read ({} at {})", command_,
                        shown(file_), shown(head.sweep.pattern), shown(head.time_utc)),
            "save each run in a separate file, or split this one");
    }
    void point(const Point&) override {}
    void finish(const ResultTail&) override {}

 private:
    std::string file_;
    std::string command_;
};

// A file that a signal cut off is not reported as damaged.
ReadOutcome next_of(ResultReader& reader, ResultSink& sink) {
    try {
        return reader.next(sink);
    } catch (const UsageError&) {
        stop_if_asked();
        throw;
    }
}

}  // namespace

SavedResult::SavedResult(std::string file, std::string command)
    : file_(std::move(file)),
      command_(std::move(command)),
      name_(file_ == "-" ? "stdin" : file_),
      source_(open_bytes(file_, [] { return stop_signal() != 0; })) {}

void SavedResult::look(ResultSink& sink) {
    ResultReader reader(*source_, name_);
    next_of(reader, sink);
    stop_if_asked();
}

ReadOutcome SavedResult::read(ResultSink& sink) {
    const Step reading("results read", 1);
    ResultReader reader(*source_, name_);
    const ReadOutcome outcome = next_of(reader, sink);
    stop_if_asked();
    RefuseAnother rest(file_, command_);
    reader.next(rest);
    return outcome;
}

}  // namespace coalprof
