#include "core/run/run_points.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

#include "core/result/exit_code.h"
#include "core/run/agreement.h"
#include "core/run/settings_judge.h"

namespace coalprof {
namespace {

// More disagreements than this only say how many there were.
constexpr std::size_t most_mismatches = 1000;

// The points of a source until a signal asks to stop or there is no reading on.
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
    // False where the points have ended early.
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

// What the points of a run come to.
class Collected : public Delivery {
 public:
    Collected(ResultSink& sink, std::vector<Warning> missing)
        : sink_(sink), is_partial_(!missing.empty()) {
        tail_.warnings = std::move(missing);
    }

    void point(const PlannedPoint& planned, const Point& point) override {
        is_partial_ = is_partial_ || !point.failure.empty();
        if (point.measured) warn_of_mismatches(point);
        judge_.add(planned, point);
        sink_has_failed_ = true;  // unless it comes back
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
    SettingsJudge judge_;
    ResultTail tail_;
    std::uint64_t told_ = 0;
    std::uint64_t untold_ = 0;
    bool is_partial_ = false;
    bool was_interrupted_ = false;
    bool sink_has_failed_ = false;
};

// All names in one, as the head says them of several machines.
MeasuredDevice described_together(const std::vector<MeasuredDevice>& devices) {
    std::string names;
    for (const MeasuredDevice& device : devices) names += (names.empty() ? "" : ",") + device.name;
    return {.name = names};
}

void begin_result(const std::vector<Leg>& legs, ResultHead& head) {
    for (const Leg& leg : legs) {
        leg.backend.begin(head);
        head.compares_settings = head.compares_settings || leg.source.compares_settings();
    }
    if (head.devices.empty()) return;
    head.device =
        head.devices.size() == 1 ? head.devices.front() : described_together(head.devices);
    if (head.devices.size() == 1) head.devices.clear();
}

// Why the points ended, where that is no end of theirs.
std::exception_ptr answer_leg(const Leg& leg, Collected& collected) {
    UntilStopped source(leg.source);
    std::exception_ptr failure;
    try {
        leg.backend.answer(source, collected);
    } catch (const Stopped&) {
        collected.interrupted();
    } catch (...) {
        if (collected.sink_has_failed()) throw;
        failure = std::current_exception();
    }
    if (!failure) failure = source.failure();
    if (failure || source.was_stopped()) collected.interrupted();
    return failure;
}

}  // namespace

ExitCode run_points(const std::vector<Leg>& legs, ResultHead head, ResultSink& sink,
                    std::vector<Warning> missing) {
    Collected collected(sink, std::move(missing));
    try {
        for (const Leg& leg : legs) leg.source.open();
    } catch (const Stopped&) {  // told by a result without points
    }
    begin_result(legs, head);
    sink.begin(head);
    std::exception_ptr failure;
    for (const Leg& leg : legs)
        if (!failure) failure = answer_leg(leg, collected);
    const ResultTail tail = std::move(collected).tail();
    sink.finish(tail);
    if (failure) std::rethrow_exception(failure);
    return exit_code_of(tail.status);
}

}  // namespace coalprof
