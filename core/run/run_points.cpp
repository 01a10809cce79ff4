#include "core/run/run_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/result/head.h"
#include "core/result/result.h"
#include "core/result/result_reader.h"
#include "core/run/agreement.h"
#include "core/run/fleet.h"
#include "core/run/settings_judge.h"
#include "core/run/side_by_side.h"
#include "core/runtime/parallel.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// Further disagreements are only counted.
constexpr std::size_t most_mismatches = 1000;

// The points of a source, up to a signal to stop or the end of the reading.
class UntilStopped : public PointSource {
 public:
    explicit UntilStopped(PointSource& source) : source_(source) {}

    bool next(PlannedPoint& point) override {
        const bool has_one = attempt([&] { return source_.next(point); });
        begun_ += has_one ? 1 : 0;
        return has_one;
    }
    bool is_ready() override {
        return !attempt([&] { return !source_.is_ready(); });
    }
    void make(PlannedPoint& point) const override { source_.make(point); }

    // No points are taken any more once this is set.
    void end_with(const std::atomic<bool>& is_over) { is_over_ = &is_over; }
    bool was_stopped() const { return was_stopped_; }
    std::exception_ptr failure() const { return failure_; }

 private:
    // False if the points ended early.
    template <typename Work>
    bool attempt(Work work) {
        if (failure_) return false;
        if (stop_signal() != 0 && begun_ != source_.size()) was_stopped_ = true;
        if (was_stopped_ || (is_over_ && *is_over_)) return false;
        try {
            return work();
        } catch (const Stopped&) {
            was_stopped_ = true;
        } catch (const Error&) {
            failure_ = std::current_exception();
        }
        return false;
    }

    PointSource& source_;
    std::uint64_t begun_ = 0;
    bool was_stopped_ = false;
    const std::atomic<bool>* is_over_ = nullptr;
    std::exception_ptr failure_;
};

// A source preceded by a point that was taken from it and not yet answered.
class WithOneBefore : public PointSource {
 public:
    WithOneBefore(PointSource& source, std::optional<PlannedPoint> first)
        : source_(source), first_(std::move(first)) {}
    std::optional<std::uint64_t> size() const override { return source_.size(); }
    bool compares_settings() const override { return source_.compares_settings(); }
    bool next(PlannedPoint& point) override {
        if (!first_) return source_.next(point);
        point = *std::exchange(first_, std::nullopt);
        return true;
    }
    bool is_ready() override { return first_ || source_.is_ready(); }
    void make(PlannedPoint& point) const override { source_.make(point); }

 private:
    PointSource& source_;
    std::optional<PlannedPoint> first_;
};

// Collects the points of a run in order.
class Collected : public Delivery {
 public:
    Collected(ResultSink& sink, std::vector<Warning> missing, const Keeping& keeping)
        : sink_(sink), keeping_(keeping), is_partial_(!missing.empty()) {
        tail_.warnings = std::move(missing);
    }

    void begin(const ResultHead& head) {
        fleet_.emplace(head.devices);
        sink_.begin(head);
    }
    void point(const PlannedPoint& planned, const Point& point) override {
        keep(point, false);
        add(planned, point);
    }
    // As soon as it is answered.
    void keep(const Point& point, bool is_replayed) {
        if (!keeping_.keep) return;
        sink_has_failed_ = true;  // unless it comes back
        keeping_.keep(point, is_replayed);
        sink_has_failed_ = false;
    }
    // Adds a point after those before it.
    void add(const PlannedPoint& planned, const Point& point) {
        is_partial_ = is_partial_ || !point.failure.empty();
        if (point.measured) warn_of_mismatches(point);
        judge_.add(planned, point);
        fleet_->add(planned, point);
        sink_has_failed_ = true;
        sink_.point(point);
        sink_has_failed_ = false;
    }
    void warn(Warning warning) override { tail_.warnings.push_back(std::move(warning)); }
    void interrupted() override { was_interrupted_ = true; }

    bool sink_has_failed() const { return sink_has_failed_; }

    ResultTail tail() && {
        if (untold_ > 0) warn({"W-MISMATCH", {}, fmt::format("{} more disagreements", untold_)});
        tail_.status = was_interrupted_ ? Status::interrupted
                       : is_partial_    ? Status::partial
                                        : Status::complete;
        tail_.verdicts = judge_.verdicts();
        if (fleet_)
            for (Warning& warning : fleet_->warnings()) warn(std::move(warning));
        return std::move(tail_);
    }

 private:
    void warn_of_mismatches(const Point& point) {
        for (const Disagreement& found : agreement_of(point).disagreements) {
            if (told_ < most_mismatches) warn({"W-MISMATCH", point.name, describe(found)});
            ++(told_ < most_mismatches ? told_ : untold_);
        }
    }

