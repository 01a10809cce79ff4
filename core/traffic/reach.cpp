#include "core/traffic/reach.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/runtime/parallel.h"
#include "core/traffic/touched_lines.h"

namespace coalprof {
namespace {

using Instructions = std::span<const Instruction* const>;

// Threads times instructions that are walked: 1 ms.
constexpr std::uint64_t most_walked = 1 << 16;
constexpr std::uint64_t sampled_windows = 16;
constexpr std::uint64_t most_sampled = 1 << 15;  // threads times instructions, of all windows
// Samples that overlap less often than this say nothing.
constexpr double fewest_meetings = 16;

// A run of bytes.
struct Run {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};
// Something and its copies, each `step_bytes` further on. The last one may be incomplete.
struct Copies {
    double times = 1;
    std::uint64_t step_bytes = 0;
};

// Sorts them, and merges those that leave no gap.
void tidy(std::vector<Run>& runs) {
    const auto is_before = [](const Run& a, const Run& b) { return a.first < b.first; };
    if (!std::ranges::is_sorted(runs, is_before)) std::ranges::sort(runs, is_before);
    std::size_t kept = 0;
    for (const Run& run : runs)
        if (kept > 0 && run.first <= runs[kept - 1].end)
            runs[kept - 1].end = std::max(runs[kept - 1].end, run.end);
        else
            runs[kept++] = run;
    runs.resize(kept);
}

// Units of the sorted runs, moved by an offset.
double units_in(const std::vector<Run>& runs, std::uint64_t unit_bytes, std::uint64_t moved = 0) {
    double units = 0;
    std::uint64_t next = 0;  // the first unit not counted yet
    for (const Run& run : runs) {
        const std::uint64_t first = std::max(next, (run.first + moved) / unit_bytes);
        const std::uint64_t end = (run.end + moved - 1) / unit_bytes + 1;
        if (end > first) units += static_cast<double>(end - first);
        next = std::max(next, end);
    }
    return units;
}

// True if copies of each run leave no unit between them out.
bool are_gapless(const std::vector<Run>& runs, const Copies& copies, std::uint64_t unit_bytes) {
    return std::ranges::all_of(runs, [&](const Run& run) {
        return copies.step_bytes <= std::max(unit_bytes, run.end - run.first);
    });
}

std::vector<Run> grown(std::vector<Run> runs, const Copies& copies) {
    const auto added =
        static_cast<std::uint64_t>((copies.times - 1) * static_cast<double>(copies.step_bytes));
    for (Run& run : runs) run.end += added;
    tidy(runs);
    return runs;
}

// Units of all copies whose gaps are larger than a unit: as many in each as in one, except that
// copies may share units, wholly or at their borders.
double units_of_spread(const std::vector<Run>& runs, const Copies& copies,
                       std::uint64_t unit_bytes) {
    const std::uint64_t step = copies.step_bytes;
    const double unit = static_cast<double>(unit_bytes);
    const std::uint64_t span = runs.back().end - runs.front().first;
    const double reached =
        (copies.times - 1) * static_cast<double>(step) + static_cast<double>(span);
    if (span > step) {  // copies overlap: places of one step
        std::vector<Run> moved;
        for (const Run& run : runs) {
            const std::uint64_t first = run.first % step;
            const std::uint64_t end = first + std::min(run.end - run.first, step);
            moved.push_back({first, std::min(end, step)});
            if (end > step) moved.push_back({0, end - step});
        }
        tidy(moved);
        const double share = units_in(moved, unit_bytes) * unit / static_cast<double>(step);
        return std::min(share * reached / unit, units_in(runs, unit_bytes) * copies.times);
    }
    // The offset of a copy in its first unit repeats; the mean of a few places suffices.
    constexpr std::uint64_t most_phases = 8;
    const std::uint64_t phases = unit_bytes / std::gcd(unit_bytes, step);
    const std::uint64_t seen = std::min(phases, most_phases);
    double sum = 0;
    for (std::uint64_t phase = 0; phase < seen; ++phase)
        sum += units_in(runs, unit_bytes, phase * (phases / seen) * step);
    return std::min(sum / static_cast<double>(seen) * copies.times, reached / unit + 1);
}

double units_of(const std::vector<Run>& runs, const Copies& copies, std::uint64_t unit_bytes) {
    if (runs.empty()) return 0;
    if (copies.times <= 1 || copies.step_bytes == 0) return units_in(runs, unit_bytes);
    if (are_gapless(runs, copies, unit_bytes)) return units_in(grown(runs, copies), unit_bytes);
    return units_of_spread(runs, copies, unit_bytes);
}

// For copies of copies; none where they overlap.
std::optional<double> units_of(const std::vector<Run>& runs, Copies near, Copies far,
                               std::uint64_t unit_bytes) {
    if (near.step_bytes > far.step_bytes) std::swap(near, far);
    if (near.times <= 1 || near.step_bytes == 0) return units_of(runs, far, unit_bytes);
    if (are_gapless(runs, near, unit_bytes)) return units_of(grown(runs, near), far, unit_bytes);
    constexpr double most_runs = 1 << 14;
    if (static_cast<double>(runs.size()) * near.times > most_runs) return std::nullopt;
    std::vector<Run> all;
    for (std::uint64_t k = 0; static_cast<double>(k) < near.times; ++k)
        for (const Run& run : runs)
            all.push_back({run.first + k * near.step_bytes, run.end + k * near.step_bytes});
    tidy(all);
    return units_of(all, far, unit_bytes);
}

// Copies of the places that advance by `advance_bytes`, forward or back. The first of them are
// moved to where the lowest copy lies.
Copies copies_of(double times, std::uint64_t advance_bytes, std::vector<Run>& runs) {
    const auto step = static_cast<std::int64_t>(advance_bytes);
    if (step >= 0) return {times, static_cast<std::uint64_t>(step)};
    const std::uint64_t back = static_cast<std::uint64_t>(-step);
    const std::uint64_t moved = static_cast<std::uint64_t>(std::ceil(times) - 1) * back;
    for (Run& run : runs) run = {run.first - moved, run.end - moved};
    return {times, back};
}

// The common period of all instructions, its advances in bytes; none: they have none.
std::optional<Period> common_period(Instructions instructions) {
    Period common{1, 0};
    bool is_first = true;
    for (const Instruction* one : instructions) {
        std::optional<Period> own = period_of(one->formula);
        if (!own) return std::nullopt;
        own->advance *= one->width_bytes;
        own->inner_advance *= one->width_bytes;
        if (is_first) {
            common = *own;
            is_first = false;
            continue;
        }
        const bool is_same = own->inner_threads == common.inner_threads &&
                             own->inner_advance == common.inner_advance &&
                             own->threads == common.threads;
        const std::uint64_t both = std::lcm(common.threads, own->threads);
        if (both / common.threads * common.advance != both / own->threads * own->advance)
            return std::nullopt;
        common.advance *= both / common.threads;
        common.threads = both;
        if (!is_same) common.inner_threads = 0;
    }
    return common;
}

// The places that the threads [0, threads) touch.
std::vector<Run> places_of(Instructions instructions, std::uint64_t threads) {
    std::vector<Run> runs;
    std::array<std::uint64_t, warp_lanes> elements;
    for (const Instruction* one : instructions)
        for (std::uint64_t at = 0; at < threads; at += warp_lanes) {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, threads - at));
            evaluate(one->formula, at, count, elements.data());
            for (std::uint32_t lane = 0; lane < count; ++lane) {
                if (elements[lane] == idle_lane) continue;
                const std::uint64_t first = elements[lane] * one->width_bytes;
                runs.push_back({first, first + one->width_bytes});
            }
        }
    return runs;
}

