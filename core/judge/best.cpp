#include "core/judge/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "core/judge/best_sizes.h"
#include "core/result/counter.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/text/units.h"
#include "core/write/columns.h"
#include "core/write/number_text.h"

namespace coalprof {
namespace {

// "131,072", "18.25", "6.99 us"
std::string number_text(Counter counter, double number) {
    const Unit unit = info(counter).unit;
    // "us": sentences of a result are in every format, plain ones too.
    if (unit == Unit::second || unit == Unit::byte_per_second || unit == Unit::ratio) {
        const NumberStyle style = estimate_style(scale_for(unit, number, "us"));
        return fmt::format("{} {}", number_text(number, style), style.unit);
    }
    if (number != std::floor(number) || std::abs(number) >= 1e15)
        return fmt::format("{:.4g}", number);
    return grouped(static_cast<std::uint64_t>(number));
}

// The distance of a number from the best one.
std::string distance_text(double ratio) {
    if (!std::isfinite(ratio)) return {};
    if (ratio >= 2) return fmt::format(" ({:.3g} times the best)", ratio);
    return fmt::format(" ({:.3g} % {})", 100 * std::abs(ratio - 1), ratio < 1 ? "less" : "more");
}

bool has_all(const BestSink::Candidate& one, BestSink::Sum BestSink::Candidate::*sum) {
    return (one.*sum).count > 0 && (one.*sum).count == one.points;
}

constexpr std::size_t most_told = 4;  // names in one list

// A combination with a number at each of its points.
struct Contender {
    const BestSink::Candidate* of;
    Amount mean;
    double work_bytes = 0;  // a point's work, as mean
};

// A ratio is the same whatever the number of accesses; a sum is not.
bool is_total(Counter counter) {
    const Unit unit = info(counter).unit;
    return !info(counter).parts && unit != Unit::ratio && unit != Unit::byte_per_second;
}

// The bytes that the algorithm needs; where they are not known, those that its instructions touch.
// For kernels, which load the same and add to it in other ways, those that they store: a launch
// that is too small stores less.
double work_bytes_of(const Point& point) {
    const Reading& useful = point.predicted[Counter::useful_bytes];
    if (is_number(useful)) return number_in(useful);
    double stored = 0, others = 0;
    const Readings& readings = point.measured ? *point.measured : point.predicted;
    for (const AccessKind kind : access_kinds)
        if (const Reading& touched = readings[access_counter(kind, AccessField::unique_bytes)];
            is_number(touched))
            (kind == AccessKind::store ? stored : others) += number_in(touched);
    const bool is_of_kernel = find_value(point.parameters, "kernel") != nullptr;
    if (is_of_kernel && stored > 0) return stored;
    return is_of_kernel ? number_or(readings[Counter::load_unique_bytes], 0) : stored + others;
}

double touched_bytes_of(const Point& point) {
    double touched = 0;
    for (const AccessKind kind : access_kinds)
        touched += number_or(point.predicted[access_counter(kind, AccessField::unique_bytes)], 0);
    return touched;
}

// Kernels that leave out a border do nearly the same work.
bool is_same_work(double least_bytes, double most_bytes, bool is_of_kernels) {
    return most_bytes <= least_bytes * (is_of_kernels ? 1.05 : 1.001);
}

// Contenders from the best to the worst, and the sentence about them.
class BestRanking {
 public:
    BestRanking(Counter counter, bool is_measured, std::uint64_t values,
                const std::vector<Contender>& contenders)
        : counter_(counter),
          is_measured_(is_measured),
          noise_(noise_of(counter, is_measured)),
          source_(fmt::format("{}{} {}", values > 1 ? "mean " : "",
                              is_measured ? "measured" : "predicted",
                              counter == Counter::duration_seconds ? "time" : key_of(counter))),
          overlap_(is_measured ? "quartiles" : "intervals"),
          ranked_(ranked(means_of(contenders), info(counter).better == Better::more, noise_)) {
        for (const std::size_t one : ranked_.order) {
            all_.push_back(contenders[one]);
            if (std::ranges::find(ranked_.best, one) != ranked_.best.end())
                best_.push_back(contenders[one].of->values);
        }
    }

