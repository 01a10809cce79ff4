#include "core/judge/best_reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

struct TrafficRow {
    std::string_view noun;
    std::vector<Limit> limits;  // that it adds to
    std::vector<Counter> sum;
};

const std::array<TrafficRow, std::tuple_size_v<decltype(LaunchTraffic::amounts)>>& traffic_rows() {
    using enum Counter;
    using enum Limit;
    static const std::array<TrafficRow, std::tuple_size_v<decltype(LaunchTraffic::amounts)>> rows{{
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

struct Difference {
    double weight = 0;  // the more, the more it says
    std::string text;
};

// Empty where the two hardly differ.
Difference difference_of(std::string_view noun, double best, double other,
                         std::string_view other_name) {
    constexpr double least = 1.1;
    const auto count = [](double number) {
        return grouped(static_cast<std::uint64_t>(std::llround(number)));
    };
    if (best == other) return {};
    if (other == 0) return {HUGE_VAL, fmt::format("{} {}, {} none", count(best), noun, other_name)};
    if (best == 0) return {HUGE_VAL, fmt::format("no {}, {} {}", noun, other_name, count(other))};
    const double ratio = best / other, up = std::max(ratio, 1 / ratio);
    if (up < least) return {};
    return {up, fmt::format("{:.3g} times the {}", ratio, noun)};
}

// Those of the limit that differ most; what is few beside the others decides nothing.
std::vector<Difference> differences_of(Limit limit, const LaunchTraffic& best,
                                       std::string_view other_name, const LaunchTraffic& other) {
    constexpr double few = 0.05;
    constexpr std::size_t most_said = 3;
    const auto& rows = traffic_rows();
    const auto adds = [&](std::size_t i) {
        return std::ranges::find(rows[i].limits, limit) != rows[i].limits.end();
    };
    double most = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (adds(i)) most = std::max({most, best.amounts[i], other.amounts[i]});
    std::vector<Difference> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!adds(i) || std::max(best.amounts[i], other.amounts[i]) < few * most) continue;
        Difference one = difference_of(rows[i].noun, best.amounts[i], other.amounts[i], other_name);
        if (!one.text.empty()) found.push_back(std::move(one));
    }
    std::ranges::sort(found, std::ranges::greater(), &Difference::weight);
    found.resize(std::min(found.size(), most_said));
    // Ratios need no other name, so they are read first.
    std::ranges::sort(found, {}, &Difference::weight);
    return found;
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

std::string best_reason(std::string_view best_name, const LaunchTraffic& best,
                        std::string_view other_name, const LaunchTraffic& other) {
    if (!best.limit || !other.limit) return {};
    std::string text = best.limit == other.limit
                           ? fmt::format("{} limits both", word_of(*best.limit))
                           : fmt::format("{} limits {}, {} {}", word_of(*other.limit), other_name,
                                         word_of(*best.limit), best_name);
    const auto found = differences_of(*other.limit, best, other_name, other);
    for (std::size_t i = 0; i < found.size(); ++i) {
        text +=
            fmt::format("{}{}", i == 0 ? fmt::format(": {} has ", best_name) : "; ", found[i].text);
        if (i == 0 && found[i].weight != HUGE_VAL) text += fmt::format(" of {}", other_name);
    }
    return text;
}

}  // namespace coalprof
