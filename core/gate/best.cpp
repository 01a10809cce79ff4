#include "core/gate/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/gate/direction.h"
#include "core/result/counter_words.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/suggest.h"
#include "core/text/units.h"
#include "core/write/number_text.h"

namespace coalprof {
namespace {

// Parameters that follow from others tell no combinations apart. A size does where there is a grid.
bool follows_from_others(std::string_view key, bool has_grid) {
    return key == "l1_kib" || key == "row_elements" || (key == "size_bytes" && has_grid);
}

std::string text_of(const NamedValues& values) {
    std::string text;
    for (const auto& [key, value] : values)
        if (!std::holds_alternative<std::monostate>(value))
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, text_of(value));
    return text;
}

bool is_finite(const Reading& reading) {
    return is_number(reading) && std::isfinite(number_in(reading));
}

// "131,072", "18.25", "6.99 us"
std::string number_text(Counter counter, double number) {
    const Unit unit = info(counter).unit;
    // "us": sentences of a result stand in every format, plain ones too.
    if (unit == Unit::second || unit == Unit::byte_per_second || unit == Unit::ratio) {
        const NumberStyle style = estimate_style(scale_for(unit, number, "us"));
        return fmt::format("{} {}", number_text(number, style), style.unit);
    }
    if (number != std::floor(number) || std::abs(number) >= 1e15)
        return fmt::format("{:.4g}", number);
    return grouped(static_cast<std::uint64_t>(number));
}

// Values that differ by less are alike. Times are never quite the same twice, and estimates of time
// change in their sixth digit with every block at an edge.
double tolerance_of(Counter counter, bool is_measured) {
    const Unit unit = info(counter).unit;
    const bool is_time = unit == Unit::second || unit == Unit::byte_per_second ||
                         counter == Counter::bandwidth_share;
    return !is_time ? 1e-9 : is_measured ? 1e-2 : 1e-3;
}

// How far a number is from the best one.
std::string distance_text(double ratio) {
    if (!std::isfinite(ratio)) return {};
    if (ratio >= 2) return fmt::format(" ({:.3g} times the best)", ratio);
    return fmt::format(" ({:.3g} % {})", 100 * std::abs(ratio - 1), ratio < 1 ? "less" : "more");
}

// Keys of counters that a point has, for a message.
std::string counters_of(const Point& point) {
    std::string list;
    std::size_t count = 0;
    point.predicted.each([&](Counter counter, const Reading& reading) {
        if (is_finite(reading) && ++count <= 12)
            list += fmt::format("{}{}", list.empty() ? "" : ", ", key_of(counter));
    });
    return count > 12 ? fmt::format("{} and {} more", list, count - 12) : list;
}

}  // namespace

BestSink::BestSink(ResultSink& next, Counter counter) : next_(next), counter_(counter) {}

void BestSink::begin(const ResultHead& head) {
    parameter_ = head.sweep.parameter;
    has_grid_ = head.sweep.grid_x.has_value();
    ResultHead with_counter = head;
    with_counter.foremost.push_back(counter_);
    next_.begin(with_counter);
}

void BestSink::require_counter(const Point& point) const {
    const bool is_known = is_present(point.predicted[counter_]) ||
                          (point.measured && is_present((*point.measured)[counter_]));
    // Points that do different things have different counters.
    const bool are_alike = !find_value(point.parameters, "op") &&
                           !find_value(point.parameters, "formula") &&
                           !find_value(point.parameters, "variant");
    if (is_known || !are_alike || !point.failure.empty()) return;
    throw UsageError(
        fmt::format("--best {}: these instructions have no such counter", key_of(counter_)), {},
        UsageError::no_caret, fmt::format("they have {}", counters_of(point)));
}

void BestSink::add(Candidates& candidates, NamedValues values, const Point& point) const {
    std::string name = text_of(values);
    const auto [place, is_new] = candidates.places.emplace(name, candidates.all.size());
    if (is_new) candidates.all.push_back({std::move(name), std::move(values), 0, {}, {}});
    Candidate* known = &candidates.all[place->second];
    ++known->points;
    const auto sum_up = [&](Sum& sum, const Reading& reading) {
        if (!is_finite(reading)) return;
        sum.total += number_in(reading);
        ++sum.count;
    };
    sum_up(known->predicted, point.predicted[counter_]);
    if (point.measured) sum_up(known->measured, (*point.measured)[counter_]);
}

