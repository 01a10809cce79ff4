#include "core/traffic/reach.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace coalprof {
namespace {

using Instructions = std::span<const Instruction* const>;

constexpr std::uint64_t most_walked = 1 << 20;  // threads times instructions
constexpr std::uint64_t sampled_windows = 16;
constexpr std::uint64_t sampled_threads = 1 << 16;  // in all windows and instructions

// A run of bytes.
struct Run {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};

// The period that all instructions have in common; none where they have none, or a longer one than
// is walked.
std::optional<Period> common_period(Instructions instructions, std::uint64_t threads) {
    Period common{1, 0};
    bool is_first = true;
    for (const Instruction* one : instructions) {
        const std::optional<Period> own = period_of(one->formula);
        if (!own) return std::nullopt;
        if (is_first) {
            common = {own->threads, own->advance};
            is_first = false;
            continue;
        }
        const std::uint64_t both = std::lcm(common.threads, own->threads);
        if (both / common.threads * common.advance != both / own->threads * own->advance)
            return std::nullopt;
        common = {both, both / common.threads * common.advance};
    }
    if (std::min(common.threads, threads) * instructions.size() > most_walked) return std::nullopt;
    return common;
}

// Calls visit(index, byte address) for the lanes that take part among the indices [begin, end).
template <typename Visit>
void each_place(const Instruction& one, std::uint64_t begin, std::uint64_t end, Visit visit) {
    std::array<std::uint64_t, warp_lanes> elements;
    for (std::uint64_t at = begin; at < end; at += warp_lanes) {
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - at));
        evaluate(one.formula, at, count, elements.data());
        for (std::uint32_t lane = 0; lane < count; ++lane)
            if (elements[lane] != idle_lane) visit(at + lane, elements[lane] * one.width_bytes);
    }
}

void sort_by_place(std::vector<Run>& runs) {
    const auto is_before = [](const Run& a, const Run& b) { return a.first < b.first; };
    if (!std::ranges::is_sorted(runs, is_before)) std::ranges::sort(runs, is_before);
}

// Units that the runs, sorted, touch.
double units_in(const std::vector<Run>& runs, std::uint64_t unit_bytes) {
    double units = 0;
    std::uint64_t next = 0;  // the first unit that is not counted yet
    for (const Run& run : runs) {
        const std::uint64_t first = std::max(next, run.first / unit_bytes);
        const std::uint64_t end = (run.end - 1) / unit_bytes + 1;
        if (end > first) units += static_cast<double>(end - first);
        next = std::max(next, end);
    }
    return units;
}

Units units_in(const std::vector<Run>& runs) {
    Units units;
    for (std::size_t k = 0; k < units.size(); ++k) units[k] = units_in(runs, reach_unit_bytes[k]);
    return units;
}

// One period of places, and how it is repeated.
struct Repeated {
    std::vector<Run> runs;  // sorted
    std::vector<std::uint64_t> copies;
    std::uint64_t step_bytes = 0;  // from a copy to the next
    double periods = 1;
};

// Units of all copies where these lie apart by more than a unit: as many in each as in one, except
// that copies may share units, wholly or at their borders.
double units_of_copies(const Repeated& repeated, std::uint64_t unit_bytes, double of_period) {
    const std::uint64_t step = repeated.step_bytes;
    const double unit = static_cast<double>(unit_bytes);
    const std::uint64_t low = repeated.runs.front().first;
    const std::uint64_t span = repeated.runs.back().end - low;
    const double reached =
        (repeated.periods - 1) * static_cast<double>(step) + static_cast<double>(span);
    std::vector<Run> moved;
    if (span > step) {  // copies overlap: what they touch of one step
        for (const Run& run : repeated.runs) {
            const std::uint64_t first = run.first % step;
            moved.push_back({first, std::min(first + (run.end - run.first), step)});
        }
        sort_by_place(moved);
        const double share = units_in(moved, unit_bytes) * unit / static_cast<double>(step);
        return std::min(share * reached / unit, of_period * repeated.periods);
    }
    // Where a copy begins in its first unit repeats; a few of the places tell the mean.
    constexpr std::uint64_t most_phases = 8;
    const std::uint64_t phases = unit_bytes / std::gcd(unit_bytes, step);
    const std::uint64_t seen = std::min(phases, most_phases);
    double sum = 0;
    for (std::uint64_t phase = 0; phase < seen; ++phase) {
        const std::uint64_t move = phase * (phases / seen) * step;
        moved.clear();
        for (const Run& run : repeated.runs) moved.push_back({run.first + move, run.end + move});
        sum += units_in(moved, unit_bytes);
    }
    return std::min(sum / static_cast<double>(seen) * repeated.periods, reached / unit + 1);
}

