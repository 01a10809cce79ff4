#include "core/count/launch_sum.h"

#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

// Warps tile the launch every 32 threads, or every block where a block ends in a partial warp.
std::uint64_t threads_of_tile(const Program& program) {
    return program.block % warp_lanes == 0 ? warp_lanes : program.block;
}

// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the bits.
std::uint64_t inverse_of_odd(std::uint64_t number) {
    std::uint64_t inverse = number;  // right to 3 bits
    for (int step = 0; step < 5; ++step) inverse *= 2 - number * inverse;
    return inverse;
}

constexpr std::uint64_t low_bits(std::uint32_t count) {
    return count >= 64 ? ~0ull : (1ull << count) - 1;
}

}  // namespace

Occurrences ending_in_ones(std::uint64_t first, std::uint64_t step, std::uint64_t count,
                           std::uint32_t ones) {
    // Wanted: first + x * step == 2^ones - 1 modulo 2^(ones + 1).
    const std::uint32_t bits = ones + 1;
    const std::uint64_t difference = (low_bits(ones) - first) & low_bits(bits);
    const std::uint64_t slope = step & low_bits(bits);
    if (slope == 0) return difference == 0 ? Occurrences{count, 0} : Occurrences{};
    const auto zeros = static_cast<std::uint32_t>(std::countr_zero(slope));
    if ((difference & low_bits(zeros)) != 0) return {};
    const std::uint64_t modulus_mask = low_bits(bits - zeros);
    const std::uint64_t position =
        (difference >> zeros) * inverse_of_odd(slope >> zeros) & modulus_mask;
    if (position >= count) return {};
    if (modulus_mask == ~0ull) return {1, position};
    return {(count - position - 1) / (modulus_mask + 1) + 1, position};
}

WarpAccess shifted(const WarpAccess& access, std::uint64_t bytes) {
    WarpAccess moved = access;
    for (auto& address : moved.addresses) address += bytes;
    return moved;
}

std::uint64_t detail::steps_within_lines(const WarpAccess& access, std::uint64_t advance) {
    std::uint64_t offset = line_bytes;  // of the first active lane, then of all
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t here =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))] % line_bytes;
        if (offset == line_bytes) offset = here;
        if (here != offset) return 1;
    }
    return (line_bytes - offset - access.width_bytes) / advance + 1;
}

detail::CopyClasses detail::classes_of(const WarpAccess& access, const Repetition& repetition,
                                       const Sensitivity& sensitivity) {
    const std::uint64_t n = repetition.times;
    const std::uint64_t advance = repetition.advance_bytes;
    const Extent extent = extent_of(access);
    CopyClasses classes{};
    classes.window_bytes = sensitivity.modulus_bytes;
    if (sensitivity.hashes_lines)
        classes.window_bytes =
            std::max(classes.window_bytes, std::bit_ceil(extent.high - extent.low + 1));
    classes.window_residues = classes.window_bytes / std::gcd(classes.window_bytes, advance);
    classes.by_windows = std::min(n, classes.window_residues);
    classes.by_blocks = ~0ull;
    if (!sensitivity.hashes_lines) return classes;

    std::uint64_t differing = 0;
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1)
        differing |=
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))] ^ extent.low;
    // Lanes that are all on one place never separate: any block will do, one of 2^62 holds all
    // copies.
    const int bits = std::min(std::countr_zero(differing), 62);
    if (1ull << bits < sensitivity.modulus_bytes) return classes;
    classes.block_bytes = 1ull << bits;
    classes.block_residues =
        sensitivity.modulus_bytes / std::gcd(sensitivity.modulus_bytes, advance);
    classes.blocks = ((extent.low + (n - 1) * advance) >> bits) - (extent.low >> bits) + 1;
    classes.by_blocks = classes.blocks * std::min(n, classes.block_residues);
    return classes;
}