    ResultSink& sink_;
    const Keeping& keeping_;
    SettingsJudge judge_;
    std::optional<FleetJudge> fleet_;
    ResultTail tail_;
    std::uint64_t told_ = 0;
    std::uint64_t untold_ = 0;
    bool is_partial_ = false;
    bool was_interrupted_ = false;
    bool sink_has_failed_ = false;
};

// The names of several GPUs as one, as for several machines.
MeasuredDevice described_together(const std::vector<MeasuredDevice>& devices) {
    std::string names;
    for (const MeasuredDevice& device : devices) names += (names.empty() ? "" : ",") + device.name;
    return {.name = names};
}

// Several at the same time: each measures its ceilings.
void begin_backends(const std::vector<Leg>& legs, ResultHead& head) {
    if (legs.size() == 1) return legs.front().backend.begin(head);
    std::vector<std::future<ResultHead>> begun;
    for (const Leg& leg : legs)
        begun.push_back(in_background([&backend = leg.backend, own = head]() mutable {
            backend.begin(own);
            return own;
        }));
    for (std::future<ResultHead>& one : begun) {
        ResultHead own = one.get();
        head.backend = own.backend;
        head.passes = std::max(head.passes, own.passes);
        for (MeasuredDevice& device : own.devices) head.devices.push_back(std::move(device));
    }
}

void begin_result(const std::vector<Leg>& legs, ResultHead& head) {
    begin_backends(legs, head);
    for (const Leg& leg : legs)
        head.compares_settings = head.compares_settings || leg.source.compares_settings();
    if (head.devices.empty()) return;
    head.device =
        head.devices.size() == 1 ? head.devices.front() : described_together(head.devices);
    if (head.devices.size() == 1) head.devices.clear();
}

// Empty also after a signal to stop: no point is answered then.
std::string journal_for(const ResultHead& head, const Keeping& keeping) {
    try {
        return keeping.journal ? keeping.journal(head) : "";
    } catch (const Stopped&) {
        return {};
    }
}

// The path of the points from their sources to the sink.
class Way {
 public:
    Way(const std::vector<Leg>& legs, Collected& collected)
        : legs_(legs),
          collected_(collected),
          order_(legs.size(), [&collected](const PlannedPoint& planned, const Point& point) {
              collected.add(planned, point);
          }) {
        for (const Leg& leg : legs) sources_.emplace_back(leg.source);
    }

    // The error that ended the points early.
    std::exception_ptr go(const std::string& journal) {
        std::exception_ptr failure = attempt([&] { replay_points(journal); });
        if (!failure)
            failure = legs_.size() == 1 ? attempt([&] { answer_one(); }) : answer_side_by_side();
        for (const UntilStopped& source : sources_) {
            if (!failure) failure = source.failure();
            if (source.was_stopped()) collected_.interrupted();
        }
        if (failure) collected_.interrupted();
        return failure;
    }

 private:
    template <typename Work>
    std::exception_ptr attempt(Work work) {
        try {
            work();
        } catch (const Stopped&) {
            collected_.interrupted();
        } catch (...) {
            if (collected_.sink_has_failed()) throw;
            return std::current_exception();
        }
        return nullptr;
    }

    void replay_points(const std::string& journal) {
        left_.resize(legs_.size());
        if (journal.empty()) return;
        std::vector<PointSource*> sources;
        for (UntilStopped& source : sources_) sources.push_back(&source);
        left_ = replay(journal, sources,
                       [this](std::size_t leg, PlannedPoint planned, const Point& point) {
                           collected_.keep(point, true);
                           order_.add(leg, std::move(planned), point);
                       });
    }

    void answer_one() {
        WithOneBefore rest(sources_.front(), std::move(left_.front()));
        legs_.front().backend.answer(rest, collected_);
    }

    std::exception_ptr answer_side_by_side() {
        SideBySide all(legs_.size(), [this](std::size_t leg, Delivery& delivery) {
            WithOneBefore rest(sources_[leg], std::move(left_[leg]));
            legs_[leg].backend.answer(rest, delivery);
        });
        for (UntilStopped& source : sources_) source.end_with(all.is_over());
        all.take_all({.point =
                          [this](std::size_t leg, PlannedPoint planned, Point point) {
                              collected_.keep(point, false);
                              order_.add(leg, std::move(planned), std::move(point));
                          },
                      .end = [this](std::size_t leg) { order_.end(leg); },
                      .waiting = [this](std::size_t leg) { return order_.waiting(leg); }});
        for (std::size_t leg = 0; leg < legs_.size(); ++leg)
            for (const Warning& warning : all.warnings(leg)) collected_.warn(warning);
        if (all.was_interrupted()) collected_.interrupted();
        return all.failure();
    }

    const std::vector<Leg>& legs_;
    Collected& collected_;
    ResultOrder order_;
    std::deque<UntilStopped> sources_;
    std::vector<std::optional<PlannedPoint>> left_;  // taken and not yet answered
};

}  // namespace

