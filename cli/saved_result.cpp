#include "cli/saved_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"

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

ResultHead head_of(const std::vector<std::string>& argv) {
    ResultHead head;
    head.coalprof_version = COALPROF_VERSION;
    head.argv = argv;
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    head.time_utc = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                                utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    for (const char* name : {"CUDA_INJECTION64_PATH", "LD_PRELOAD"})
        if (const char* value = std::getenv(name); value && *value)
            head.environment.emplace_back(name, std::string(value));
    return head;
}

namespace {

// "rules measured", or by machine: "rules documented, not measured (c870, c1060); rules measured
// (h200)".
std::string evidence_of(const std::vector<Machine>& machines) {
    std::vector<std::pair<std::string, std::string>> groups;  // evidence, names
    for (const Machine& machine : machines) {
        const std::string evidence(text_of(machine.rules->evidence));
        const auto known = std::find_if(groups.begin(), groups.end(),
                                        [&](const auto& group) { return group.first == evidence; });
        if (known == groups.end())
            groups.emplace_back(evidence, machine.name);
        else
            known->second += ", " + machine.name;
    }
    if (groups.size() == 1) return groups.front().first;
    return joined(
        groups, [](const auto& group) { return fmt::format("{} ({})", group.first, group.second); },
        "; ");
}

}  // namespace

MachineFacts describe_machines(const std::vector<Machine>& machines) {
    MachineFacts facts;
    facts.name = joined(machines, &Machine::name, ",");
    facts.evidence = evidence_of(machines);
    if (machines.size() != 1) return facts;
    const Machine& machine = machines.front();
    facts.compute_capability = text_of(machine.rules->cc);
    facts.family = machine.rules->family;
    if (machine.board) facts.board = machine.board->name;
    return facts;
}

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
