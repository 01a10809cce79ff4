#include "core/judge/best_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/result/counter.h"

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 4> launch_keys{"kernel", "grid", "block", "machine"};

bool is_among(const std::vector<std::string>& keys, const std::string& key) {
    return std::ranges::find(keys, key) != keys.end();
}

// Without launches that differ in nothing else, the work may well depend on the arguments.
bool change_work(const std::vector<BestSink::Candidate>& all,
                 const std::vector<std::string>& arguments) {
    std::map<std::string, std::pair<double, double>> works;  // key: all other values
    bool is_known = false;
    for (const BestSink::Candidate& one : all) {
        const std::pair work{one.work_bytes, one.touched_bytes};
        if (work == std::pair{0.0, 0.0}) continue;  // it failed
        NamedValues others = one.values;
        std::erase_if(others, [&](const auto& value) { return is_among(arguments, value.first); });
        const auto [place, is_new] = works.emplace(text_of(others), work);
        if (place->second != work) return true;
        is_known |= !is_new;
    }
    return !is_known;
}

bool have_one_best(const std::vector<BestAtSize>& sizes) {
    return std::ranges::all_of(sizes, [&](const BestAtSize& one) {
        return !one.best.empty() && one.best == sizes.front().best && one.ratio > 0 &&
               std::isfinite(one.ratio);
    });
}

// "1.27 to 1.53 times as fast as naive"
std::string ratios_text(const std::vector<BestAtSize>& sizes, Counter counter) {
    const bool is_time = counter == Counter::duration_seconds;
    const auto ratio_of = [&](const BestAtSize& one) {
        return fmt::format("{:.3g}", is_time ? one.ratio : 1 / one.ratio);
    };
    const auto [low, high] = std::ranges::minmax_element(sizes, {}, &BestAtSize::ratio);
    std::string from = ratio_of(is_time ? *low : *high);
    if (const std::string to = ratio_of(is_time ? *high : *low); to != from) from += " to " + to;
    const bool is_same_next = std::ranges::all_of(
        sizes, [&](const BestAtSize& one) { return one.next == sizes.front().next; });
    return fmt::format("{} times {} {}", from,
                       is_time ? "as fast as" : fmt::format("the {} of", key_of(counter)),
                       is_same_next ? sizes.front().next : "the next");
}

std::string overlap_text(const std::vector<BestAtSize>& sizes) {
    const auto count = std::ranges::count_if(sizes, &BestAtSize::overlaps);
    if (count == 0) return {};
    std::string text =
        fmt::format("; their intervals overlap at {} of {} sizes", count, sizes.size());
    const BestAtSize& closest = *std::ranges::min_element(sizes, {}, &BestAtSize::ratio);
    if (!closest.order_held.empty())
        text += fmt::format(
            ", but in tests {} or more of 100 predictions this far apart had the right order",
            closest.order_held);
    return text;
}

Verdict verdict_on_all(const std::vector<BestAtSize>& sizes, Counter counter,
                       const std::vector<std::string>& arguments, const std::string& source) {
    Verdict all = sizes.front().verdict;
    all.scope = {{"counter", key_of(counter)}};
    all.values = sizes.size();
    for (NamedValues& best : all.best)
        std::erase_if(best, [&](const auto& value) { return is_among(arguments, value.first); });
    for (const BestAtSize& one : sizes) all.gain = std::min(all.gain, one.verdict.gain);
    all.text = fmt::format("{} at each of {} sizes ({}), {} {}", sizes.front().best, sizes.size(),
                           fmt::join(arguments, ", "), source, ratios_text(sizes, counter));
    all.text += overlap_text(sizes);
    const BestAtSize& clearest = *std::ranges::max_element(sizes, {}, &BestAtSize::ratio);
    if (!clearest.costliest.empty())
        all.text += fmt::format(". The line of {} that costs most is {}", clearest.next,
                                clearest.costliest);
    return all;
}

}  // namespace

std::vector<std::string> size_arguments(const std::vector<BestSink::Candidate>& all) {
    // Arguments that have the same values everywhere change together: --arg m,n=64,128.
    std::map<std::vector<std::string>, std::vector<std::string>> arguments;
    for (const auto& [key, value] : all.front().values) {
        if (std::ranges::find(launch_keys, key) != launch_keys.end()) continue;
        std::vector<std::string> values;
        for (const BestSink::Candidate& one : all) {
            const Value* its = find_value(one.values, key);
            values.push_back(its ? text_of(*its) : std::string());
        }
        if (std::ranges::count(values, values.front()) != std::ssize(values))
            arguments[std::move(values)].push_back(key);
    }
    std::vector<std::string> sizes;
    for (const auto& [values, keys] : arguments)
        if (change_work(all, keys)) sizes.insert(sizes.end(), keys.begin(), keys.end());
    return sizes;
}

std::vector<CandidatesOfSize> candidates_by_size(const std::vector<BestSink::Candidate>& all,
                                                 const std::vector<std::string>& arguments) {
    std::vector<CandidatesOfSize> sizes;
    std::map<std::string, std::size_t> places;
    for (const BestSink::Candidate& one : all) {
        NamedValues size = one.values;
        std::erase_if(size, [&](const auto& value) { return !is_among(arguments, value.first); });
        const auto [place, is_new] = places.emplace(text_of(size), sizes.size());
        if (is_new) sizes.push_back({std::move(size), {}});
        sizes[place->second].all.push_back(one);
    }
    return sizes;
}

std::vector<Verdict> verdicts_of_sizes(std::vector<BestAtSize> sizes, Counter counter,
                                       const std::vector<std::string>& arguments,
                                       const std::string& source) {
    std::vector<Verdict> verdicts;
    if (have_one_best(sizes)) verdicts.push_back(verdict_on_all(sizes, counter, arguments, source));
    // One reason is enough: that of the largest difference.
    BestAtSize& clearest = *std::ranges::max_element(sizes, {}, &BestAtSize::ratio);
    clearest.verdict.text += clearest.reason;
    for (BestAtSize& one : sizes) verdicts.push_back(std::move(one.verdict));
    return verdicts;
}

}  // namespace coalprof
