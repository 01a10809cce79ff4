#include "core/judge/best_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/text/number.h"

namespace coalprof {
namespace {

struct TrafficRow {
    std::string_view noun;
    std::vector<Limit> limits;  // that it adds to
    std::vector<Counter> sum;
    bool is_all = false;  // it is all of the limit's work; the others are parts of it
};

const std::array<TrafficRow, std::tuple_size_v<decltype(LaunchTraffic::amounts)>>& traffic_rows() {
    using enum Counter;
    using enum Limit;
    static const std::array<TrafficRow, std::tuple_size_v<decltype(LaunchTraffic::amounts)>> rows{{
        {"passes through L1 and shared memory", {l1}, {l1_passes}, true},
        {"sectors between L1 and L2",
         {l2},
         {l2_read_sectors, l2_write_sectors, l2_atomic_sectors, l2_reduce_sectors},
         true},
        {"bytes of DRAM traffic", {dram}, {dram_read_bytes, dram_write_bytes}, true},
        {"load requests", {l1, latency, instructions, blocks, start}, {load_requests}},
        {"load sectors", {l1, instructions, blocks, start}, {load_sectors}},
        {"store requests", {l1, instructions, blocks, start}, {store_requests}},
        {"passes of shared memory", {l1}, {shared_load_wavefronts, shared_store_wavefronts}},
        {"L2 read sectors", {l2, latency}, {l2_read_sectors}},
        {"L2 write requests", {l2}, {l2_write_requests}},
        {"L2 write sectors", {l2, same_line}, {l2_write_sectors}},
        {"atomic sectors", {l2, atomics}, {l2_atomic_sectors, l2_reduce_sectors}},
        {"bytes of DRAM reads", {dram, latency}, {dram_read_bytes}},
        {"bytes of DRAM writes", {dram}, {dram_write_bytes}},
    }};
    return rows;
}

// A row's amounts, where they differ and are not few beside the other rows'.
struct TrafficDifference {
    const TrafficRow* row;
    double best;
    double other;
};

std::vector<TrafficDifference> differences_of(Limit limit, const LaunchTraffic& best,
                                              const LaunchTraffic& other) {
    constexpr double few = 0.05, little = 1.1;
    std::vector<TrafficDifference> all;
    double most = 0;
    for (std::size_t i = 0; i < traffic_rows().size(); ++i) {
        const TrafficRow& row = traffic_rows()[i];
        if (std::ranges::find(row.limits, limit) == row.limits.end()) continue;
        all.push_back({&row, best.amounts[i], other.amounts[i]});
        most = std::max({most, best.amounts[i], other.amounts[i]});
    }
    std::erase_if(all, [&](const TrafficDifference& one) {
        const auto [low, high] = std::minmax(one.best, one.other);
        return high < few * most || high < little * low;
    });
    return all;
}

std::string text_of_difference(const TrafficDifference& one, std::string_view other_name) {
    const auto count = [](double number) {
        return grouped(static_cast<std::uint64_t>(std::llround(number)));
    };
    if (one.other == 0)
        return fmt::format("{} {}, {} none", count(one.best), one.row->noun, other_name);
    if (one.best == 0)
        return fmt::format("no {}, {} {}", one.row->noun, other_name, count(one.other));
    const double ratio = one.best / one.other;
    return ratio < 1 ? fmt::format("{:.3g} % fewer {}", (1 - ratio) * 100, one.row->noun)
                     : fmt::format("{:.3g} times the {}", ratio, one.row->noun);
}

// What the best has less of is a reason; what it has most more of must not be kept back.
std::string text_of_differences(std::vector<TrafficDifference> all, std::string_view other_name) {
    constexpr std::size_t most_reasons = 2;
    const auto is_less = [](const TrafficDifference& one) { return one.best < one.other; };
    const auto ratio = [](const TrafficDifference& one) { return one.best / one.other; };
    std::ranges::sort(all, [&](const TrafficDifference& a, const TrafficDifference& b) {
        return std::pair(!a.row->is_all, ratio(a)) < std::pair(!b.row->is_all, ratio(b));
    });
    std::string text;
    std::size_t said = 0;
    for (const TrafficDifference& one : all)
        if (is_less(one) && said++ < most_reasons)
            text += (said > 1 ? "; " : "") + text_of_difference(one, other_name) +
                    (said == 1 && one.best != 0 ? fmt::format(" than {}", other_name) : "");
    if (text.empty() || is_less(all.back())) return text;
    return fmt::format("{}, but {}", text, text_of_difference(all.back(), other_name));
}

}  // namespace

LaunchTraffic traffic_of_launch(const Point& point) {
    LaunchTraffic traffic;
    if (point.estimates && !point.estimates->limits.empty())
        traffic.limit = point.estimates->limits.front();
    for (std::size_t i = 0; i < traffic.amounts.size(); ++i)
        for (const Counter counter : traffic_rows()[i].sum)
            traffic.amounts[i] += number_or(point.predicted[counter], 0);
    return traffic;
}

// All pairs of the 145 launches of docs/measurements/h100/natural_check.txt, by the ratio of their
// predicted times: of those from 1.1 to 1.2 apart 347 of 482 were measured in their order, and so
// on.
std::string_view share_in_order(double ratio) {
    constexpr std::array<std::pair<double, std::string_view>, 6> shares{
        {{3, "99"}, {2, "95"}, {1.5, "92"}, {1.35, "87"}, {1.2, "81"}, {1.1, "72"}}};
    const auto found =
        std::ranges::find_if(shares, [&](const auto& one) { return ratio >= one.first; });
    return found == shares.end() ? std::string_view() : found->second;
}

std::string best_reason(std::string_view best_name, const LaunchTraffic& best,
                        std::string_view other_name, const LaunchTraffic& other) {
    if (!best.limit || !other.limit) return {};
    std::string text = best.limit == other.limit
                           ? fmt::format("{} limits both", word_of(*best.limit))
                           : fmt::format("{} limits {}, {} {}", word_of(*other.limit), other_name,
                                         word_of(*best.limit), best_name);
    const std::string reasons =
        text_of_differences(differences_of(*other.limit, best, other), other_name);
    if (!reasons.empty()) text += fmt::format(": {} has {}", best_name, reasons);
    return text;
}

}  // namespace coalprof