    std::size_t size() const { return all_.size(); }

    // Those that cannot be distinguished from the best.
    const std::vector<NamedValues>& best() const { return best_; }
    double gain() const { return ranked_.gain; }

    // Empty where all do the same amount of work.
    std::string text_of_work() const {
        const auto [least, most] = std::ranges::minmax(all_, {}, &Contender::work_bytes);
        if (counter_ == Counter::useful_bytes || !is_total(counter_) || least.work_bytes <= 0 ||
            is_same_work(least.work_bytes, most.work_bytes, is_of_kernels()))
            return {};
        std::vector<Amount> by_byte;
        for (const Contender& one : all_) by_byte.push_back(one.mean / one.work_bytes);
        const Ranked ranked_by_byte =
            ranked(by_byte, info(counter_).better == Better::more, noise_);
        NameList best(most_told);
        for (const std::size_t i : ranked_by_byte.best) best.add(all_[i].of->name);
        const auto bytes = [](const Contender& one) {
            return bytes_text(static_cast<std::uint64_t>(one.work_bytes));
        };
        return fmt::format(
            "not the same work: {} {} {}, {} {}; per byte, {}", least.of->name,
            is_of_kernels() ? "stores" : "needs", bytes(least), most.of->name, bytes(most),
            ranked_by_byte.best.size() == all_.size() ? "none is certainly the best"
                                                      : "the best is " + best.text());
    }

    // A launch that is too small seems fast, so its size comes first.
    std::string text_with_work() const {
        const std::string work = text_of_work();
        if (work.empty()) return text();
        return fmt::format("{}; {}", work, text());
    }

    std::string text() const {
        if (all_.size() == 1)
            return fmt::format("{} has {}", all_.front().of->name, number_of_best());
        const std::size_t equal_ones = end_of_equals(0);
        if (equal_ones == all_.size())
            return fmt::format("{} equal, with {}",
                               equal_ones == 2 ? "both are" : fmt::format("all {} are", equal_ones),
                               number_of_best());
        NameList others(1);
        std::size_t doubtful = 0;
        for (std::size_t i = equal_ones; i < all_.size(); ++i) {
            if (!is_doubtful(all_[i])) continue;
            ++doubtful;
            others.add(all_[i].of->name);
        }
        std::string text =
            fmt::format("{}{}{} {}; next: {}", doubt(all_[equal_ones]), names(0, equal_ones),
                        equal_ones > 1 ? ":" : ",", number_of_best(), told(equal_ones));
        if (end_of_equals(equal_ones) < all_.size()) text += "; worst: " + told(begin_of_worst());
        const std::string_view held = order_held(all_[equal_ones]);
        if (doubtful == all_.size() - equal_ones)
            text += fmt::format("; their {} overlap", overlap_);
        else if (doubtful > 0)
            text += fmt::format("; the {} of {} and the best overlap", overlap_,
                                doubtful == 1 ? others.text() : fmt::format("{} others", doubtful));
        if (!held.empty())
            text += fmt::format(
                ", but in tests {} of 100 predictions this far apart had the right order", held);
        return text;
    }

    // Why a kernel is faster than the next, in sentences that follow the text.
    std::string reason() const {
        const std::size_t equal_ones = end_of_equals(0);
        return equal_ones < all_.size() ? text_of_reason(all_[equal_ones]) : std::string();
    }