// Uses the inner repetition of periods: a column has as many copies of an element as it has rows.
std::optional<Reach> nested_reach(Instructions instructions, std::uint64_t threads,
                                  const Period& period) {
    if (period.inner_threads == 0 || period.threads % period.inner_threads != 0)
        return std::nullopt;
    const std::uint64_t unit = period.inner_threads;
    if (unit * instructions.size() > most_walked || threads < unit) return std::nullopt;
    const auto ratio = [](std::uint64_t a, std::uint64_t b) {
        return static_cast<double>(a) / static_cast<double>(b);
    };
    std::vector<Run> runs = places_of(instructions, unit);
    Reach reach;
    reach.periods = std::max(1.0, ratio(threads, period.threads));
    reach.accesses = static_cast<double>(runs.size()) * ratio(threads, unit);
    const Copies inner =
        copies_of(ratio(std::min(period.threads, threads), unit), period.inner_advance, runs);
    const Copies outer = copies_of(reach.periods, period.advance, runs);
    tidy(runs);
    for (std::size_t k = 0; k < reach.units.size(); ++k) {
        reach.of_period[k] = units_of(runs, inner, reach_unit_bytes[k]);
        const auto units = units_of(runs, inner, outer, reach_unit_bytes[k]);
        if (!units) return std::nullopt;
        reach.units[k] = *units;
    }
    return reach;
}

