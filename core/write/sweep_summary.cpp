#include "core/write/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/columns.h"

namespace coalprof {
namespace {

// Sentences about a cost that depends on one parameter: which multiples are cheap, does it rise,
// which value costs most. Each holds for all measured values, and claims no more about others than
// those show.
struct ValueCost {
    Value value;
    double ratio;  // ratio to the ideal, or the amount itself where no ideal is known
};

constexpr double least_ratio_said = 1.01;  // smaller ratios are noise

bool are_equal_costs(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// "25 % more sectors", "2 to 8 times the sectors": the amount beyond 1.
std::string more_text(double low, double high, std::string_view noun) {
    const bool is_percent = high < 2;
    const auto number = [&](double ratio) {
        return fmt::format("{:.3g}", is_percent ? (ratio - 1) * 100 : ratio);
    };
    std::string text = number(low);
    if (number(high) != text) text += " to " + number(high);
    return is_percent ? fmt::format("{} % more {}", text, noun)
                      : fmt::format("{} times the {}", text, noun);
}

// "offsets", "values of N".
std::string plural(std::string_view key) {
    constexpr std::string_view hard_endings = "sxy";
    const bool is_word = key.size() > 2 && hard_endings.find(key.back()) == hard_endings.npos &&
                         std::ranges::all_of(key, [](char c) { return c >= 'a' && c <= 'z'; });
    return is_word ? std::string(key) + "s" : fmt::format("values of {}", shown(key));
}

// "the stride", "struct_bytes", "N"
std::string with_article(std::string_view key) {
    return plural(key).starts_with(key) ? fmt::format("the {}", key) : shown(key);
}

std::string value_name(const Value& value) { return shown(text_of(value)); }

// Finds the sentence for samples of one parameter with different costs.
class OneParameter {
 public:
    OneParameter(std::string_view key, std::string_view noun, bool is_over_ideal,
                 std::vector<ValueCost> samples)
        : key_(key), noun_(noun), is_over_ideal_(is_over_ideal), samples_(std::move(samples)) {
        best_ = std::ranges::min_element(samples_, {}, &ValueCost::ratio)->ratio;
        worst_ = std::ranges::max_element(samples_, {}, &ValueCost::ratio)->ratio;
    }

    std::string sentence() const {
        if (!(best_ > 0) || worst_ / best_ < least_ratio_said) return {};
        // If only the ideals differ, only the ideal itself is a measure.
        if (is_over_ideal_ && !are_equal_costs(best_, 1)) return {};
        if (!all_numbers()) return of_names();
        for (const auto& say :
             {&OneParameter::of_slope, &OneParameter::of_multiples, &OneParameter::of_exception})
            if (std::string text = (this->*say)(); !text.empty()) return text;
        // "offset 5 costs 8 times as many sectors as offset 3"
        const auto end = [&](double ratio) {
            const auto at = std::ranges::find_if(
                samples_, [&](const ValueCost& one) { return are_equal_costs(one.ratio, ratio); });
            return fmt::format("{} {}", shown(key_), value_name(at->value));
        };
        return of_extremes(end(worst_), false, end(best_), false);
    }

 private:
    bool all_numbers() const {
        return std::ranges::all_of(
            samples_, [](const ValueCost& one) { return natural_number(one.value).has_value(); });
    }
    bool is_best(const ValueCost& one) const { return are_equal_costs(one.ratio, best_); }
    // "25 % more sectors", for all that are not the best.
    std::string more() const {
        double low = worst_;
        for (const ValueCost& one : samples_)
            if (!is_best(one)) low = std::min(low, one.ratio);
        return more_text(low / best_, worst_ / best_, noun_) + than_ideal();
    }
    std::string than_ideal() const {
        return !is_over_ideal_ ? "" : worst_ / best_ < 2 ? " than the ideal" : " of the ideal";
    }

    // "offsets that are no multiple of 8 cost 25 % more sectors", "strides that are a multiple of
    // 2 cost 2 to 32 times the passes of all others"
    std::string of_multiples() const {
        for (const bool of_best : {true, false}) {
            std::uint64_t divisor = 0;
            for (const ValueCost& one : samples_)
                if (is_best(one) == of_best)
                    divisor = std::gcd(divisor, *natural_number(one.value));
            const auto fits = [&](const ValueCost& one) {
                return (*natural_number(one.value) % divisor == 0) == (is_best(one) == of_best);
            };
            if (divisor < 2 || !std::ranges::all_of(samples_, fits) || !is_seen_whole(divisor))
                continue;
            return fmt::format("{} that are {} multiple of {} cost {}{}", plural(key_),
                               of_best ? "no" : "a", divisor, more(),
                               of_best || is_over_ideal_ ? ""
                               : worst_ / best_ < 2      ? " than all others"
                                                         : " of all others");
        }
        return {};
    }
    // A multiple says something about other values only if neighbours were measured one after the
    // other from one multiple to the next.
    bool is_seen_whole(std::uint64_t divisor) const {
        std::set<std::uint64_t> values;
        for (const ValueCost& one : samples_) values.insert(*natural_number(one.value));
        return *values.rbegin() - *values.begin() + 1 == values.size() && values.size() > divisor;
    }

    // "sectors rise with the stride: 8 times as many from 8 on as at 1"
    std::string of_slope() const {
        if (is_over_ideal_) return {};
        std::vector<ValueCost> rising = samples_;
        std::ranges::sort(rising, {},
                          [](const ValueCost& one) { return *natural_number(one.value); });
        const auto is_less = [](const ValueCost& a, const ValueCost& b) {
            return a.ratio < b.ratio && !are_equal_costs(a.ratio, b.ratio);
        };
        const bool is_rising = std::ranges::is_sorted(rising, is_less);
        if (!is_rising) std::ranges::reverse(rising);
        std::set<std::string> steps;
        for (const ValueCost& one : rising) steps.insert(fmt::format("{:.9g}", one.ratio));
        if (!std::ranges::is_sorted(rising, is_less) || steps.size() < 3) return {};
        const auto top = std::ranges::find_if(
            rising, [&](const ValueCost& one) { return are_equal_costs(one.ratio, worst_); });
        const bool has_plateau = is_rising && top + 1 != rising.end();
        return fmt::format("{} {} with {}: {} {} {}{} {} at {}", noun_, is_rising ? "rise" : "fall",
                           with_article(key_), as_many(), has_plateau ? "from" : "at",
                           value_name(is_rising ? top->value : rising.back().value),
                           has_plateau ? " on" : "", as_or_than(),
                           value_name(rising.front().value));
    }

    // "all rows but offset 0 cost 25 % more sectors"
    std::string of_exception() const {
        if (samples_.size() < 3) return {};
        const ValueCost* alone = nullptr;
        for (const ValueCost& one : samples_)
            if (is_best(one)) {
                if (alone) return {};
                alone = &one;
            }
        return fmt::format("all rows but {} {} cost {}", shown(key_), value_name(alone->value),
                           more());
    }

    // "naive and tile cost 8 times as many passes as padded"
    std::string of_names() const {
        const auto names = [&](double ratio) {
            NameList list(3);
            for (const ValueCost& one : samples_)
                if (are_equal_costs(one.ratio, ratio))
                    list.add(std::holds_alternative<std::string>(one.value)
                                 ? value_name(one.value)
                                 : fmt::format("{} {}", shown(key_), value_name(one.value)));
            return list.text();
        };
        const auto count = [&](double ratio) {
            return std::ranges::count_if(
                samples_, [&](const ValueCost& one) { return are_equal_costs(one.ratio, ratio); });
        };
        return of_extremes(names(worst_), count(worst_) > 1, names(best_), count(best_) > 1);
    }

    std::string of_extremes(const std::string& worst, bool are_several_worst,
                            const std::string& best, bool are_several_best) const {
        const std::string_view verb = noun_ == "bytes" ? "move" : "cost";
        const std::string cost = fmt::format("{}{}", verb, are_several_worst ? "" : "s");
        if (is_over_ideal_)
            return fmt::format("{} {} {}{}, {} {} none", worst, cost,
                               more_text(worst_, worst_, noun_), than_ideal(), best,
                               are_several_best ? "waste" : "wastes");
        return fmt::format("{} {} {} {} {} {}", worst, cost, as_many(), noun_, as_or_than(), best);
    }

    // "25 % more" than, "8 times as many" as: the worst compared with the best.
    std::string as_many() const {
        const double ratio = worst_ / best_;
        return ratio < 2 ? fmt::format("{:.3g} % more", (ratio - 1) * 100)
                         : fmt::format("{:.3g} times as many", ratio);
    }
    std::string_view as_or_than() const { return worst_ / best_ < 2 ? "than" : "as"; }

    std::string_view key_;
    std::string_view noun_;
    bool is_over_ideal_;
    std::vector<ValueCost> samples_;
    double best_ = 0;
    double worst_ = 0;
};

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

    // The sentence says what `key`, the only parameter that varies, does.
    std::string sentence(const std::string& key) const {
        if (!varies_) return of_equal_costs();
        std::vector<ValueCost> samples;
        for (std::size_t i = 0; i < points_.size(); ++i)
            samples.push_back({*find_value(points_[i].parameters, key), ratios_[i]});
        return OneParameter(key, noun_, !has_one_ideal_, std::move(samples)).sentence();
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
