// Sums a per-warp count over a whole launch. Patterns that repeat are summed by their period, so
// that 2^30 elements cost what 2^20 do; the others are walked warp by warp. Both give the same
// totals, which the tests hold against each other.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/model/warp_access.h"
#include "core/pattern/program.h"

namespace coalprof {

// What a count may depend on besides the addresses' differences.
struct Sensitivity {
    std::uint64_t modulus_bytes = 256;  // the addresses' remainder by this power of two
    bool hashes_lines = false;          // and a linear hash of the line number (tag banks)
};

// `times` repetitions of something, each `advance_bytes` further on.
struct Repetition {
    std::uint64_t times = 1;
    std::uint64_t advance_bytes = 0;
};

// Warps that are shifted copies of one: it stands at access + j * outer + k * inner. `whole_unit`:
// the family repeats with the pattern's period; else it belongs to the incomplete period at the
// end.
struct WarpFamily {
    WarpAccess access;
    Repetition outer;
    Repetition inner;
    bool whole_unit = false;
};

// Every warp of one instruction of a launch, as families. Few for patterns that repeat, one per
// warp for those that do not: visit(const WarpFamily&) is called for each and none is kept.
// `walk` ignores the period.
template <typename Visit>
void each_family(const Program& program, const Placement& placement, const Instruction& instruction,
                 bool walk, Visit visit);

// How often the numbers first, first + step, ... (`count` of them) end in exactly `ones` one bits,
// and the position of the first that does.
struct Occurrences {
    std::uint64_t count = 0;
    std::uint64_t first_position = 0;
};
Occurrences ending_in_ones(std::uint64_t first, std::uint64_t step, std::uint64_t count,
                           std::uint32_t ones);

// Shifts every active lane by `bytes`.
WarpAccess shifted(const WarpAccess& access, std::uint64_t bytes);

// Lowest and highest byte address of the active lanes (the latter inclusive).
struct Extent {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};
Extent extent_of(const WarpAccess& access);

namespace detail {

// Warps per launch: `block` logical indices a block, the last warp of a block or launch partial.
struct Tiling {
    std::uint64_t threads;
    std::uint32_t block;
    template <typename Visit>  // visit(first_thread, lanes) for the warps of [begin, end)
    void each_warp(std::uint64_t begin, std::uint64_t end, Visit visit) const {
        for (std::uint64_t at = begin; at < end;) {
            const std::uint64_t block_end = std::min(threads, (at / block + 1) * block);
            const auto lanes =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, block_end - at));
            visit(at, lanes);
            at += lanes;
        }
    }
};

// Sums count(warp) over `repetition` of one warp. The count of a shifted warp is decided by its
// address modulo a power of two `window` that spans the warp, and, where lines are hashed, by what
// the carry out of the window does to the hash: the low bits of the window's number flip, as many
// as it ends in ones, plus one. A linear hash of the rest is the same for all lines of the warp.
template <typename Counts, typename Count>
void sum_repetition(const WarpAccess& access, const Repetition& repetition,
                    const Sensitivity& sensitivity, const Count& count, std::uint64_t times,
                    Counts& sum) {
    const auto add = [&](std::uint64_t position, std::uint64_t occurrences) {
        sum.add(count(shifted(access, position * repetition.advance_bytes)), occurrences * times);
    };
    const std::uint64_t n = repetition.times;
    const std::uint64_t advance = repetition.advance_bytes;
    if (advance == 0 || n == 1) return add(0, n);

    const Extent extent = extent_of(access);
    const std::uint64_t span = extent.high - extent.low + 1;
    std::uint64_t window = sensitivity.modulus_bytes;
    if (sensitivity.hashes_lines) window = std::max(window, std::bit_ceil(span));
    const std::uint64_t residues = window / std::gcd(window, advance);
    for (std::uint64_t r = 0; r < std::min(residues, n); ++r) {
        const std::uint64_t here = (n - r - 1) / residues + 1;
        const std::uint64_t low = extent.low + r * advance;
        const bool carries = low % window + span > window;
        if (!sensitivity.hashes_lines || !carries || here == 1) {
            add(r, here);
            continue;
        }
        const std::uint64_t step = residues * advance / window;
        std::uint64_t left = here;
        for (std::uint32_t ones = 0; left > 0 && ones < 64; ++ones) {
            const Occurrences found = ending_in_ones(low / window, step, here, ones);
            if (found.count == 0) continue;
            add(r + found.first_position * residues, found.count);
            left -= found.count;
        }
    }
}

// About how many evaluations sum_repetition() needs.
inline std::uint64_t cost_of(const WarpAccess& access, const Repetition& repetition,
                             const Sensitivity& sensitivity) {
    if (repetition.advance_bytes == 0) return 1;
    const Extent extent = extent_of(access);
    std::uint64_t window = sensitivity.modulus_bytes;
    if (sensitivity.hashes_lines)
        window = std::max(window, std::bit_ceil(extent.high - extent.low + 1));
    const std::uint64_t residues = window / std::gcd(window, repetition.advance_bytes);
    return std::min(repetition.times, residues);
}