void BestSink::point(const Point& point) {
    if (std::exchange(is_first_, false)) require_counter(point);
    const Reading& predicted = point.predicted[counter_];
    const bool is_measured = point.measured && is_finite((*point.measured)[counter_]);
    was_there_ = was_there_ || is_measured || is_finite(predicted);
    if (const auto* none = std::get_if<Unavailable>(&predicted); none && reason_.empty())
        reason_ = none->reason;
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

Verdict BestSink::verdict() const {
    const std::vector<Candidate>& all =
        combinations_.all.size() > 1 ? combinations_.all : values_.all;
    Verdict verdict{.scope = {{"counter", key_of(counter_)}}, .combinations = all.size()};
    const auto has_all = [&](Sum Candidate::*sum) {
        return std::all_of(all.begin(), all.end(),
                           [&](const Candidate& one) { return (one.*sum).count == one.points; });
    };
    const bool is_measured = !all.empty() && has_all(&Candidate::measured);
    const auto sum = is_measured ? &Candidate::measured : &Candidate::predicted;
    const std::string_view source = is_measured ? "measured" : "predicted";
    const std::string_view key = key_of(counter_);
    std::vector<const Candidate*> ranked;
    for (const Candidate& one : all)
        if ((one.*sum).count > 0 && (one.*sum).count == one.points) ranked.push_back(&one);
    if (ranked.empty()) {
        verdict.text = fmt::format("not known: no combination has {} at all of its points{}", key,
                                   reason_.empty() ? "" : fmt::format(" ({})", reason_));
        return verdict;
    }
    const auto mean_of = [&](const Candidate* one) {
        return (one->*sum).total / static_cast<double>((one->*sum).count);
    };
    const bool is_more = better_of(counter_) == Better::more;
    // Of equals the first: by a number that no two have.
    std::sort(ranked.begin(), ranked.end(), [&](const Candidate* a, const Candidate* b) {
        const double of_a = mean_of(a);
        const double of_b = mean_of(b);
        if (of_a != of_b) return is_more ? of_a > of_b : of_a < of_b;
        return a < b;
    });
    const double best = mean_of(ranked.front());
    const double worst = mean_of(ranked.back());
    const double tolerance = tolerance_of(counter_, is_measured);
    const auto is_alike = [&](const Candidate* one) {
        return std::abs(mean_of(one) - best) <=
               tolerance * std::max(std::abs(best), std::abs(mean_of(one)));
    };
    const auto behind = std::find_if_not(ranked.begin(), ranked.end(), is_alike);
    verdict.values = (ranked.front()->*sum).count;
    for (auto one = ranked.begin(); one != behind; ++one) verdict.best.push_back((*one)->values);
    const auto times = [](double larger, double smaller) { return larger / smaller; };
    verdict.gain = best == worst ? 1 : is_more ? times(best, worst) : times(worst, best);

    const auto told = [&](const Candidate* one) {
        const double mean = mean_of(one);
        return fmt::format("{} {}{}", one->name, number_text(counter_, mean),
                           distance_text(mean / best));
    };
    const std::string mean = verdict.values > 1 ? "mean " : "";
    if (all.size() == 1) {
        verdict.text = fmt::format("nothing to compare; {} has {}{} {} {}", ranked.front()->name,
                                   mean, source, key, number_text(counter_, best));
    } else if (ranked.size() == 1) {
        verdict.text = fmt::format("{}, {}{} {} {}", ranked.front()->name, mean, source, key,
                                   number_text(counter_, best));
    } else if (behind == ranked.end()) {
        verdict.text = fmt::format("all {} are equal: {}{} {} {}", ranked.size(), mean, source, key,
                                   number_text(counter_, best));
    } else {
        std::string names;
        const auto alike = static_cast<std::size_t>(behind - ranked.begin());
        for (std::size_t i = 0; i < std::min<std::size_t>(alike, 4); ++i)
            names += fmt::format("{}{}", i == 0 ? "" : "; ", ranked[i]->name);
        if (alike > 4) names += fmt::format(" and {} more", alike - 4);
        verdict.text = fmt::format("{}, {}{} {} {}; next: {}", names, mean, source, key,
                                   number_text(counter_, best), told(*behind));
        if (*behind != ranked.back()) verdict.text += "; worst: " + told(ranked.back());
    }
    if (const std::size_t others = all.size() - ranked.size(); others > 0)
        verdict.text += fmt::format("; {} {} no such counter", others,
                                    others == 1 ? "other has" : "others have");
    return verdict;
}

void BestSink::finish(const ResultTail& tail) {
    ResultTail with_verdict = tail;
    if (!combinations_.all.empty()) with_verdict.verdicts.push_back(verdict());
    next_.finish(with_verdict);
}

SortedSink::SortedSink(ResultSink& next, const std::string& key) : next_(next), key_(key) {
    const std::size_t colon = key.rfind(':');
    const std::string order = colon == std::string::npos ? "" : key.substr(colon + 1);
    if (!order.empty() && order != "asc" && order != "desc")
        throw UsageError(fmt::format("--sort {}: behind the key stands asc or desc", shown(key)),
                         {}, UsageError::no_caret, "for example --sort load_sectors:desc");
    key_ = key.substr(0, colon);
    counter_ = find_counter(key_);
    is_descending_ =
        order.empty() ? counter_ && better_of(*counter_) == Better::more : order == "desc";
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
            unknown_word("--sort", key_, keys), {}, UsageError::no_caret,
            "a key is a parameter of the points or a counter: " + hint_for_counter(key_));
    }
    points_.push_back(point);
}

void SortedSink::finish(const ResultTail& tail) {
    struct Place {
        bool is_last = false;
        double number = 0;
        std::string text;
        std::size_t at = 0;
    };
    std::vector<Place> places(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const Point& point = points_[i];
        Place& place = places[i];
        place.at = i;
        if (counter_) {
            const bool is_measured = point.measured && is_finite((*point.measured)[*counter_]);
            const Reading& reading =
                is_measured ? (*point.measured)[*counter_] : point.predicted[*counter_];
            place.is_last = !is_finite(reading);
            if (!place.is_last) place.number = number_in(reading);
            continue;
        }
        const Value* value = find_value(point.parameters, key_);
        place.is_last = !value || std::holds_alternative<std::monostate>(*value);
        if (place.is_last) continue;
        if (const auto* integer = std::get_if<std::int64_t>(value))
            place.number = static_cast<double>(*integer);
        else if (const auto* natural = std::get_if<std::uint64_t>(value))
            place.number = static_cast<double>(*natural);
        else if (const auto* real = std::get_if<double>(value))
            place.number = *real;
        else
            place.text = text_of(*value);
    }
    std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
        if (a.is_last != b.is_last) return b.is_last;
        if (a.number != b.number) return (a.number < b.number) != is_descending_;
        if (a.text != b.text) return (a.text < b.text) != is_descending_;
        return a.at < b.at;
    });
    for (const Place& place : places) next_.point(points_[place.at]);
    next_.finish(tail);
}

}  // namespace coalprof