std::optional<Reach> repeated_reach(Instructions instructions, std::uint64_t threads,
                                    const Period& period) {
    if (std::min(period.threads, threads) * instructions.size() > most_walked) return std::nullopt;
    // Short periods are combined: units at their borders are then shared as in the launch.
    constexpr std::uint64_t least_threads = 512;
    const std::uint64_t times = period.threads < least_threads && period.threads < threads
                                    ? least_threads / period.threads
                                    : 1;
    const std::uint64_t length = period.threads * times;
    std::vector<Run> runs = places_of(instructions, std::min(length, threads));
    Reach reach;
    reach.periods = std::max(1.0, static_cast<double>(threads) / static_cast<double>(length));
    reach.accesses = static_cast<double>(runs.size()) * reach.periods;
    const Copies copies = copies_of(reach.periods, period.advance * times, runs);
    tidy(runs);
    for (std::size_t k = 0; k < reach.units.size(); ++k) {
        reach.of_period[k] = units_in(runs, reach_unit_bytes[k]);
        reach.units[k] = units_of(runs, copies, reach_unit_bytes[k]);
    }
    return reach;
}

// An estimate of the number of units if `windows` samples of `each` of them hold `distinct`
// different ones.
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

// The memory that the threads [begin, end) touch.
class Walk {
 public:
    Walk(const Program& program, Instructions instructions)
        : program_(program), instructions_(instructions) {
        tally_.begin(most_walked, most_walked);
    }
    void walk(std::uint64_t begin, std::uint64_t end) {
        tally_.next_group();
        for (const Instruction* one : instructions_)
            for (std::uint64_t at = begin; at < end; at += warp_lanes) {
                const auto lanes =
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - at));
                const WarpAccess access = access_of_warp(program_, {}, *one, at, lanes);
                accesses_ += std::popcount(access.active_lanes);
                touched_.set(access);
                for (const LineTouched& touched : touched_.lines())
                    tally_.touch(touched.line, touched.sectors);
            }
    }
    const UnitTally& tally() const { return tally_; }
    double accesses() const { return accesses_; }

 private:
    const Program& program_;
    Instructions instructions_;
    TouchedLines touched_;
    Spares<UnitTally>::Lent lent_{spares_of<UnitTally>()};
    UnitTally& tally_ = lent_.get();
    double accesses_ = 0;
};

Reach walked_reach(const Program& program, Instructions instructions) {
    Walk walk(program, instructions);
    walk.walk(0, program.threads);
    const Units units = walk.tally().of_all();
    return {.units = units, .of_period = units, .accesses = walk.accesses(), .at_random = true};
}