    // Its verdict is still to come.
    BestAtSize at_size() const {
        BestAtSize at{.verdict = {}, .reason = reason()};
        const std::size_t equal_ones = end_of_equals(0);
        if (equal_ones == all_.size()) return at;
        const Contender& next = all_[equal_ones];
        at.ratio = next.mean.middle / all_.front().mean.middle;
        at.next = names(equal_ones, end_of_equals(equal_ones));
        if (counter_ == Counter::duration_seconds) at.costliest = next.of->costliest;
        at.order_held = order_held(next);
        at.overlaps = is_doubtful(next);
        const std::string_view doubts = doubt(next);
        if (equal_ones == 1 && (doubts.empty() || doubts == likely)) at.best = names(0, 1);
        return at;
    }

 private:
    static constexpr std::string_view likely = "likely ";

    std::string text_of_reason(const Contender& next) const {
        if (!is_of_kernels() || counter_ != Counter::duration_seconds) return {};
        const Contender& best = all_.front();
        std::string reason =
            best_reason(best.of->name, best.of->traffic, next.of->name, next.of->traffic);
        if (!reason.empty()) reason.insert(0, ". ");
        if (!next.of->costliest.empty())
            reason += fmt::format(". The line of {} that costs most is {}", next.of->name,
                                  next.of->costliest);
        return reason;
    }
    // The share of pairs that were measured in the order of their predicted times. Empty: too few,
    // or the order is certain anyway.
    std::string_view order_held(const Contender& next) const {
        if (!is_of_kernels() || is_measured_ || counter_ != Counter::duration_seconds ||
            !is_doubtful(next))
            return {};
        return share_in_order(next.mean.middle / all_.front().mean.middle);
    }
    bool is_of_kernels() const { return find_value(all_.front().of->values, "kernel") != nullptr; }
    static std::vector<Amount> means_of(const std::vector<Contender>& contenders) {
        std::vector<Amount> means;
        for (const Contender& one : contenders) means.push_back(one.mean);
        return means;
    }
    bool are_equal(const Contender& a, const Contender& b) const {
        return differ(a.mean, b.mean, noise_) == Differ::no;
    }
    Differ differ_from_best(const Contender& one) const {
        return differ(one.mean, all_.front().mean, noise_);
    }
    bool is_doubtful(const Contender& one) const {
        const Differ from_best = differ_from_best(one);
        return from_best == Differ::perhaps || from_best == Differ::likely;
    }
    std::size_t end_of_equals(std::size_t begin) const {
        std::size_t end = begin;
        while (end < all_.size() && are_equal(all_[end], all_[begin])) ++end;
        return end;
    }
    std::size_t begin_of_worst() const {
        std::size_t begin = all_.size() - 1;
        while (begin > 0 && are_equal(all_[begin - 1], all_.back())) --begin;
        return begin;
    }

    std::string_view doubt(const Contender& next) const {
        if (!is_doubtful(next) || !order_held(next).empty()) return "";
        if (differ_from_best(next) == Differ::likely) return likely;
        constexpr double little = 1.1;
        const double best = std::abs(all_.front().mean.middle), other = std::abs(next.mean.middle);
        return std::max(best, other) < little * std::min(best, other) ? "cannot be told apart: "
                                                                      : "not certain: ";
    }

    std::string number_of_best() const {
        return fmt::format("{} {}", source_, number_text(counter_, all_.front().mean.middle));
    }
    std::string names(std::size_t begin, std::size_t end) const {
        // A name of several settings has commas already.
        const bool has_commas = all_[begin].of->name.find(", ") != std::string::npos;
        const std::string_view between = has_commas ? "; or " : " and ";
        std::string names;
        for (std::size_t i = begin; i < std::min(end, begin + most_told); ++i)
            names += fmt::format("{}{}", i == begin ? "" : between, all_[i].of->name);
        const std::size_t told = std::min(end - begin, most_told);
        return told == end - begin ? names
                                   : fmt::format("{}{}{} more", names, between, end - begin - told);
    }
    // A contender with its equals, their number, and its distance from the best.
    std::string told(std::size_t begin) const {
        return fmt::format("{}: {}{}", names(begin, end_of_equals(begin)),
                           number_text(counter_, all_[begin].mean.middle),
                           distance_text(all_[begin].mean.middle / all_.front().mean.middle));
    }

