#include "core/write/sweep_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/columns.h"

namespace coalprof {
namespace {

using Cost = SweepSummary::Cost;
using SeenPoint = SweepSummary::SeenPoint;

constexpr std::size_t most_points = 10'000;  // larger sweeps get no sentence
constexpr std::size_t most_groups = 4;       // that get a sentence each
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
bool have_short_names(const std::vector<SeenPoint>& points, const std::vector<std::string>& keys) {
    return std::ranges::all_of(points, [&](const SeenPoint& point) {
        return std::ranges::all_of(keys, [&](const std::string& key) {
            return text_of(*find_value(point.parameters, key)).size() <= longest_value;
        });
    });
}

// Points that have a cost of one kind, and the parameters that distinguish them.
class CostComparison {
 public:
    CostComparison(const std::vector<SeenPoint>& points, std::vector<std::string> keys,
                   std::size_t kind)
        : points_(points), keys_(std::move(keys)), noun_(nouns[kind]) {
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

    std::string sentence() const {
        if (!varies_) return of_equal_costs();
        for (const std::string& key : keys_)
            if (decides_alone(key)) {
                std::string text = of_one(key, all());
                const std::string others = list_of_others(key);
                return text.empty() || others.empty() ? text : text + ", whatever " + others;
            }
        std::string text = keys_.size() == 2 ? of_groups() : std::string();
        return text.empty() ? of_ends() : text;
    }

 private:
    using Indexes = std::vector<std::size_t>;

    // Where the work of all points is the same, amounts compare them; else the ratio to the ideal
    // of each.
    double ratio_of(const Cost& cost) const {
        return has_ideal_ ? cost.spent / *cost.ideal : cost.spent;
    }
    Indexes all() const {
        Indexes indexes(points_.size());
        std::iota(indexes.begin(), indexes.end(), std::size_t{0});
        return indexes;
    }
    const Value& value_of(std::size_t i, const std::string& key) const {
        return *find_value(points_[i].parameters, key);
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

    // True if points with the same value of it have the same cost.
    bool decides_alone(const std::string& key) const {
        std::map<std::string, double> known;
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const auto [at, is_new] = known.try_emplace(text_of(value_of(i, key)), ratios_[i]);
            if (!is_new && !are_equal_costs(at->second, ratios_[i])) return false;
        }
        return true;
    }

    std::string of_one(const std::string& key, const Indexes& indexes) const {
        std::vector<ValueCost> samples;
        std::set<std::string> known;
        for (const std::size_t i : indexes)
            if (known.insert(text_of(value_of(i, key))).second)
                samples.push_back({value_of(i, key), ratios_[i]});
        return sentence_of(key, noun_, !has_one_ideal_, std::move(samples));
    }

    // Those that vary while it is constant.
    std::string list_of_others(const std::string& key) const {
        std::string text;
        for (const std::string& other : keys_) {
            std::map<std::string, std::string> known;
            const auto differs = [&](std::size_t i) {
                const std::string value = text_of(value_of(i, other));
                return known.try_emplace(text_of(value_of(i, key)), value).first->second != value;
            };
            if (other != key && std::ranges::any_of(all(), differs))
                text += (text.empty() ? "" : " and ") + with_article(other);
        }
        return text;
    }

    // "k 8, j 0 costs 8 times as many sectors as k 1, j 0"
    std::string of_ends() const {
        const auto end = [&](auto at) {
            const auto i = static_cast<std::size_t>(at - ratios_.begin());
            return ValueCost{joined(keys_,
                                    [&](const std::string& key) {
                                        return fmt::format("{} {}", shown(key),
                                                           value_name(value_of(i, key)));
                                    }),
                             ratios_[i]};
        };
        return sentence_of(
            "", noun_, !has_one_ideal_,
            {end(std::ranges::max_element(ratios_)), end(std::ranges::min_element(ratios_))});
    }

    // "f32: offsets that ...; f64: ..."
    std::string of_groups() const {
        for (const std::size_t grouped : {std::size_t{1}, std::size_t{0}}) {
            const std::string& key = keys_[grouped];
            std::vector<std::pair<std::string, Indexes>> groups;
            for (std::size_t i = 0; i < points_.size(); ++i) {
                const std::string name = value_name(value_of(i, key));
                auto at = std::ranges::find(groups, name, &std::pair<std::string, Indexes>::first);
                if (at == groups.end()) at = groups.insert(at, {name, {}});
                at->second.push_back(i);
            }
            if (groups.size() > most_groups) continue;
            if (std::string text = of_groups(key, keys_[1 - grouped], groups); !text.empty())
                return text;
        }
        return {};
    }
    std::string of_groups(const std::string& key, const std::string& inner,
                          const std::vector<std::pair<std::string, Indexes>>& groups) const {
        std::string text;
        std::string first;
        bool are_same = true;
        for (const auto& [name, indexes] : groups) {
            const std::string sentence = of_group(inner, indexes);
            if (sentence.empty()) return {};
            if (first.empty()) first = sentence;
            are_same &= sentence == first;
            text +=
                fmt::format("{}{} {}: {}", text.empty() ? "" : "; ", shown(key), name, sentence);
        }
        return are_same ? fmt::format("{}, whatever {}", first, with_article(key)) : text;
    }
    std::string of_group(const std::string& inner, const Indexes& indexes) const {
        const auto is_first = [&](std::size_t i) {
            return are_equal_costs(ratios_[i], ratios_[indexes[0]]);
        };
        if (!std::ranges::all_of(indexes, is_first)) return of_one(inner, indexes);
        return "all rows cost the same";
    }

    const std::vector<SeenPoint>& points_;
    std::vector<std::string> keys_;
    std::string_view noun_;
    std::vector<double> ratios_;
    bool has_ideal_ = false;
    bool has_one_ideal_ = false;
    bool varies_ = false;
};

struct Slowest {
    std::string worst, best;
    double least_ratio = 1, most_ratio = 1;  // ratios of their times
    bool is_measured = false;
};

// None unless the times surely differ and all do the same work.
std::optional<Slowest> slowest_of(const std::vector<SeenPoint>& points, const std::string& key) {
    const auto is_timed_alike = [&](const SeenPoint& one) {
        return one.time && one.useful_bytes == points.front().useful_bytes;
    };
    if (!std::ranges::all_of(points, is_timed_alike)) return std::nullopt;
    const auto middle = [](const SeenPoint& one) { return one.time->middle; };
    const SeenPoint& best = *std::ranges::min_element(points, {}, middle);
    const SeenPoint& worst = *std::ranges::max_element(points, {}, middle);
    if (best.time->high >= worst.time->low || !(middle(best) > 0)) return std::nullopt;
    const double ratio = middle(worst) / middle(best);
    const auto name = [&](const SeenPoint& one) {
        const Value& value = *find_value(one.parameters, key);
        return (natural_number(value) ? shown(key) + " " : "") + value_name(value);
    };
    return Slowest{name(worst), name(best), ratio, ratio,
                   best.time->is_measured && worst.time->is_measured};
}

// "naive takes ~3.1 times as long as padded"
std::string sentence_of(const Slowest& slowest) {
    const bool is_little = slowest.most_ratio < 2;
    const auto number = [&](double ratio) {
        const double shown_ratio = is_little ? (ratio - 1) * 100 : ratio;
        // The third digit of an estimate is noise.
        return slowest.is_measured ? fmt::format("{:.3g}", shown_ratio)
               : shown_ratio < 10  ? fmt::format("~{:.1f}", shown_ratio)
                                   : fmt::format("~{:.0f}", shown_ratio);
    };
    const std::string least = number(slowest.least_ratio), most = number(slowest.most_ratio);
    return fmt::format("{} takes {} {} {}", slowest.worst,
                       least == most ? least : least + " to " + most,
                       is_little ? "% longer than" : "times as long as", slowest.best);
}

// The same for one parameter at each value of another.
std::string slowest_whatever(const std::vector<SeenPoint>& points,
                             const std::vector<std::string>& keys) {
    for (std::size_t k = 0; k < 2; ++k) {
        std::map<std::string, std::vector<SeenPoint>> groups;
        for (const SeenPoint& point : points)
            groups[text_of(*find_value(point.parameters, keys[1 - k]))].push_back(point);
        std::optional<Slowest> of_all;
        const bool are_same = std::ranges::all_of(groups, [&](const auto& group) {
            const std::optional<Slowest> one = slowest_of(group.second, keys[k]);
            if (!one) return false;
            if (!of_all) of_all = one;
            of_all->least_ratio = std::min(of_all->least_ratio, one->least_ratio);
            of_all->most_ratio = std::max(of_all->most_ratio, one->most_ratio);
            of_all->is_measured &= one->is_measured;
            return of_all->worst == one->worst && of_all->best == one->best;
        });
        if (of_all && are_same)
            return sentence_of(*of_all) + ", whatever " + with_article(keys[1 - k]);
    }
    return {};
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
std::string with_capital(std::string text, const std::vector<std::string>& keys) {
    const auto begins = [&](std::string_view word) { return text.starts_with(word); };
    const auto begins_with_word = [&](const std::string& key) {
        return plural(key).starts_with(key) && begins(key);
    };
    if (begins("all rows ") || begins("values of ") || std::ranges::any_of(nouns, begins) ||
        std::ranges::any_of(keys, begins_with_word))
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
    if (keys.empty() || !have_short_names(points_, keys)) return {};
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
        CostComparison comparison(points_, keys, kind);
        is_complete = is_complete && comparison.compares();
        (comparison.varies() ? varying : constant).push_back(std::move(comparison));
    }
    std::string text;
    if (is_complete && varying.size() == 1)
        text = varying[0].sentence();
    else if (is_complete && varying.empty() && !constant.empty())
        text = constant[0].sentence();
    else if (keys.size() == 2)
        text = slowest_whatever(points_, keys);
    else if (const auto slowest = keys.size() == 1 ? slowest_of(points_, keys[0]) : std::nullopt)
        text = sentence_of(*slowest);
    return text.empty() ? text : with_capital(std::move(text), keys) + '.';
}

}  // namespace coalprof