Repeated repeat(Instructions instructions, std::uint64_t threads, const Period& period,
                Reach& reach) {
    // Short periods are taken several at a time: units at their borders are then shared as they
    // are in the launch.
    constexpr std::uint64_t least_threads = 512;
    const std::uint64_t times = period.threads < least_threads && period.threads < threads
                                    ? least_threads / period.threads
                                    : 1;
    const std::uint64_t length = period.threads * times;
    const std::uint64_t width = instructions.front()->width_bytes;
    const auto step = static_cast<std::int64_t>(period.advance * times * width);
    Repeated repeated;
    repeated.step_bytes = static_cast<std::uint64_t>(step < 0 ? -step : step);
    repeated.periods = static_cast<double>(threads) / static_cast<double>(length);
    const std::uint64_t whole = (threads + length - 1) / length;
    const std::uint64_t in_last = threads - (whole - 1) * length;
    for (const Instruction* one : instructions)
        each_place(*one, 0, std::min(length, threads), [&](std::uint64_t i, std::uint64_t place) {
            const std::uint64_t copies = whole - (i >= in_last ? 1 : 0);
            const std::uint64_t first =
                step < 0 ? place - (copies - 1) * repeated.step_bytes : place;
            repeated.runs.push_back({first, first + width});
            reach.accesses += static_cast<double>(copies);
        });
    sort_by_place(repeated.runs);
    return repeated;
}

Reach repeated_reach(Instructions instructions, std::uint64_t threads, const Period& period) {
    Reach reach;
    const Repeated repeated = repeat(instructions, threads, period, reach);
    reach.periods = std::max(1.0, repeated.periods);
    if (repeated.runs.empty()) return reach;
    reach.of_period = units_in(repeated.runs);
    for (std::size_t k = 0; k < reach.units.size(); ++k) {
        const std::uint64_t unit = reach_unit_bytes[k];
        if (repeated.periods <= 1) {
            reach.units[k] = reach.of_period[k];
        } else if (repeated.step_bytes <= unit) {
            // The copies of a place follow each other without a gap.
            const auto added = static_cast<std::uint64_t>((repeated.periods - 1) *
                                                          static_cast<double>(repeated.step_bytes));
            std::vector<Run> grown = repeated.runs;
            for (Run& run : grown) run.end += added;
            reach.units[k] = units_in(grown, unit);
        } else {
            reach.units[k] = units_of_copies(repeated, unit, reach.of_period[k]);
        }
    }
    return reach;
}

// How many units there are in all if `windows` samples of `each` of them hold `distinct` different
// ones.
double population(double distinct, double each, double windows) {
    double low = distinct;
    double high = 1e18;
    for (int step = 0; step < 100; ++step) {
        const double middle = std::sqrt(low * high);
        const double expected = middle * (1 - std::pow(1 - std::min(1.0, each / middle), windows));
        (expected < distinct ? low : high) = middle;
    }
    return low;
}

// Leaves each number once; how many these are.
double keep_distinct(std::vector<std::uint64_t>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return static_cast<double>(numbers.size());
}

Reach sampled_reach(const Program& program, Instructions instructions) {
    const std::uint64_t length =
        sampled_threads / sampled_windows / instructions.size() / warp_lanes * warp_lanes;
    std::array<std::vector<std::uint64_t>, sampled_windows> sectors;
    Reach reach{.at_random = true};
    for (std::uint64_t k = 0; k < sampled_windows; ++k) {
        const std::uint64_t begin = (program.threads - length) / (sampled_windows - 1) * k;
        for (const Instruction* one : instructions)
            each_place(*one, begin, begin + length, [&](std::uint64_t, std::uint64_t place) {
                sectors[k].push_back(place / sector_bytes);
            });
        reach.accesses += static_cast<double>(sectors[k].size());
    }
    reach.periods = static_cast<double>(program.threads) / static_cast<double>(length);
    constexpr auto windows = static_cast<double>(sampled_windows);
    reach.accesses *= reach.periods / windows;
    const double array_bytes =
        static_cast<double>(program.arrays[instructions.front()->array].bytes());
    for (std::size_t k = 0; k < reach.units.size(); ++k) {
        const double array_units =
            std::ceil(array_bytes / static_cast<double>(reach_unit_bytes[k]));
        std::vector<std::uint64_t> all;
        double sum = 0;
        for (const auto& window : sectors) {
            std::vector<std::uint64_t> own;
            for (const std::uint64_t sector : window) own.push_back(sector >> k);
            sum += keep_distinct(own);
            all.insert(all.end(), own.begin(), own.end());
        }
        const double each = sum / windows;
        const double distinct = keep_distinct(all);
        reach.of_period[k] = each;
        // Windows that meet less often than this tell nothing.
        constexpr double fewest_meetings = 16;
        if (sum - distinct < fewest_meetings) {
            reach.units[k] = std::min(array_units, each * reach.periods);
            continue;
        }
        double there = std::min(population(distinct, each, windows), array_units);
        if (there > 0.7 * array_units) there = array_units;  // as many as a sample can tell
        reach.units[k] = there * (1 - std::pow(1 - std::min(1.0, each / there), reach.periods));
    }
    return reach;
}

}  // namespace

Reach reach_of(const Program& program, Instructions instructions) {
    if (const auto period = common_period(instructions, program.threads))
        return repeated_reach(instructions, program.threads, *period);
    if (program.threads * instructions.size() > sampled_threads)
        return sampled_reach(program, instructions);
    Reach reach = repeated_reach(instructions, program.threads, {program.threads, 0});
    reach.at_random = true;
    return reach;
}

}  // namespace coalprof