// How many steps of `advance` leave every lane in its line at the same offset for all lanes, so
// that the warps count alike: lanes all start at one offset within a line.
std::uint64_t steps_within_lines(const WarpAccess& access, std::uint64_t advance);

// The same family told from its lowest copy: a period whose advance is negative (modulo 2^64) goes
// down through memory.
WarpFamily ascending(WarpFamily family);

template <typename Counts, typename Count>
void sum_family(const WarpFamily& family, const Sensitivity& sensitivity, const Count& count,
                Counts& sum) {
    if (family.access.active_lanes == 0) return;
    // One of the two repetitions is summed in closed form, the other stepped through.
    Repetition closed = family.outer;
    Repetition stepped = family.inner;
    const std::uint64_t closed_cost = cost_of(family.access, closed, sensitivity);
    const std::uint64_t stepped_cost = cost_of(family.access, stepped, sensitivity);
    if (stepped_cost * closed.times < closed_cost * stepped.times) std::swap(closed, stepped);
    for (std::uint64_t step = 0; step < stepped.times;) {
        const WarpAccess access = shifted(family.access, step * stepped.advance_bytes);
        std::uint64_t alike = stepped.advance_bytes == 0
                                  ? stepped.times
                                  : steps_within_lines(access, stepped.advance_bytes);
        // A closed repetition that is not made of whole lines moves the lanes within theirs.
        const bool moves_in_line = closed.times > 1 && closed.advance_bytes % line_bytes != 0;
        if (stepped.advance_bytes != 0 && (moves_in_line || !sensitivity.hashes_lines)) alike = 1;
        alike = std::min(alike, stepped.times - step);
        sum_repetition(access, closed, sensitivity, count, alike, sum);
        step += alike;
    }
}

}  // namespace detail

template <typename Visit>
void each_family(const Program& program, const Placement& placement, const Instruction& instruction,
                 bool walk, Visit visit) {
    const detail::Tiling tiling{program.threads, program.block};
    const auto visit_range = [&](std::uint64_t begin, std::uint64_t end, Repetition outer,
                                 Repetition inner, bool whole_unit) {
        tiling.each_warp(begin, end, [&](std::uint64_t first, std::uint32_t lanes) {
            visit(detail::ascending({access_of_warp(program, placement, instruction, first, lanes),
                                     outer, inner, whole_unit}));
        });
    };
    const std::optional<Period> period = walk ? std::nullopt : period_of(instruction.formula);
    if (!period) return visit_range(0, program.threads, {}, {}, false);

    // Warps tile the launch every 32 threads, or every block where a block ends in a partial warp.
    const std::uint64_t tile = program.block % warp_lanes == 0 ? warp_lanes : program.block;
    const std::uint64_t width = instruction.width_bytes;
    std::uint64_t unit = std::lcm(period->threads, tile);
    std::uint64_t unit_advance = unit / period->threads * period->advance * width;
    std::uint64_t inner_unit = unit;
    Repetition inner;
    if (period->inner_threads != 0 && period->threads % tile == 0) {
        const std::uint64_t smallest = std::lcm(period->inner_threads, tile);
        if (period->threads % smallest == 0) {
            inner_unit = smallest;
            inner = {period->threads / smallest,
                     smallest / period->inner_threads * period->inner_advance * width};
        }
    }
    const std::uint64_t units = program.threads / unit;
    if (units > 0) visit_range(0, inner_unit, {units, unit_advance}, inner, true);
    // The incomplete last unit: whole inner units of it, then what is left.
    const std::uint64_t begin = units * unit;
    const std::uint64_t inner_units =
        inner_unit < unit ? (program.threads - begin) / inner_unit : 0;
    if (inner_units > 0)
        visit_range(begin, begin + inner_unit, {}, {inner_units, inner.advance_bytes}, false);
    visit_range(begin + inner_units * inner_unit, program.threads, {}, {}, false);
}

// The sum of count(WarpAccess) over every warp of one instruction of the launch. Counts needs
// add(const Counts&, std::uint64_t times). `walk` forces the walk over every warp.
template <typename Counts, typename Count>
Counts sum_over_launch(const Program& program, const Placement& placement,
                       const Instruction& instruction, const Sensitivity& sensitivity,
                       const Count& count, bool walk = false) {
    Counts sum;
    each_family(program, placement, instruction, walk, [&](const WarpFamily& family) {
        detail::sum_family(family, sensitivity, count, sum);
    });
    return sum;
}

// Whether it is proven that no 128-byte line is touched by two warps of the instruction's launch.
// False where it is not so, and where it cannot be told without walking the launch.
bool warps_share_no_line(const Program& program, const Placement& placement,
                         const Instruction& instruction);

}  // namespace coalprof