detail::Walk detail::walk_of(const WarpFamily& family, const Sensitivity& sensitivity) {
    Walk walk{family.outer, family.inner, 0};
    std::uint64_t closed_cost = cost_of(family.access, walk.closed, sensitivity);
    std::uint64_t stepped_cost = cost_of(family.access, walk.stepped, sensitivity);
    if (static_cast<double>(stepped_cost) * static_cast<double>(walk.closed.times) <
        static_cast<double>(closed_cost) * static_cast<double>(walk.stepped.times)) {
        std::swap(walk.closed, walk.stepped);
        std::swap(closed_cost, stepped_cost);
    }
    const std::uint64_t steps = walk.stepped.advance_bytes == 0 ? 1 : walk.stepped.times;
    if (__builtin_mul_overflow(steps, closed_cost, &walk.cost)) walk.cost = ~0ull;
    return walk;
}

std::optional<detail::Parts> detail::parts_of(const Program& program,
                                              const Instruction& instruction) {
    const std::optional<Period> period = instruction.formula->period();
    if (!period) return std::nullopt;
    const std::uint64_t tile = threads_of_tile(program);
    const std::uint64_t width = instruction.width_bytes;
    const std::uint64_t unit = std::lcm(period->threads, tile);
    Parts parts;
    parts.inner_unit = unit;
    if (period->inner_threads != 0 && period->threads % tile == 0) {
        const std::uint64_t smallest = std::lcm(period->inner_threads, tile);
        if (period->threads % smallest == 0) {
            parts.inner_unit = smallest;
            parts.inner = {period->threads / smallest,
                           smallest / period->inner_threads * period->inner_advance * width};
        }
    }
    parts.outer = {program.threads / unit, unit / period->threads * period->advance * width};
    parts.tail_begin = parts.outer.times * unit;
    parts.tail = {0, parts.inner.advance_bytes};
    if (parts.inner_unit < unit)
        parts.tail.times = (program.threads - parts.tail_begin) / parts.inner_unit;
    parts.rest_begin = parts.tail_begin + parts.tail.times * parts.inner_unit;
    return parts;
}

std::uint64_t warps_walked(const Program& program, const Instruction& instruction) {
    // At most: a block that ends in a partial warp has one more.
    const auto warps_of = [&](std::uint64_t threads) {
        const std::uint64_t partial = program.block % warp_lanes == 0 ? 0 : threads / program.block;
        return threads / warp_lanes + (threads % warp_lanes != 0) + partial;
    };
    const auto parts = detail::parts_of(program, instruction);
    if (!parts) return warps_of(program.threads);
    return (parts->outer.times > 0 ? warps_of(parts->inner_unit) : 0) +
           (parts->tail.times > 0 ? warps_of(parts->inner_unit) : 0) +
           warps_of(program.threads - parts->rest_begin);
}

std::uint64_t warps_walked(const Program& program) {
    std::uint64_t warps = 0;
    for (const Instruction& instruction : program.instructions)
        warps += warps_walked(program, instruction);
    return warps;
}

std::vector<detail::WarpRange> detail::ranges_of(const Program& program,
                                                 const Instruction& instruction, bool walk) {
    const auto parts = walk ? std::nullopt : parts_of(program, instruction);
    if (!parts) return {{0, program.threads, {}, {}, false}};
    std::vector<WarpRange> ranges;
    if (parts->outer.times > 0)
        ranges.push_back({0, parts->inner_unit, parts->outer, parts->inner, true});
    if (parts->tail.times > 0)
        ranges.push_back(
            {parts->tail_begin, parts->tail_begin + parts->inner_unit, {}, parts->tail, false});
    if (parts->rest_begin < program.threads)
        ranges.push_back({parts->rest_begin, program.threads, {}, {}, false});
    return ranges;
}

detail::Pieces::Pieces(const Program& program, const WarpRange& warps) : range(warps) {
    constexpr std::uint64_t piece_threads = 1024 * warp_lanes;
    const std::uint64_t tile = threads_of_tile(program);
    threads = piece_threads / tile * tile;
    count = (range.end - range.begin + threads - 1) / threads;
}

