#include "core/run/settings_judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/count/bandwidth.h"
#include "core/count/footprint.h"
#include "core/result/differ.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

using Basis = Verdict::Basis;

// Finding shared lines walks two thousand threads, 0.1 ms; this many values decide.
constexpr std::size_t most_values_walked = 64;

// The cost of one combination at one value of the parameter.
struct Sample {
    std::optional<Amount> measured_seconds;
    std::optional<Amount> predicted_seconds;
    std::optional<Amount> predicted_bytes;
    bool loses_lines = false;  // L1 is too small for the warps' shared lines
};

struct Candidate {
    NamedValues settings;
    std::map<std::string, Sample> samples;  // by value of the parameter
};

// The parameters that are no setting: those that points share across combinations.
std::string value_of(const PlannedPoint& planned) {
    std::string text;
    for (const auto& [key, value] : planned.parameters)
        if (!find_value(planned.settings, key) && !find_value(planned.scope, key) &&
            key != "l1_kib")
            text += key + "=" + text_of(value) + " ";
    return text;
}

bool loses_lines(const PlannedPoint& planned) {
    const Rules& rules = *planned.machine.rules;
    const auto set = l1_working_set(rules, planned.plan);
    return set && set->is_shared &&
           !(set->is_kept && set->bytes <= l1_bytes(rules, planned.plan.cache));
}

// Before GPUs had L2, only traffic distinguishes settings, and that is exact.
std::optional<Amount> predicted_seconds(const PlannedPoint& planned, const Point& point) {
    const auto bandwidth = predicted_amount(point, Counter::bandwidth_bytes_per_second);
    if (!bandwidth) return std::nullopt;
    const double useful = static_cast<double>(planned.plan.program.useful_bytes);
    const double seconds = useful / bandwidth->middle;
    if (planned.machine.rules->memory.fill_bytes == 0) return Amount::exactly(seconds);
    return Amount{useful / bandwidth->high, seconds, useful / bandwidth->low};
}

Sample sample_of(const PlannedPoint& planned, const Point& point) {
    Sample sample;
    if (point.timing && point.failure.empty()) {
        sample.measured_seconds = amount_of(*point.timing);
        return sample;  // the rest does not matter then
    }
    const Plan& plan = planned.plan;
    sample.predicted_seconds = predicted_seconds(planned, point);
    // Data that L2 holds has no bandwidth, and of two settings one may fit and the other not:
    // traffic is known for both. Without caches every launch has a bandwidth, and its traffic is a
    // long sum.
    const Rules& rules = *planned.machine.rules;
    const bool is_cached = rules.memory.fill_bytes != 0;
    if (plan.allocation != Allocation::host && (is_cached || !sample.predicted_seconds)) {
        const auto traffic = predict_traffic(rules, plan.program, plan.cache);
        if (const auto* known = std::get_if<Traffic>(&traffic))
            sample.predicted_bytes =
                Amount::exactly(static_cast<double>(known->read_bytes + known->write_bytes));
    }
    return sample;
}

std::optional<Amount> cost_of(const Sample& sample, Basis basis) {
    switch (basis) {
        case Basis::measured_time: return sample.measured_seconds;
        case Basis::predicted_bandwidth: return sample.predicted_seconds;
        case Basis::predicted_traffic: return sample.predicted_bytes;
        case Basis::predicted_l1_reuse:
        case Basis::none: break;
    }
    return std::nullopt;
}

double noise_of(Basis basis) {
    return coalprof::noise_of(Counter::duration_seconds, basis == Basis::measured_time);
}

Ranked ranked_costs(const std::vector<Amount>& costs, Basis basis) {
    return ranked(costs, false, noise_of(basis));
}

}  // namespace

struct SettingsJudge::Contest {
    NamedValues scope;
    std::vector<Candidate> candidates;

    Candidate& candidate(const NamedValues& settings) {
        for (Candidate& known : candidates)
            if (known.settings == settings) return known;
        return candidates.emplace_back(Candidate{settings, {}});
    }

