#include "core/write/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/columns.h"

namespace coalprof {
namespace {

using Cost = SweepSummary::Cost;
using SeenPoint = SweepSummary::SeenPoint;

constexpr std::size_t most_points = 10'000;  // larger sweeps get no sentence
constexpr std::size_t longest_value = 40;    // characters of a parameter

constexpr std::array<std::string_view, SweepSummary::kinds> nouns{"sectors", "bytes", "passes",
                                                                  "passes", "sectors"};

// The sum over the existing kinds of access; nothing if one of them is unknown, or there is none.
std::optional<double> sum_of(const Readings& readings, AccessField field) {
    std::optional<double> sum;
    for (const AccessKind kind : access_kinds) {
        const Reading& requests = readings[access_counter(kind, AccessField::requests)];
        const Reading& reading = readings[access_counter(kind, field)];
        if (!is_present(requests) && !is_present(reading)) continue;
        if (!is_number(reading)) return std::nullopt;
        sum = sum.value_or(0) + number_in(reading);
    }
    return sum;
}

std::optional<Cost> passes_of(const Readings& readings) {
    std::optional<Cost> cost;
    for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
        const Reading& passes = readings[shared_counters(kind).wavefronts];
        const Reading& conflicts = readings[*shared_counters(kind).conflicts];
        if (!is_present(passes)) continue;
        if (!is_number(passes) || !is_number(conflicts)) return std::nullopt;
        if (!cost) cost = Cost{0, 0};
        cost->spent += number_in(passes);
        *cost->ideal += number_in(passes) - number_in(conflicts);
    }
    return is_present(readings[Counter::shared_atomic_wavefronts]) ? std::nullopt : cost;
}

std::array<std::optional<Cost>, SweepSummary::kinds> costs_of(const Readings& readings) {
    std::array<std::optional<Cost>, SweepSummary::kinds> costs;
    const auto sectors = sum_of(readings, AccessField::sectors);
    const auto ideal = sum_of(readings, AccessField::ideal_sectors);
    if (sectors && ideal && *ideal > 0) costs[0] = Cost{*sectors, ideal};
    // Machines before 7.0 move transactions of several sizes.
    if (const auto moved = sum_of(readings, AccessField::transaction_bytes))
        costs[1] = Cost{*moved};
    else if (sectors)
        costs[1] = Cost{*sectors * 32};
    costs[2] = passes_of(readings);
    if (const Reading& passes = readings[Counter::constant_requests]; is_number(passes))
        costs[3] = Cost{number_in(passes)};
    for (const Counter counter : {Counter::local_load_sectors, Counter::local_store_sectors})
        if (is_number(readings[counter]))
            costs[4] = Cost{number_in(readings[counter]) + (costs[4] ? costs[4]->spent : 0)};
    return costs;
}

// True if a sentence can name them all.
bool have_short_names(const std::vector<SeenPoint>& points, const std::string& key) {
    return std::ranges::all_of(points, [&](const SeenPoint& point) {
        return text_of(*find_value(point.parameters, key)).size() <= longest_value;
    });
}

// Points that have a cost of one kind.
class CostComparison {
 public:
    CostComparison(const std::vector<SeenPoint>& points, std::size_t kind)
        : points_(points), noun_(nouns[kind]) {
        has_ideal_ = std::ranges::all_of(points, [&](const SeenPoint& point) {
            return point.costs[kind]->ideal.value_or(0) > 0;
        });
        has_one_ideal_ = !has_ideal_ || std::ranges::all_of(points, [&](const SeenPoint& point) {
            return are_equal_costs(*point.costs[kind]->ideal, *points[0].costs[kind]->ideal);
        });
        for (const SeenPoint& point : points) ratios_.push_back(ratio_of(*point.costs[kind]));
        const auto [low, high] = std::ranges::minmax(ratios_);
        varies_ = !are_equal_costs(low, high);
    }
    bool varies() const { return varies_; }
    // Without a known ideal, only costs of the same work compare.
    bool compares() const {
        return has_ideal_ || std::ranges::all_of(points_, [&](const SeenPoint& point) {
                   return point.useful_bytes && point.useful_bytes == points_.front().useful_bytes;
               });
    }

    // Of the values of `key`, the only parameter that varies.
    std::string sentence(const std::string& key) const {
        if (!varies_) return of_equal_costs();
        std::vector<ValueCost> samples;
        for (std::size_t i = 0; i < points_.size(); ++i)
            samples.push_back({*find_value(points_[i].parameters, key), ratios_[i]});
        return sentence_of(key, noun_, !has_one_ideal_, std::move(samples));
    }

 private:
    // Where the work of all points is the same, amounts compare them; else the ratio to the ideal
    // of each.
    double ratio_of(const Cost& cost) const {
        return has_ideal_ ? cost.spent / *cost.ideal : cost.spent;
    }
    std::string of_equal_costs() const {
        if (!has_ideal_) return fmt::format("all rows cost the same number of {}", noun_);
        if (are_equal_costs(ratios_[0], 1))
            return fmt::format("all rows are ideal: none wastes {}", noun_);
        if (ratios_[0] < least_ratio_said) return {};
        return fmt::format("all rows cost {} {} the ideal",
                           more_text(ratios_[0], ratios_[0], noun_),
                           ratios_[0] < 2 ? "than" : "of");
    }