void detail::make_ascending(WarpFamily& family) {
    for (Repetition* repetition : {&family.outer, &family.inner}) {
        if (static_cast<std::int64_t>(repetition->advance_bytes) >= 0) continue;
        family.access = shifted(family.access, (repetition->times - 1) * repetition->advance_bytes);
        repetition->advance_bytes = 0 - repetition->advance_bytes;
    }
}

namespace {

// In the following, a unit is a line or a sector.

// True if shifting [low, high] by `advance`, `times` times over, ever puts two copies on one unit,
// starting from any of the alignments that `alignment_step` (a divisor) lets `low` have.
bool copies_share_a_unit(Extent extent, const Repetition& repetition, std::uint64_t alignment_step,
                         std::uint64_t unit_bytes) {
    if (repetition.times <= 1) return false;
    const std::uint64_t span = extent.high - extent.low + 1;
    if (repetition.advance_bytes < span) return true;
    const std::uint64_t step =
        std::gcd(unit_bytes, std::gcd(alignment_step, repetition.advance_bytes));
    for (std::uint64_t at = extent.low % step; at < unit_bytes; at += step)
        if ((at + span - 1) / unit_bytes == (at + repetition.advance_bytes) / unit_bytes)
            return true;
    return false;
}

// True if the first extent ends on another unit than the second begins on, wherever multiples of
// `step` (a divisor of a unit) move both.
bool ends_before(const Extent& first, const Extent& second, std::uint64_t step,
                 std::uint64_t unit_bytes) {
    for (std::uint64_t move = 0; move < unit_bytes; move += step)
        if ((first.high + move) / unit_bytes == (second.low + move) / unit_bytes) return false;
    return true;
}

// Warps with gaps between them in one stretch of memory, and the repetition that they share.
struct Stretch {
    Extent extent;
    Repetition near;
};

// Takes a warp into the stretch where it follows without a gap: the halves of a row of 64 elements
// are repeated together, and would otherwise be two overlapping stretches.
bool extend(Stretch& stretch, const Extent& next, const Repetition& near, const Repetition& far,
            std::uint64_t unit_bytes) {
    if (next.low != stretch.extent.high + 1 || near.times != stretch.near.times ||
        near.advance_bytes != stretch.near.advance_bytes)
        return false;
    const std::uint64_t step =
        std::gcd(unit_bytes, std::gcd(near.advance_bytes, far.advance_bytes));
    if (!ends_before(stretch.extent, next, step, unit_bytes)) return false;
    stretch.extent.high = next.high;
    return true;
}

// The larger of two repetitions is the second one, so that it repeats one stretch of memory. The
// pattern does not say which one is larger: both orders are tried where they give the same.
enum class Order { inner_first, outer_first };

bool is_proven_apart(const Program& program, const Placement& placement,
                     const Instruction& instruction, Order order, std::uint64_t unit_bytes) {
    // More families than this are not compared with each other: false is always a safe answer.
    constexpr std::size_t most_families = 4096;
    const auto parts = detail::parts_of(program, instruction);
    const bool has_incomplete_unit = parts && parts->tail_begin < program.threads;
    std::vector<Stretch> stretches;  // of one copy of the unit
    Repetition outer;                // of the unit
    bool too_many = false;
    each_family(program, placement, instruction, false, [&](const WarpFamily& family) {
        // The incomplete unit at the end, if any, is a part of one more copy of the unit: counting
        // one copy more below covers it.
        if (too_many || family.access.active_lanes == 0) return;
        if (!family.whole_unit && outer.times > 1) return;
        Repetition near = family.inner;
        Repetition far = family.outer;
        if (family.whole_unit && has_incomplete_unit) ++far.times;
        if (order == Order::outer_first) {
            near = far;
            far = family.inner;
        }
        if (family.whole_unit) outer = far;
        const Extent extent = extent_of(family.access);
        if (stretches.empty() || !extend(stretches.back(), extent, near, outer, unit_bytes))
            stretches.push_back({extent, near});
        too_many = stretches.size() > most_families;
    });
    if (too_many) return false;
    if (stretches.empty()) return true;

    std::vector<Extent> covered;  // each with its inner repetitions
    for (const Stretch& stretch : stretches) {
        if (copies_share_a_unit(stretch.extent, stretch.near, outer.advance_bytes, unit_bytes))
            return false;
        const std::uint64_t last = (stretch.near.times - 1) * stretch.near.advance_bytes;
        covered.push_back({stretch.extent.low, stretch.extent.high + last});
    }

    std::sort(covered.begin(), covered.end(),
              [](const Extent& a, const Extent& b) { return a.low < b.low; });
    const std::uint64_t step = std::gcd(unit_bytes, outer.advance_bytes);
    for (std::size_t i = 0; i + 1 < covered.size(); ++i) {
        if (covered[i + 1].low <= covered[i].high) return false;
        if (!ends_before(covered[i], covered[i + 1], step, unit_bytes)) return false;
    }
    // gcd(0, x) is x: the unit starts at one alignment only, its copies at multiples of `advance`.
    return !copies_share_a_unit({covered.front().low, covered.back().high}, outer, 0, unit_bytes);
}

bool is_whole(const WarpAccess& access, std::uint64_t unit_bytes) {
    std::array<std::uint64_t, warp_lanes> units;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        units[lane] = access.addresses[lane] / unit_bytes;
    std::ranges::sort(units);
    const auto distinct = std::unique(units.begin(), units.end()) - units.begin();
    return access.active_lanes == all_lanes && static_cast<std::uint64_t>(distinct) * unit_bytes ==
                                                   std::uint64_t{warp_lanes} * access.width_bytes;
}

// Warps that take whole units of an array of which nobody takes an element twice. The stretches of
// such warps may overlap, so that is_proven_apart() cannot decide.
bool take_whole_units(const Program& program, const Placement& placement,
                      const Instruction& instruction, std::uint64_t unit_bytes) {
    bool are_whole = instruction.takes_all;
    if (are_whole)
        each_family(program, placement, instruction, false, [&](const WarpFamily& family) {
            const auto keeps_units = [&](const Repetition& repetition) {
                return repetition.times <= 1 || repetition.advance_bytes % unit_bytes == 0;
            };
            are_whole = are_whole && keeps_units(family.outer) && keeps_units(family.inner) &&
                        is_whole(family.access, unit_bytes);
        });
    return are_whole;
}

bool warps_share_no_unit(const Program& program, const Placement& placement,
                         const Instruction& instruction, std::uint64_t unit_bytes) {
    if (take_whole_units(program, placement, instruction, unit_bytes)) return true;
    const std::optional<Period> period = instruction.formula->period();
    if (!period && program.threads > warp_lanes) return false;
    if (is_proven_apart(program, placement, instruction, Order::inner_first, unit_bytes))
        return true;
    // Without an incomplete period at the end every warp is a copy by both repetitions.
    const std::uint64_t tile = threads_of_tile(program);
    return period && program.threads % std::lcm(period->threads, tile) == 0 &&
           is_proven_apart(program, placement, instruction, Order::outer_first, unit_bytes);
}

}  // namespace

bool costs_too_much(const Program& program, const Placement& placement,
                    const Instruction& instruction, const Sensitivity& sensitivity) {
    constexpr std::uint64_t most_evaluations = 1 << 20;
    if (!sensitivity.hashes_lines || !instruction.formula->period()) return false;
    if (program.threads / warp_lanes <= most_evaluations / 2) return false;
    std::uint64_t cost = 0;
    each_family(program, placement, instruction, false, [&](const WarpFamily& family) {
        if (cost > most_evaluations || family.access.active_lanes == 0) return;
        const std::uint64_t more = detail::walk_of(family, sensitivity).cost;
        cost += std::min(more, most_evaluations + 1);
    });
    return cost > most_evaluations;
}

bool warps_share_no_line(const Program& program, const Placement& placement,
                         const Instruction& instruction) {
    return warps_share_no_unit(program, placement, instruction, line_bytes);
}

bool warps_share_no_sector(const Program& program, const Placement& placement,
                           const Instruction& instruction) {
    return warps_share_no_unit(program, placement, instruction, sector_bytes);
}

}  // namespace coalprof