    Counter counter_;
    bool is_measured_;
    double noise_;
    std::string source_;  // "mean predicted load_sectors"
    std::string_view overlap_;
    Ranked ranked_;
    std::vector<Contender> all_;     // the best first
    std::vector<NamedValues> best_;  // values of those
};

// Keys of counters that a point has, for a message.
std::string counters_of(const Point& point) {
    NameList list(12);
    point.predicted.each([&](Counter counter, const Reading& reading) {
        if (is_finite_number(reading)) list.add(key_of(counter));
    });
    return list.text();
}

}  // namespace

BestSink::BestSink(ResultSink& next, Counter counter, const Lines* costliest, bool same_work_alone)
    : next_(next), counter_(counter), costliest_(costliest), same_work_alone_(same_work_alone) {}

void BestSink::begin(const ResultHead& head) {
    // Each launch of a kernel is a separate candidate.
    is_of_kernels_ = head.sweep.pattern == "kernel";
    if (!is_of_kernels_) parameter_ = head.sweep.parameter;
    has_grid_ = head.sweep.grid_x.has_value();
    ResultHead with_counter = head;
    with_counter.foremost.push_back(counter_);
    next_.begin(with_counter);
}

void BestSink::require_counter(const Point& point) const {
    const bool is_known = is_present(point.predicted[counter_]) ||
                          (point.measured && is_present((*point.measured)[counter_]));
    // Points with different accesses have different counters.
    const bool are_alike = !find_value(point.parameters, "op") &&
                           !find_value(point.parameters, "formula") &&
                           !find_value(point.parameters, "variant");
    if (is_known || !are_alike || !point.failure.empty()) return;
    throw UsageError(
        fmt::format("--best {}: these instructions have no such counter", key_of(counter_)),
        fmt::format("they have {}", counters_of(point)));
}

void BestSink::add(Candidates& candidates, NamedValues values, const Point& point) const {
    std::string name = text_of(values);
    const auto [place, is_new] = candidates.places.emplace(name, candidates.all.size());
    if (is_new) {
        candidates.all.push_back({.name = std::move(name),
                                  .values = std::move(values),
                                  .traffic = traffic_of_launch(point)});
        if (costliest_)
            if (const auto line = costliest_->find(point.name); line != costliest_->end())
                candidates.all.back().costliest = line->second;
    }
    Candidate* known = &candidates.all[place->second];
    ++known->points;
    known->work_bytes += work_bytes_of(point);
    known->touched_bytes += touched_bytes_of(point);
    const auto sum_up = [&](Sum& sum, const Reading& reading, std::optional<Amount> amount) {
        if (const auto* none = std::get_if<Unavailable>(&reading); none && known->reason.empty())
            known->reason = none->reason;
        if (!amount) return;
        sum.total += *amount;
        ++sum.count;
    };
    sum_up(known->predicted, point.predicted[counter_], predicted_amount(point, counter_));
    if (point.measured)
        sum_up(known->measured, (*point.measured)[counter_], measured_amount(point, counter_));
}

std::string BestSink::reason_of(const Candidate& candidate) const {
    const std::string& why = candidate.reason;
    return fmt::format("{} has no {} ({})", candidate.name,
                       counter_ == Counter::duration_seconds ? "time" : key_of(counter_),
                       why.empty() ? "it has no such instruction" : why);
}

void BestSink::point(const Point& point) {
    if (std::exchange(is_first_, false)) require_counter(point);
    const Reading& predicted = point.predicted[counter_];
    const bool is_measured = point.measured && is_finite_number((*point.measured)[counter_]);
    was_there_ = was_there_ || is_measured || is_finite_number(predicted);
    NamedValues others = point.parameters;
    NamedValues own;
    const bool has_grid = has_grid_ || find_value(others, "grid");
    std::erase_if(others, [&](const auto& parameter) {
        if (parameter.first == parameter_) own.push_back(parameter);
        return parameter.first == parameter_ || follows_from_others(parameter.first, has_grid);
    });
    add(combinations_, std::move(others), point);
    if (combinations_.all.size() == 1)
        add(values_, own.empty() ? NamedValues{{"name", point.name}} : std::move(own), point);
    next_.point(point);
}

void BestSink::shorten_names(std::vector<Candidate>& all) {
    const auto varies = [&](const std::string& key) {
        const Value* first = find_value(all.front().values, key);
        return std::ranges::any_of(all, [&](const Candidate& one) {
            const Value* value = find_value(one.values, key);
            return !value || !first || *value != *first;
        });
    };
    std::set<std::string> varying;
    for (const Candidate& one : all)
        for (const auto& [key, value] : one.values)
            if (!varying.contains(key) && varies(key)) varying.insert(key);
    // Kernels have different names.
    std::set<std::string> kernels;
    for (const Candidate& one : all)
        if (const Value* kernel = find_value(one.values, "kernel"))
            kernels.insert(text_of(*kernel));
    const bool are_kernels = kernels.size() > 1 && kernels.size() == all.size();
    for (Candidate& one : all) {
        NamedValues values = one.values;
        if (are_kernels) {
            one.name = text_of(*find_value(one.values, "kernel"));
            continue;
        }
        std::erase_if(values, [&](const auto& value) { return !varying.contains(value.first); });
        if (!values.empty()) one.name = text_of(values);
    }
}

BestAtSize BestSink::judged(std::vector<Candidate> all, Sum Candidate::*sum) const {
    shorten_names(all);
    Verdict verdict{.scope = {{"counter", key_of(counter_)}}, .combinations = all.size()};
    std::vector<Contender> contenders;
    std::vector<std::string> without;
    for (const Candidate& one : all) {
        if (!has_all(one, sum)) {
            without.push_back(reason_of(one));
            continue;
        }
        const Sum& of_one = one.*sum;
        const auto count = static_cast<double>(of_one.count);
        contenders.push_back({&one, of_one.total / count, one.work_bytes / count});
        verdict.values = of_one.count;
    }
    const BestRanking ranking{counter_, sum == &Candidate::measured, verdict.values, contenders};
    BestAtSize at;
    if (without.empty() || ranking.size() > 1) {
        at = ranking.at_size();
        verdict.best = ranking.best();
        verdict.gain = ranking.gain();
        verdict.text = (all.size() == 1 ? "nothing to compare; " : "") + ranking.text_with_work();
    } else if (ranking.size() == 1) {
        verdict.text = "not ranked: only " + ranking.text();
    } else {
        verdict.text = "not known";
    }
    if (!without.empty()) at.best.clear();
    for (std::size_t i = 0; i < std::min(without.size(), most_told); ++i)
        verdict.text += "; " + without[i];
    if (without.size() > most_told)
        verdict.text += fmt::format("; {} more have none", without.size() - most_told);
    at.verdict = std::move(verdict);
    return at;
}

std::vector<Verdict> BestSink::verdicts() const {
    const std::vector<Candidate>& all =
        combinations_.all.size() > 1 ? combinations_.all : values_.all;
    const auto [least, most] = std::ranges::minmax(all, {}, &Candidate::work_bytes);
    if (same_work_alone_ && !is_same_work(least.work_bytes, most.work_bytes, true)) return {};
    const bool is_measured = std::ranges::all_of(
        all, [](const Candidate& one) { return has_all(one, &Candidate::measured); });
    const auto sum = is_measured ? &Candidate::measured : &Candidate::predicted;
    const auto arguments = is_of_kernels_ ? size_arguments(all) : std::vector<std::string>();
    const std::vector<CandidatesOfSize> sizes = candidates_by_size(all, arguments);
    // Where nothing else varies, the size is what is asked for.
    if (sizes.size() == 1 || sizes.size() == all.size()) {
        BestAtSize one = judged(all, sum);
        one.verdict.text += one.reason;
        return {std::move(one.verdict)};
    }
    std::vector<BestAtSize> judged_sizes;
    for (const CandidatesOfSize& size : sizes) {
        judged_sizes.push_back(judged(size.all, sum));
        NamedValues& scope = judged_sizes.back().verdict.scope;
        scope.insert(scope.end(), size.size.begin(), size.size.end());
    }
    return verdicts_of_sizes(std::move(judged_sizes), counter_, arguments,
                             is_measured ? "measured" : "predicted");
}

void BestSink::finish(const ResultTail& tail) {
    ResultTail with_verdict = tail;
    // A saved result may have a verdict already.
    if (!combinations_.all.empty())
        for (Verdict& own : verdicts())
            if (std::ranges::none_of(tail.verdicts, [&](const Verdict& one) {
                    return one.scope == own.scope && one.best == own.best &&
                           one.combinations == own.combinations && one.values == own.values;
                }))
                with_verdict.verdicts.push_back(std::move(own));
    next_.finish(with_verdict);
}

SortedSink::SortedSink(ResultSink& next, const std::string& key) : next_(next), key_(key) {
    const std::size_t colon = key.rfind(':');
    const std::string order = colon == std::string::npos ? "" : key.substr(colon + 1);
    if (!order.empty() && order != "asc" && order != "desc")
        throw UsageError(fmt::format("--sort {}: '{}' is not an order", shown(key), shown(order)),
                         "write KEY:asc or KEY:desc, such as --sort load_sectors:desc");
    key_ = key.substr(0, colon);
    counter_ = find_counter(key_);
    is_descending_ =
        order.empty() ? counter_ && info(*counter_).better == Better::more : order == "desc";
}

void SortedSink::begin(const ResultHead& head) {
    ResultHead with_counter = head;
    if (counter_) with_counter.foremost.push_back(*counter_);
    next_.begin(with_counter);
}

void SortedSink::point(const Point& point) {
    if (points_.empty() && !counter_ && !find_value(point.parameters, key_)) {
        std::vector<std::string_view> keys;
        for (const auto& [key, value] : point.parameters) keys.push_back(key);
        for (const CounterInfo& counter : all_counters()) keys.push_back(counter.key);
        throw UsageError(
            unknown_word("--sort", key_, keys),
            "a key is a parameter of the points or a counter: " + hint_for_counter(key_));
    }
    places_.push_back(place_of(point));
    points_.push_back(point);
}

SortedSink::Place SortedSink::place_of(const Point& point) const {
    Place place{.at = points_.size()};
    if (counter_) {
        const bool is_measured = point.measured && is_finite_number((*point.measured)[*counter_]);
        const Reading& reading =
            is_measured ? (*point.measured)[*counter_] : point.predicted[*counter_];
        place.is_last = !is_finite_number(reading);
        if (!place.is_last) place.number = number_in(reading);
        return place;
    }
    const Value* value = find_value(point.parameters, key_);
    place.is_last = !value || std::holds_alternative<std::monostate>(*value);
    if (place.is_last) return place;
    if (const auto number = number_of(value))
        place.number = *number;
    else
        place.text = text_of(*value);
    return place;
}

void SortedSink::finish(const ResultTail& tail) {
    std::sort(places_.begin(), places_.end(), [&](const Place& a, const Place& b) {
        if (a.is_last != b.is_last) return b.is_last;
        if (a.number != b.number) return (a.number < b.number) != is_descending_;
        if (a.text != b.text) return (a.text < b.text) != is_descending_;
        return a.at < b.at;
    });
    for (const Place& place : places_) next_.point(points_[place.at]);
    next_.finish(tail);
}

}  // namespace coalprof