// The number of units of each size, from threads drawn one by one: windows may overlap by a rule of
// the formula, these do not. 0 where they overlap too seldom.
Units population_of_lone_threads(const Program& program, Instructions instructions) {
    Walk walk(program, instructions);
    for (std::uint64_t k = 0; k < most_sampled / instructions.size(); ++k) {
        const std::uint64_t spread = hash_of(k + 1);  // even spacing would be a rule as well
        const std::uint64_t thread = hash_of(spread ^ spread >> 29) % program.threads;
        walk.walk(thread, thread + 1);
    }
    Units units{};
    for (std::size_t k = 0; k < units.size(); ++k) {
        const double distinct = walk.tally().of_all()[k];
        if (walk.accesses() - distinct >= fewest_meetings)
            units[k] = population(distinct, 1.0, walk.accesses());
    }
    return units;
}

Reach sampled_reach(const Program& program, Instructions instructions) {
    const std::uint64_t length = std::max<std::uint64_t>(
        most_sampled / sampled_windows / instructions.size() / warp_lanes * warp_lanes, warp_lanes);
    constexpr auto windows = static_cast<double>(sampled_windows);
    Walk walk(program, instructions);
    for (std::uint64_t k = 0; k < sampled_windows; ++k) {
        // Drawn from equal shares of the launch: events at its ends only are rare in it.
        const std::uint64_t low = program.threads / sampled_windows * k;
        const std::uint64_t share = program.threads / sampled_windows - length;
        const std::uint64_t begin = low + (hash_of(k + 1) >> 32) % (share + 1);
        walk.walk(begin, begin + length);
    }
    Reach reach{.at_random = true};
    reach.periods = static_cast<double>(program.threads) / static_cast<double>(length);
    reach.accesses = walk.accesses() * reach.periods / windows;
    const double array_bytes =
        static_cast<double>(program.arrays[instructions.front()->array].bytes());
    // More than chance explains.
    constexpr double by_rule = 1.3;
    const Units lone = population_of_lone_threads(program, instructions);
    for (std::size_t k = 0; k < reach.units.size(); ++k) {
        const double array_units =
            std::ceil(array_bytes / static_cast<double>(reach_unit_bytes[k]));
        const double sum = walk.tally().of_groups()[k];
        const double distinct = walk.tally().of_all()[k];
        const double each = sum / windows;
        reach.of_period[k] = each;
        if (sum - distinct < fewest_meetings) {
            reach.units[k] = std::min(array_units, each * reach.periods);
            continue;
        }
        double there = population(distinct, each, windows);
        if (lone[k] > by_rule * there) there = lone[k];
        there = std::min(there, array_units);
        if (there > 0.7 * array_units) there = array_units;  // as many as a sample can show
        reach.units[k] = there * (1 - std::pow(1 - std::min(1.0, each / there), reach.periods));
        // Windows that overlap by a rule of the formula give too little: a unit holds two of the
        // smaller ones.
        if (k > 0) reach.units[k] = std::max(reach.units[k], reach.units[k - 1] / 2);
    }
    return reach;
}

}  // namespace

double Reach::of_share(std::size_t unit, double share) const {
    const double periods_of_share = share * periods;
    if (periods <= 1 || periods_of_share <= 1) return std::min(units[unit], of_period[unit]);
    const double further = (units[unit] - of_period[unit]) / (periods - 1);
    return std::min(units[unit], of_period[unit] + further * (periods_of_share - 1));
}

Reach reach_of(const Program& program, Instructions instructions) {
    if (const auto period = common_period(instructions)) {
        if (auto reach = nested_reach(instructions, program.threads, *period)) return *reach;
        if (auto reach = repeated_reach(instructions, program.threads, *period)) return *reach;
    }
    return program.threads * instructions.size() > most_walked
               ? sampled_reach(program, instructions)
               : walked_reach(program, instructions);
}

}  // namespace coalprof
