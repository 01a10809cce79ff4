// Sums a per-warp count over a whole launch. Patterns that repeat are summed by their period, so
// that 2^30 elements cost as much as 2^20 do; the others are walked warp by warp, on all threads.
// Both give the same totals, which tests compare.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/access/extent.h"
#include "core/access/warp_access.h"
#include "core/pattern/program.h"
#include "core/runtime/parallel.h"
#include "core/runtime/signal.h"

namespace coalprof {

// Properties that a count may depend on besides the addresses' differences.
struct Sensitivity {
    std::uint64_t modulus_bytes = 256;  // the addresses' remainder by this power of two
    bool hashes_lines = false;          // and a linear hash of the line number (tag banks)
};

// `times` repetitions of something, each `advance_bytes` further on.
struct Repetition {
    std::uint64_t times = 1;
    std::uint64_t advance_bytes = 0;
};

// Warps that are shifted copies of one, which is at access + j * outer + k * inner. `whole_unit`:
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
// `walk` ignores the period. Throws Stopped when a signal asks for the end.
template <typename Visit>
void each_family(const Program& program, const Placement& placement, const Instruction& instruction,
                 bool walk, Visit visit);

// Those of the numbers first, first + step, ... (`count` of them) that end in exactly `ones` one
// bits: how many there are, and the position of the first.
struct Occurrences {
    std::uint64_t count = 0;
    std::uint64_t first_position = 0;
};
Occurrences ending_in_ones(std::uint64_t first, std::uint64_t step, std::uint64_t count,
                           std::uint32_t ones);

// Shifts every active lane by `bytes`.
WarpAccess shifted(const WarpAccess& access, std::uint64_t bytes);

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

// A launch that repeats: whole units of which each repeats within, `inner_unit` threads at a time;
// whole inner units of the incomplete last unit; the rest.
struct Parts {
    std::uint64_t inner_unit = 0;
    Repetition outer;  // of units; 0 times: the launch is shorter
    Repetition inner;
    std::uint64_t tail_begin = 0;
    Repetition tail;
    std::uint64_t rest_begin = 0;
};
// None if nothing repeats.
std::optional<Parts> parts_of(const Program& program, const Instruction& instruction);

// The copies of a warp in classes with equal counts, where lines are hashed by a linear hash: two
// ways, of which the one with fewer classes is taken.
// - By windows: a power of two that spans the warp. The address modulo the window decides, and the
//   effect of the carry out of it on the hash: the low bits of the window's number flip, as many as
//   it ends in ones, plus one. A hash of the rest is the same for all lines of the warp.
// - By blocks: the largest power of two that divides the distances of all lanes (a column of a
//   matrix whose rows are a power of two long). Within a block the lanes move as one, below the
//   bits in which they differ: the address modulo `modulus_bytes` decides.
struct CopyClasses {
    std::uint64_t window_bytes;
    std::uint64_t window_residues;
    std::uint64_t block_bytes;  // 0: no such power of two separates the lanes
    std::uint64_t block_residues;
    std::uint64_t blocks;  // that the copies reach
    // About how many evaluations each needs.
    std::uint64_t by_windows;
    std::uint64_t by_blocks;
};
CopyClasses classes_of(const WarpAccess& access, const Repetition& repetition,
                       const Sensitivity& sensitivity);

// The warps of the threads [begin, end), which repeat in the same way.
struct WarpRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Repetition outer;
    Repetition inner;
    bool whole_unit = false;  // see WarpFamily
};
// All warps of the launch; `walk` ignores the period.
std::vector<WarpRange> ranges_of(const Program& program, const Instruction& instruction, bool walk);

// A range in pieces of about a thousand warps, 0.2 ms: worth giving to another thread, and often
// enough to check for a signal.
struct Pieces {
    Pieces(const Program& program, const WarpRange& warps);
    std::uint64_t begin(std::uint64_t piece) const { return range.begin + piece * threads; }
    std::uint64_t end(std::uint64_t piece) const {
        return piece + 1 == count ? range.end : begin(piece + 1);
    }

    WarpRange range;
    std::uint64_t threads;  // of a piece: whole blocks, or warps where blocks have whole ones
    std::uint64_t count;
};

