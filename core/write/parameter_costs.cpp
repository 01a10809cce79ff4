#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/write/columns.h"
#include "core/write/sweep_summary.h"

namespace coalprof {
namespace {

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

}  // namespace

bool are_equal_costs(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

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

std::string plural(std::string_view key) {
    constexpr std::string_view hard_endings = "sxy";
    const bool is_word = key.size() > 2 && hard_endings.find(key.back()) == hard_endings.npos &&
                         std::ranges::all_of(key, [](char c) { return c >= 'a' && c <= 'z'; });
    return is_word ? std::string(key) + "s" : fmt::format("values of {}", shown(key));
}

std::string with_article(std::string_view key) {
    return plural(key).starts_with(key) ? fmt::format("the {}", key) : shown(key);
}

std::string value_name(const Value& value) { return shown(text_of(value)); }

std::string sentence_of(std::string_view key, std::string_view noun, bool is_over_ideal,
                        std::vector<ValueCost> samples) {
    return OneParameter(key, noun, is_over_ideal, std::move(samples)).sentence();
}

}  // namespace coalprof