    // Costs of all candidates at one value; none if one is missing.
    std::optional<std::vector<Amount>> costs_at(const std::string& value, Basis basis) const {
        std::vector<Amount> costs;
        for (const Candidate& candidate : candidates) {
            const auto sample = candidate.samples.find(value);
            if (sample == candidate.samples.end()) return std::nullopt;
            const std::optional<Amount> cost = cost_of(sample->second, basis);
            if (!cost) return std::nullopt;
            costs.push_back(*cost);
        }
        return costs;
    }
};

namespace {

using Contest = SettingsJudge::Contest;

// The result over all values.
struct Ranking {
    Basis basis = Basis::none;
    std::uint64_t values = 0;
    std::vector<std::size_t> best = {};  // candidates
    std::size_t lead = 0;                // the cheapest, if only by the likely values
    std::size_t worst = 0;
    double gain = 1;               // from the worst to the lead
    bool best_differ = false;      // in their likely values; their intervals overlap
    std::uint64_t exceptions = 0;  // values at which no best one is as good as another
};

std::optional<Ranking> ranked_by(const Contest& contest, Basis basis) {
    std::vector<Amount> totals(contest.candidates.size());
    std::vector<std::vector<std::size_t>> best_at;
    for (const auto& [value, sample] : contest.candidates.front().samples) {
        const auto costs = contest.costs_at(value, basis);
        if (!costs) continue;
        for (std::size_t i = 0; i < totals.size(); ++i) totals[i] += (*costs)[i];
        best_at.push_back(ranked_costs(*costs, basis).best);
    }
    if (best_at.empty()) return std::nullopt;
    Ranking ranking{.basis = basis, .values = best_at.size()};
    const Ranked all = ranked_costs(totals, basis);
    ranking.best = all.best;
    ranking.lead = all.order.front();
    ranking.worst = all.worst;
    ranking.gain = all.gain;
    ranking.best_differ = std::ranges::any_of(ranking.best, [&](std::size_t candidate) {
        return differ(totals[candidate], totals[ranking.lead], noise_of(basis)) != Differ::no;
    });
    for (const auto& here : best_at) {
        const bool is_shared = std::any_of(here.begin(), here.end(), [&](std::size_t candidate) {
            return std::count(ranking.best.begin(), ranking.best.end(), candidate) > 0;
        });
        ranking.exceptions += is_shared ? 0 : 1;
    }
    return ranking;
}

// Among candidates that are equal otherwise, prefers those whose L1 loses shared lines at the
// fewest values. Where one of them is likely to be faster, if not certain, that is the verdict.
void prefer_l1_reuse(const Contest& contest, Ranking& ranking) {
    if (ranking.best_differ) return;
    const auto losses_of = [&](std::size_t candidate) {
        const auto& samples = contest.candidates[candidate].samples;
        return std::count_if(samples.begin(), samples.end(),
                             [](const auto& sample) { return sample.second.loses_lines; });
    };
    auto fewest = losses_of(ranking.best.front());
    auto most = fewest;
    for (const std::size_t candidate : ranking.best) {
        fewest = std::min(fewest, losses_of(candidate));
        most = std::max(most, losses_of(candidate));
    }
    if (fewest == most) return;
    std::erase_if(ranking.best,
                  [&](std::size_t candidate) { return losses_of(candidate) != fewest; });
    ranking.basis = Basis::predicted_l1_reuse;
}

std::string_view sentence_of(Basis basis) {
    constexpr std::array<std::string_view, 5> sentences{
        "", "measured time", "predicted bandwidth", "predicted traffic",
        "what L1 can keep of the lines that are read more than once"};
    return sentences[static_cast<std::size_t>(basis)];
}

// The values that the best share, and the settings that do not matter: those of which they hold
// every combination. Listed one by one where it is not that simple.
std::string text_of_best(const Contest& contest, const std::vector<std::size_t>& best) {
    NamedValues common;
    std::vector<std::string> free;
    std::size_t product = 1;
    const NamedValues& first = contest.candidates[best.front()].settings;
    for (std::size_t k = 0; k < first.size(); ++k) {
        std::set<std::string> all;
        std::set<std::string> of_best;
        for (const Candidate& candidate : contest.candidates)
            all.insert(text_of(candidate.settings[k].second));
        for (const std::size_t i : best)
            of_best.insert(text_of(contest.candidates[i].settings[k].second));
        if (of_best.size() == 1 && all.size() > 1) {
            common.push_back(first[k]);
        } else {
            free.push_back(first[k].first);
            product *= all.size();
        }
    }
    if (product == best.size())
        return free.empty()
                   ? text_of(common)
                   : fmt::format("{} ({} does not matter)", text_of(common), fmt::join(free, ", "));
    std::string list;
    for (const std::size_t i : best)
        list += fmt::format("{}{}", list.empty() ? "" : "; or ",
                            text_of(contest.candidates[i].settings));
    return list;
}

std::string text_of(const Contest& contest, const Ranking& ranking) {
    const std::string_view by = sentence_of(ranking.basis);
    const std::string values = counted(ranking.values, "value");
    const bool are_all_good = ranking.best.size() == contest.candidates.size();
    const bool is_measured = ranking.basis == Basis::measured_time;
    if (are_all_good && ranking.best_differ)
        return fmt::format("not certain: by {} over {} {} is {:.3g} times better than {}, but {}",
                           by, values, text_of(contest.candidates[ranking.lead].settings),
                           ranking.gain, text_of(contest.candidates[ranking.worst].settings),
                           is_measured ? "their quartiles overlap" : "their intervals overlap");
    if (are_all_good)
        return fmt::format("no difference between the {} combinations by {} over {}",
                           contest.candidates.size(), by, values);
    std::string text = text_of_best(contest, ranking.best) + fmt::format(", by {}", by);
    if (ranking.basis != Basis::predicted_l1_reuse)
        text += fmt::format(" over {}: {:.3g} times better than {}", values, ranking.gain,
                            text_of(contest.candidates[ranking.worst].settings));
    if (ranking.exceptions > 0)
        text += fmt::format("; at {} of them another is better", ranking.exceptions);
    return text;
}

Verdict verdict_of(const Contest& contest) {
    Verdict verdict{.scope = contest.scope, .combinations = contest.candidates.size()};
    for (const Basis basis :
         {Basis::measured_time, Basis::predicted_bandwidth, Basis::predicted_traffic}) {
        std::optional<Ranking> ranking = ranked_by(contest, basis);
        if (!ranking) continue;
        if (basis != Basis::measured_time) prefer_l1_reuse(contest, *ranking);
        verdict.basis = ranking->basis;
        verdict.values = ranking->values;
        verdict.gain = ranking->basis == Basis::predicted_l1_reuse ? 1 : ranking->gain;
        for (const std::size_t i : ranking->best)
            verdict.best.push_back(contest.candidates[i].settings);
        verdict.text = text_of(contest, *ranking);
        return verdict;
    }
    verdict.text =
        "not known; neither time nor traffic is known of all combinations, and only a measurement "
        "tells";
    return verdict;
}

}  // namespace

SettingsJudge::SettingsJudge() = default;
SettingsJudge::~SettingsJudge() = default;

void SettingsJudge::add(const PlannedPoint& planned, const Point& point) {
    if (planned.settings.empty()) return;
    auto known = std::find_if(contests_.begin(), contests_.end(),
                              [&](const auto& contest) { return contest->scope == planned.scope; });
    if (known == contests_.end())
        known = contests_.insert(known, std::make_unique<Contest>(Contest{planned.scope, {}}));
    Contest& contest = **known;
    Candidate& candidate = contest.candidate(planned.settings);
    Sample sample = sample_of(planned, point);
    if (!sample.measured_seconds && candidate.samples.size() < most_values_walked)
        sample.loses_lines = loses_lines(planned);
    candidate.samples[value_of(planned)] = sample;
}

std::vector<Verdict> SettingsJudge::verdicts() const {
    std::vector<Verdict> verdicts;
    for (const auto& contest : contests_)
        if (contest->candidates.size() > 1) verdicts.push_back(verdict_of(*contest));
    return verdicts;
}

}  // namespace coalprof