// Calls add(position, occurrences) for one copy of each class.
template <typename Add>
void each_class_by_windows(const WarpAccess& access, const Repetition& repetition,
                           const Sensitivity& sensitivity, const CopyClasses& classes, Add add) {
    const std::uint64_t n = repetition.times;
    const Extent extent = extent_of(access);
    const std::uint64_t span = extent.high - extent.low + 1;
    const std::uint64_t window = classes.window_bytes;
    const std::uint64_t residues = classes.window_residues;
    for (std::uint64_t r = 0; r < std::min(residues, n); ++r) {
        const std::uint64_t here = (n - r - 1) / residues + 1;
        const std::uint64_t low = extent.low + r * repetition.advance_bytes;
        const bool carries = low % window + span > window;
        if (!sensitivity.hashes_lines || !carries || here == 1) {
            add(r, here);
            continue;
        }
        const std::uint64_t step = residues * repetition.advance_bytes / window;
        std::uint64_t left = here;
        for (std::uint32_t ones = 0; left > 0 && ones < 64; ++ones) {
            const Occurrences found = ending_in_ones(low / window, step, here, ones);
            if (found.count == 0) continue;
            add(r + found.first_position * residues, found.count);
            left -= found.count;
        }
    }
}

template <typename Add>
void each_class_by_blocks(const WarpAccess& access, const Repetition& repetition,
                          const CopyClasses& classes, Add add) {
    const std::uint64_t advance = repetition.advance_bytes;
    const std::uint64_t low = extent_of(access).low;
    for (std::uint64_t first = 0; first < repetition.times;) {
        const std::uint64_t left_in_block =
            classes.block_bytes - (low + first * advance) % classes.block_bytes;
        const std::uint64_t here =
            std::min(repetition.times - first, (left_in_block - 1) / advance + 1);
        for (std::uint64_t r = 0; r < std::min(classes.block_residues, here); ++r)
            add(first + r, (here - r - 1) / classes.block_residues + 1);
        first += here;
    }
}

// Sums count(warp) over `repetition` of one warp.
template <typename Counts, typename Count>
void sum_repetition(const WarpAccess& access, const Repetition& repetition,
                    const Sensitivity& sensitivity, const Count& count, std::uint64_t times,
                    Counts& sum) {
    const auto add = [&](std::uint64_t position, std::uint64_t occurrences) {
        sum.add(count(shifted(access, position * repetition.advance_bytes)), occurrences * times);
    };
    if (repetition.advance_bytes == 0 || repetition.times == 1) return add(0, repetition.times);
    const CopyClasses classes = classes_of(access, repetition, sensitivity);
    if (classes.by_blocks < classes.by_windows)
        each_class_by_blocks(access, repetition, classes, add);
    else
        each_class_by_windows(access, repetition, sensitivity, classes, add);
}

// About how many evaluations sum_repetition() needs.
inline std::uint64_t cost_of(const WarpAccess& access, const Repetition& repetition,
                             const Sensitivity& sensitivity) {
    if (repetition.advance_bytes == 0 || repetition.times == 1) return 1;
    const CopyClasses classes = classes_of(access, repetition, sensitivity);
    return std::min(classes.by_windows, classes.by_blocks);
}

// The number of warps, `advance` from each other, whose lanes all stay in the first one's lines and
// so have equal counts; 1 where lanes start at different offsets within a line.
std::uint64_t steps_within_lines(const WarpAccess& access, std::uint64_t advance);

// Describes the family from its lowest copy: a period whose advance is negative (modulo 2^64) goes
// down through memory.
void make_ascending(WarpFamily& family);

// One of a family's two repetitions is summed in closed form, the other one step by step.
struct Walk {
    Repetition closed;
    Repetition stepped;
    std::uint64_t cost = 0;  // about how many evaluations, at most
};
Walk walk_of(const WarpFamily& family, const Sensitivity& sensitivity);

// Where lines are not hashed, the address modulo `modulus_bytes` decides all.
template <typename Visit>
void each_step_by_modulus(const WarpFamily& family, const Repetition& stepped,
                          std::uint64_t modulus_bytes, Visit visit) {
    const std::uint64_t residues =
        modulus_bytes / std::gcd(modulus_bytes, stepped.advance_bytes % modulus_bytes);
    for (std::uint64_t r = 0; r < std::min(residues, stepped.times); ++r)
        visit(shifted(family.access, r * stepped.advance_bytes),
              (stepped.times - r - 1) / residues + 1);
}

