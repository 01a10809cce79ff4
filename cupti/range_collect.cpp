#include "cupti/range_collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "core/device/device.h"
#include "core/result/reading.h"
#include "cupti/range_session.h"

namespace coalprof {
namespace {

// Adds the time until it goes to one of CollectTimes.
class Stopwatch {
 public:
    explicit Stopwatch(double& seconds) : seconds_(seconds) {}
    ~Stopwatch() {
        seconds_ +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;

 private:
    double& seconds_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::string range_name(std::size_t point) { return fmt::format("p{}", point); }

std::optional<std::size_t> point_of_range(std::string_view name) {
    std::size_t point = 0;
    if (!name.starts_with('p')) return std::nullopt;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), point);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return point;
}

// The points [first, first + count) of a sweep, in a session of their own.
class Chunk {
 public:
    Chunk(const RangeCollection& collection, const CountedSweep& sweep, std::size_t first,
          std::size_t count, SweepValues& values, CollectTimes& times)
        : collection_(collection),
          sweep_(sweep),
          first_(first),
          count_(count),
          values_(values),
          times_(times) {}

    void run() {
        try {
            open();
            count_all_passes();
            if (finished_ > 0) read_values();
        } catch (const CountersError& error) {
            end_early(error);
        }
        explain_missing();
        const Stopwatch watch(times_.close_seconds);
        session_.reset();
    }

 private:
    void open() {
        const Stopwatch watch(times_.set_up_seconds);
        session_.emplace(collection_.api, collection_.context, collection_.config, count_);
    }

    // Afterwards finished_ points have been counted in every pass.
    void count_all_passes() {
        const Stopwatch watch(times_.sweep_seconds);
        try {
            bool is_complete = false;
            for (std::size_t pass = 0; !is_complete; ++pass) {
                // CUPTI says when it has enough; this bound only keeps a wrong answer from
                // repeating the sweep for ever.
                if (pass > collection_.config.passes())
                    throw CountersError(fmt::format(
                        "cannot count: CUPTI asks for more than the {} passes that it announced",
                        collection_.config.passes()));
                count_one_pass();
                is_complete = session_->stop();
            }
        } catch (const DeviceLostError& error) {
            end_early(error);
            values_.device_lost = true;
            keep_what_is_complete();
        } catch (const CountersError& error) {
            end_early(error);
            keep_what_is_complete();
        }
    }

    void count_one_pass() {
        finished_ = 0;
        session_->start();
        for (std::size_t point = first_; point < first_ + count_; ++point) {
            attempt(sweep_.before, point);
            // A range for points that failed, too: every pass must show the same ranges.
            session_->push(range_name(point));
            attempt(sweep_.work, point);
            session_->pop();
            ++finished_;
        }
    }

    void attempt(const std::function<void(std::size_t)>& call, std::size_t point) {
        PointValues& outcome = values_.points[point];
        if (!outcome.failure.empty()) return;
        try {
            call(point);
        } catch (const PointError& error) {
            outcome.failure = keep_reason(error.what());
        }
    }

    // The sweep ended early. Points are worth decoding only if this was the last pass.
    void keep_what_is_complete() {
        if (!session_->abandon()) finished_ = 0;
    }

    void read_values() {
        std::size_t dropped = 0;
        {
            const Stopwatch watch(times_.decode_seconds);
            dropped = session_->decode();
        }
        if (dropped > 0)
            missing_ = keep_reason(
                fmt::format("CUPTI lost {} of {} points, this one among them", dropped, count_));
        const Stopwatch watch(times_.evaluate_seconds);
        for (const CollectedRange& range : session_->ranges()) evaluate(range);
    }

    void evaluate(const CollectedRange& range) {
        const auto point = point_of_range(range.name);
        if (!point || *point < first_ || *point >= first_ + finished_) return;
        PointValues& outcome = values_.points[*point];
        if (!outcome.failure.empty()) return;
        try {
            outcome.values = collection_.config.evaluate(session_->counter_data(), range.index);
        } catch (const CountersError& error) {
            outcome.failure = keep_reason(error.what());
        }
    }

    void end_early(const Error& error) {
        // The first reason is the one that explains the others.
        if (values_.ended_because.empty()) values_.ended_because = keep_reason(error.what());
    }

    void explain_missing() {
        for (std::size_t point = first_; point < first_ + count_; ++point) {
            PointValues& outcome = values_.points[point];
            if (outcome.values.empty() && outcome.failure.empty())
                outcome.failure = values_.ended_because.empty() ? missing_ : values_.ended_because;
        }
    }

    const RangeCollection& collection_;
    const CountedSweep& sweep_;
    std::size_t first_;
    std::size_t count_;
    SweepValues& values_;
    CollectTimes& times_;
    std::optional<RangeSession> session_;
    std::size_t finished_ = 0;  // points of this pass whose range was closed
    std::string_view missing_ = "CUPTI gave no range back for this point";
};

}  // namespace

bool SweepValues::has_values() const {
    return std::ranges::any_of(points, [](const auto& point) { return !point.values.empty(); });
}

void collect_ranges(const RangeCollection& collection, const CountedSweep& sweep,
                    SweepValues& values, CollectTimes& times) {
    values.points.resize(sweep.points);
    for (std::size_t first = 0; first < sweep.points; first += collection.ranges_per_session) {
        const std::size_t count = std::min(collection.ranges_per_session, sweep.points - first);
        if (values.ended_because.empty()) {
            Chunk(collection, sweep, first, count, values, times).run();
            continue;
        }
        for (std::size_t point = first; point < first + count; ++point)
            if (values.points[point].failure.empty())
                values.points[point].failure = values.ended_because;
    }
}

}  // namespace coalprof
