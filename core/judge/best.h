// --best KEY and --sort KEY: the combination of a result that has the best value of a counter, and
// points in the order of one. Both stand between the source of a result and its writers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/judge/best_reason.h"
#include "core/result/differ.h"

namespace coalprof {

struct BestAtSize;  // best_sizes.h

// Passes a result on and adds a verdict at its end: the combination of everything but the swept
// parameter that has the best mean of the counter; where nothing else varies, the best value of
// that parameter. No verdict on a single one, and none where intervals overlap. By measurement
// where every point has one. Totals of different amounts of work are marked as such. The verdict's
// scope names the counter; its basis is separate from the others. Kernels are compared at each size
// of the problem: each has a verdict, whose scope names the size, too.
class BestSink : public ResultSink {
 public:
    struct Sum {
        Amount total;
        std::uint64_t count = 0;
    };
    struct Candidate {
        std::string name;  // "pitch auto, block 64"
        NamedValues values;
        std::uint64_t points = 0;
        Sum predicted = {};
        Sum measured = {};
        double work_bytes = 0;       // that its points need
        double touched_bytes = 0;    // all that they load, store and update
        LaunchTraffic traffic = {};  // traffic of its first point
        std::string costliest = {};  // line, likewise; empty: not known
        std::string reason = {};     // the reason for a missing number
    };

    // `costliest`: by the name of a point, the line of its kernel that costs most; it may be filled
    // until the point comes. Null: not known.
    using Lines = std::unordered_map<std::string, std::string>;
    // `same_work_alone`: no verdict on points that store different amounts.
    BestSink(ResultSink& next, Counter counter, const Lines* costliest = nullptr,
             bool same_work_alone = false);
    void begin(const ResultHead& head) override;
    // Throws UsageError where the first point's instructions have no such counter at all.
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

    // After the end: true if any point had a number.
    bool was_there() const { return was_there_; }

 private:
    struct Candidates {
        std::vector<Candidate> all;
        std::unordered_map<std::string, std::size_t> places;  // name -> place
    };

    // Drops the part that all have in common.
    static void shorten_names(std::vector<Candidate>& all);
    void require_counter(const Point& point) const;
    void add(Candidates& candidates, NamedValues values, const Point& point) const;
    // Of candidates that can be compared, by one of their sums.
    BestAtSize judged(std::vector<Candidate> all, Sum Candidate::*sum) const;
    std::vector<Verdict> verdicts() const;
    std::string reason_of(const Candidate& candidate) const;

    ResultSink& next_;
    Counter counter_;
    const Lines* costliest_;
    bool same_work_alone_;
    std::string parameter_;
    bool has_grid_ = false;  // of the whole sweep
    bool is_of_kernels_ = false;
    bool is_first_ = true;
    bool was_there_ = false;
    Candidates combinations_;  // values of everything except the parameter
    Candidates values_;        // values of the parameter, while nothing else varies
};

// Holds the points back and passes them on in order: for a counter the best first, for a parameter
// the smallest. Those without a value come last.
class SortedSink : public ResultSink {
 public:
    // `key` as typed, perhaps followed by :asc or :desc. Throws UsageError.
    SortedSink(ResultSink& next, const std::string& key);
    void begin(const ResultHead& head) override;
    // Throws UsageError where the first point has no such parameter and no such counter exists.
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    ResultSink& next_;
    std::string key_;
    std::optional<Counter> counter_;
    bool is_descending_ = false;
    struct Place {
        bool is_last = false;
        double number = 0;
        std::string text = {};
        std::size_t at = 0;  // place in points_
    };
    Place place_of(const Point& point) const;
    std::vector<Place> places_;
    std::deque<Point> points_;
};

}  // namespace coalprof