template <typename Visit>
void each_step_by_line(const WarpFamily& family, const Walk& walk, Visit visit) {
    const Repetition& stepped = walk.stepped;
    // A closed repetition by other than whole lines moves the lanes within theirs.
    const bool moves_in_line = walk.closed.times > 1 && walk.closed.advance_bytes % line_bytes != 0;
    for (std::uint64_t step = 0; step < stepped.times;) {
        const WarpAccess access = shifted(family.access, step * stepped.advance_bytes);
        std::uint64_t alike = 1;
        if (stepped.advance_bytes == 0)
            alike = stepped.times;
        else if (!moves_in_line)
            alike = steps_within_lines(access, stepped.advance_bytes);
        alike = std::min(alike, stepped.times - step);
        visit(access, alike);
        step += alike;
    }
}

template <typename Counts, typename Count>
void sum_family(const WarpFamily& family, const Sensitivity& sensitivity, const Count& count,
                Counts& sum) {
    if (family.access.active_lanes == 0) return;
    if (family.outer.times == 1 && family.inner.times == 1) return sum.add(count(family.access));
    const Walk walk = walk_of(family, sensitivity);
    const auto visit = [&](const WarpAccess& access, std::uint64_t alike) {
        sum_repetition(access, walk.closed, sensitivity, count, alike, sum);
    };
    if (sensitivity.hashes_lines)
        each_step_by_line(family, walk, visit);
    else
        each_step_by_modulus(family, walk.stepped, sensitivity.modulus_bytes, visit);
}

// Calls visit(const WarpFamily&) for every warp of one piece.
template <typename Visit>
void each_family_of(const Pieces& pieces, std::uint64_t piece, const Program& program,
                    const Placement& placement, const Instruction& instruction, Visit visit) {
    // The first piece is short: points that a run has measured are still predicted.
    if (piece > 0) stop_if_asked();
    const Tiling tiling{program.threads, program.block};
    const WarpRange& range = pieces.range;
    tiling.each_warp(
        pieces.begin(piece), pieces.end(piece), [&](std::uint64_t first, std::uint32_t lanes) {
            WarpFamily family{access_of_warp(program, placement, instruction, first, lanes),
                              range.outer, range.inner, range.whole_unit};
            make_ascending(family);
            visit(family);
        });
}

}  // namespace detail

template <typename Visit>
void each_family(const Program& program, const Placement& placement, const Instruction& instruction,
                 bool walk, Visit visit) {
    for (const detail::WarpRange& range : detail::ranges_of(program, instruction, walk)) {
        const detail::Pieces pieces(program, range);
        for (std::uint64_t piece = 0; piece < pieces.count; ++piece)
            detail::each_family_of(pieces, piece, program, placement, instruction, visit);
    }
}

// The sum of count(WarpAccess) over every warp of one instruction of the launch. Counts needs
// add(const Counts&, std::uint64_t times), in any order; several threads call `count` at a time.
// `walk` forces the walk over every warp.
template <typename Counts, typename Count>
Counts sum_over_launch(const Program& program, const Placement& placement,
                       const Instruction& instruction, const Sensitivity& sensitivity,
                       const Count& count, bool walk = false) {
    Counts sum;
    for (const detail::WarpRange& range : detail::ranges_of(program, instruction, walk)) {
        const detail::Pieces pieces(program, range);
        sum.add(parallel_sum<Counts>(pieces.count, [&](std::uint64_t piece, Counts& part) {
            detail::each_family_of(pieces, piece, program, placement, instruction,
                                   [&](const WarpFamily& family) {
                                       detail::sum_family(family, sensitivity, count, part);
                                   });
        }));
    }
    return sum;
}

// True if the sum needs more evaluations than are done for one instruction: 2^20, half a second.
// False for launches that do not repeat, whose walk costs one evaluation a warp.
bool costs_too_much(const Program& program, const Placement& placement,
                    const Instruction& instruction, const Sensitivity& sensitivity);

// The number of warps that repeat no other one: those that any sum must visit.
std::uint64_t warps_walked(const Program& program, const Instruction& instruction);
std::uint64_t warps_walked(const Program& program);  // of all instructions

// True if it is proven that no two warps of the instruction's launch touch the same 128-byte line.
// False otherwise, also where only a walk over the launch could show it.
bool warps_share_no_line(const Program& program, const Placement& placement,
                         const Instruction& instruction);
// The same for sectors.
bool warps_share_no_sector(const Program& program, const Placement& placement,
                           const Instruction& instruction);

}  // namespace coalprof
