#include "core/run/run_points.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "core/result/head.h"
#include "core/result/result_reader.h"
#include "core/run/agreement.h"
#include "core/runtime/signal.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"

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

    bool was_stopped() const { return was_stopped_; }
    std::exception_ptr failure() const { return failure_; }

 private:
    // False if the points ended early.
    template <typename Work>
    bool attempt(Work work) {
        if (failure_) return false;
        if (stop_signal() != 0 && begun_ != source_.size()) was_stopped_ = true;
        if (was_stopped_) return false;
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
    Collected(ResultSink& sink, const Keeping& keeping) : sink_(sink), keeping_(keeping) {}

    void begin(const ResultHead& head) { sink_.begin(head); }
    void point(const Point& point) override { add(point, false); }
    void add(const Point& point, bool is_replayed) {
        is_partial_ = is_partial_ || !point.failure.empty();
        if (point.measured) warn_of_mismatches(point);
        sink_has_failed_ = true;  // unless it comes back
        if (keeping_.keep) keeping_.keep(point, is_replayed);
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
    ResultTail tail_;
    std::uint64_t told_ = 0;
    std::uint64_t untold_ = 0;
    bool is_partial_ = false;
    bool was_interrupted_ = false;
    bool sink_has_failed_ = false;
};

// Empty also after a signal to stop: no point is answered then.
std::string earlier_for(const ResultHead& head, const Keeping& keeping) {
    try {
        return keeping.earlier ? keeping.earlier(head) : "";
    } catch (const Stopped&) {
        return {};
    }
}

// Passes the points of the earlier run and those after them to the sink. Returns the error that
// ended them early.
std::exception_ptr answer(PointSource& source, Backend& backend, const std::string& earlier,
                          Collected& collected) {
    UntilStopped points(source);
    std::exception_ptr failure;
    try {
        std::optional<PlannedPoint> next;
        if (!earlier.empty())
            next = replay(earlier, points, [&](const Point& point) { collected.add(point, true); });
        WithOneBefore rest(points, std::move(next));
        backend.answer(rest, collected);
    } catch (const Stopped&) {
        collected.interrupted();
    } catch (...) {
        if (collected.sink_has_failed()) throw;
        failure = std::current_exception();
    }
    if (!failure) failure = points.failure();
    if (failure || points.was_stopped()) collected.interrupted();
    return failure;
}

}  // namespace

ExitCode run_points(PointSource& source, Backend& backend, ResultHead head, ResultSink& sink,
                    const Keeping& keeping) {
    Collected collected(sink, keeping);
    try {
        source.open();
    } catch (const Stopped&) {  // reported by a result without points
    }
    backend.begin(head);
    head.compares_settings = source.compares_settings();
    const std::string earlier = earlier_for(head, keeping);
    collected.begin(head);
    const std::exception_ptr failure = answer(source, backend, earlier, collected);
    const ResultTail tail = std::move(collected).tail();
    sink.finish(tail);
    if (failure) std::rethrow_exception(failure);
    return exit_code_of(tail.status);
}

namespace {

class Replay : public ResultSink {
 public:
    Replay(PointSource& source, const std::function<void(const Point&)>& take)
        : source_(source), take_(take) {}

    void begin(const ResultHead&) override {}
    void point(const Point& point) override {
        if (!has_next() || next_->name != point.name) return;
        next_.reset();
        take_(point);
    }
    void finish(const ResultTail&) override {}
    std::optional<PlannedPoint> left() && { return std::move(next_); }

 private:
    bool has_next() {
        if (next_) return true;
        PlannedPoint planned;
        if (!source_.next(planned)) return false;
        source_.make(planned);
        next_ = std::move(planned);
        return true;
    }

    PointSource& source_;
    const std::function<void(const Point&)>& take_;
    std::optional<PlannedPoint> next_;  // taken from the source
};

// The words of a command line that decide the answer, without those about outputs and their look.
// The head names the shard: "auto" is another one elsewhere.
std::vector<std::string> question_in(const std::vector<std::string>& argv) {
    std::vector<std::string> words = without_options(
        argv,
        {"--resume", "-q", "--quiet", "-v", "--verbose", "--no-progress", "--json", "--jsonl",
         "--plain"},
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

}  // namespace

std::string why_of_another(const std::string& file, const ResultHead& head,
                           std::string_view why_unreadable) {
    try {
        const auto source = open_own_bytes(file);
        if (const auto kept = read_head(*source, file)) return why_not_same(*kept, head);
    } catch (const Error&) {
    }
    return std::string(why_unreadable);
}

std::optional<PlannedPoint> replay(const std::string& earlier, PointSource& source,
                                   const std::function<void(const Point& point)>& take) {
    const auto bytes = open_own_bytes(earlier);
    Replay replayed(source, take);
    ResultReader reader(*bytes, earlier);
    while (reader.next(replayed) != ReadOutcome::none) {
    }
    return std::move(replayed).left();
}

}  // namespace coalprof