ExitCode run_points(const std::vector<Leg>& legs, ResultHead head, ResultSink& sink,
                    std::vector<Warning> missing, const Keeping& keeping) {
    Collected collected(sink, std::move(missing), keeping);
    try {
        for (const Leg& leg : legs) leg.source.open();
    } catch (const Stopped&) {  // reported by a result without points
    }
    begin_result(legs, head);
    const std::string journal = journal_for(head, keeping);
    collected.begin(head);
    const std::exception_ptr failure = Way(legs, collected).go(journal);
    const ResultTail tail = std::move(collected).tail();
    sink.finish(tail);
    if (failure) std::rethrow_exception(failure);
    return exit_code_of(tail.status);
}

namespace {

class Replay : public ResultSink {
 public:
    using Take = std::function<void(std::size_t, PlannedPoint, const Point&)>;
    Replay(const std::vector<PointSource*>& sources, const Take& take)
        : sources_(sources), take_(take), next_(sources.size()) {}

    void begin(const ResultHead&) override {}
    void point(const Point& point) override {
        for (std::size_t k = 0; k < sources_.size(); ++k) {
            if (!has_next(k) || next_[k]->name != point.name) continue;
            return take_(k, *std::exchange(next_[k], std::nullopt), point);
        }
    }
    void finish(const ResultTail&) override {}
    std::vector<std::optional<PlannedPoint>> left() && { return std::move(next_); }

 private:
    bool has_next(std::size_t source) {
        if (next_[source]) return true;
        PlannedPoint planned;
        if (!sources_[source]->next(planned)) return false;
        sources_[source]->make(planned);
        next_[source] = std::move(planned);
        return true;
    }

    const std::vector<PointSource*>& sources_;
    const Take& take_;
    std::vector<std::optional<PlannedPoint>> next_;  // taken from each source
};

// The words of a command line that decide the answer, without those about outputs and their look.
// The head names the shard: "auto" is another one elsewhere.
std::vector<std::string> question_in(const std::vector<std::string>& argv) {
    std::vector<std::string> words = without_options(
        argv,
        {"--resume", "--plot", "-q", "--quiet", "-v", "--verbose", "--no-progress", "--json",
         "--jsonl", "--plain"},
        {"-o", "--output", "--format", "--color", "--threads", "--sort", "--best", "--shard"});
    if (!words.empty()) words.erase(words.begin());  // the program
    return words;
}

std::string shard_of(const ResultHead& head) {
    const NamedValues facts = values_of(head.sweep);
    const Value* shard = find_value(facts, "shard");
    const Value* points = find_value(facts, "shard_of_points");
    return shard && points
               ? fmt::format("shard {} of {} points", shown(text_of(*shard)), text_of(*points))
               : "the whole sweep";
}

// Empty: both have the same points.
std::string why_not_same(const ResultHead& kept, const ResultHead& head) {
    if (question_in(kept.argv) != question_in(head.argv)) return "it is of another command";
    std::string why;
    for (const HeadDifference& difference : differences(kept, head))
        why += fmt::format("{}{}", why.empty() ? "it differs in " : ", ", difference.text);
    if (why.empty() && shard_of(kept) != shard_of(head))
        why = fmt::format("it is of {}, and this is {}", shard_of(kept), shard_of(head));
    return why;
}

std::string why_unfit(const std::string& journal, const ResultHead& head) {
    try {
        const auto source = open_own_bytes(journal);
        if (const auto kept = read_head(*source, journal)) return why_not_same(*kept, head);
    } catch (const Error&) {
    }
    return "it cannot be read as a journal";
}

std::uint64_t lines_in(const std::string& path) {
    const auto source = open_own_bytes(path);
    std::array<char, 1 << 16> block;
    std::uint64_t lines = 0;
    while (const std::size_t size = source->read(block))
        lines += static_cast<std::uint64_t>(std::count(block.data(), block.data() + size, '\n'));
    return lines;
}

}  // namespace

KeptJournals told_apart(const std::vector<std::string>& journals, const ResultHead& head) {
    KeptJournals kept;
    std::multimap<std::uint64_t, std::string, std::greater<>> own;
    for (const std::string& path : journals)
        if (std::string why = why_unfit(path, head); why.empty())
            own.emplace(lines_in(path), path);
        else
            kept.others.push_back({path, std::move(why)});
    for (auto& [lines, path] : own) kept.own.push_back(std::move(path));
    return kept;
}

std::vector<std::optional<PlannedPoint>> replay(
    const std::string& journal, const std::vector<PointSource*>& sources,
    const std::function<void(std::size_t source, PlannedPoint planned, const Point& point)>& take) {
    const auto bytes = open_own_bytes(journal);
    Replay replayed(sources, take);
    ResultReader reader(*bytes, journal);
    while (reader.next(replayed) != ReadOutcome::none) {
    }
    return std::move(replayed).left();
}

}  // namespace coalprof