    const std::vector<SeenPoint>& points_;
    std::string_view noun_;
    std::vector<double> ratios_;
    bool has_ideal_ = false;
    bool has_one_ideal_ = false;
    bool varies_ = false;
};

// "naive takes ~3.1 times as long as padded"; empty unless the times surely differ and all do the
// same work.
std::string slowest_of(const std::vector<SeenPoint>& points, const std::string& key) {
    const auto is_timed_alike = [&](const SeenPoint& one) {
        return one.time && one.useful_bytes == points.front().useful_bytes;
    };
    if (!std::ranges::all_of(points, is_timed_alike)) return {};
    const auto middle = [](const SeenPoint& one) { return one.time->middle; };
    const SeenPoint& best = *std::ranges::min_element(points, {}, middle);
    const SeenPoint& worst = *std::ranges::max_element(points, {}, middle);
    if (best.time->high >= worst.time->low || !(middle(best) > 0)) return {};
    const double ratio = middle(worst) / middle(best);
    const auto name = [&](const SeenPoint& one) {
        const Value& value = *find_value(one.parameters, key);
        return (natural_number(value) ? shown(key) + " " : "") + value_name(value);
    };
    const bool is_little = ratio < 2;
    const double number = is_little ? (ratio - 1) * 100 : ratio;
    // The third digit of an estimate is noise.
    return fmt::format("{} takes {} {} {}", name(worst),
                       best.time->is_measured && worst.time->is_measured
                           ? fmt::format("{:.3g}", number)
                       : number < 10 ? fmt::format("~{:.1f}", number)
                                     : fmt::format("~{:.0f}", number),
                       is_little ? "% longer than" : "times as long as", name(best));
}

std::optional<SweepSummary::Time> time_of(const Point& point) {
    const bool is_of_start = point.estimates && !point.estimates->limits.empty() &&
                             point.estimates->limits.front() == Limit::start;
    if (is_of_start) return std::nullopt;
    if (point.measured && point.timing)
        return SweepSummary::Time{point.timing->low_seconds, point.timing->median_seconds,
                                  point.timing->high_seconds, true};
    const Interval* interval =
        point.estimates ? point.estimates->of(Counter::duration_seconds) : nullptr;
    const Reading& time = point.predicted[Counter::duration_seconds];
    if (!interval || !is_number(time)) return std::nullopt;
    return SweepSummary::Time{interval->low, number_in(time), interval->high, false};
}

// The parameters that distinguish the points; nothing if some point lacks one.
std::vector<std::string> varying_keys(const std::vector<SeenPoint>& points, bool has_grid) {
    std::vector<std::string> keys;
    for (const auto& [key, first] : points.front().parameters) {
        if (follows_from_others(key, has_grid)) continue;
        bool varies = false;
        for (const SeenPoint& point : points) {
            const Value* value = find_value(point.parameters, key);
            if (!value) return {};
            varies |= *value != first;
        }
        if (varies) keys.push_back(key);
    }
    return keys;
}

// Words begin with a capital, names of compared things stay as they are.
std::string with_capital(std::string text, const std::string& key) {
    const auto begins = [&](std::string_view word) { return text.starts_with(word); };
    if (begins("all rows ") || begins("values of ") || std::ranges::any_of(nouns, begins) ||
        (plural(key).starts_with(key) && begins(key)))
        text[0] =
            text[0] >= 'a' && text[0] <= 'z' ? static_cast<char>(text[0] - 'a' + 'A') : text[0];
    return text;
}

}  // namespace

void SweepSummary::begin(const ResultHead& head) {
    constexpr std::array<std::string_view, 5> others{"", "run", "kernel", "verify", "warps"};
    is_of_sweep_ = std::ranges::find(others, head.sweep.pattern) == others.end();
    has_grid_ = head.sweep.grid_x.has_value();
    points_.clear();
}

void SweepSummary::look_at(const Point& point) {
    if (!point.failure.empty()) is_of_sweep_ = false;
    if (!is_of_sweep_ || points_.size() > most_points) return;
    SeenPoint& seen = points_.emplace_back();
    seen.parameters = point.parameters;
    seen.costs = costs_of(point.predicted);
    seen.time = time_of(point);
    if (const Reading& useful = point.predicted[Counter::useful_bytes]; is_number(useful))
        seen.useful_bytes = number_in(useful);
    if (!point.measured) return;
    // A measurement overrides the prediction.
    const auto measured = costs_of(*point.measured);
    for (std::size_t kind = 0; kind < kinds; ++kind)
        if (measured[kind]) seen.costs[kind] = measured[kind];
}

std::string SweepSummary::sentence() const {
    if (!is_of_sweep_ || points_.size() < 2 || points_.size() > most_points) return {};
    const std::vector<std::string> keys = varying_keys(points_, has_grid_);
    if (keys.empty()) return {};
    const bool is_of_one = keys.size() == 1 && have_short_names(points_, keys[0]);
    std::vector<CostComparison> varying;
    std::vector<CostComparison> constant;
    bool is_complete = true;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        const auto known = static_cast<std::size_t>(std::ranges::count_if(
            points_, [&](const SeenPoint& point) { return point.costs[kind].has_value(); }));
        if (known == 0) continue;
        const bool has_all = known == points_.size();
        constexpr std::size_t sectors = 0;
        constexpr std::size_t bytes = 1;
        if (kind == sectors && !has_all) continue;  // then bytes compare
        if (kind == bytes && !(varying.empty() && constant.empty())) continue;
        if (!has_all) {
            is_complete = false;
            continue;
        }
        CostComparison comparison(points_, kind);
        is_complete = is_complete && comparison.compares();
        (comparison.varies() ? varying : constant).push_back(std::move(comparison));
    }
    std::string text;
    if (is_complete && varying.empty() && !constant.empty())
        text = constant[0].sentence(keys[0]);
    else if (is_of_one)
        text = is_complete && varying.size() == 1 ? varying[0].sentence(keys[0])
                                                  : slowest_of(points_, keys[0]);
    return text.empty() ? text : with_capital(std::move(text), keys[0]) + '.';
}

}  // namespace coalprof
