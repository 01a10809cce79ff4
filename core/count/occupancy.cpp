#include "core/count/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/access/warp_access.h"

namespace coalprof {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t divided_up(std::uint64_t number, std::uint64_t unit) {
    return (number + unit - 1) / unit;
}
constexpr std::uint64_t rounded_up(std::uint64_t number, std::uint64_t unit) {
    return divided_up(number, unit) * unit;
}

std::uint64_t warps_of(const KernelNeeds& needs) { return divided_up(needs.block, warp_lanes); }

std::uint64_t registers_of_warp(const OccupancyLimits& limits, const KernelNeeds& needs) {
    return rounded_up(std::uint64_t{needs.registers_per_thread} * warp_lanes, limits.register_unit);
}

// Registers as the hardware allocates them for a block, with warps rounded up.
std::uint64_t registers_of_block(const OccupancyLimits& limits, const KernelNeeds& needs) {
    const std::uint64_t warps = rounded_up(warps_of(needs), limits.warp_unit);
    if (!limits.registers_by_block) return warps * registers_of_warp(limits, needs);
    return rounded_up(warps * warp_lanes * needs.registers_per_thread, limits.register_unit);
}

// Blocks that the register file can hold. Where it is divided among sub-partitions, each holds
// whole warps.
std::uint64_t blocks_by_registers(const OccupancyLimits& limits, const KernelNeeds& needs) {
    if (needs.registers_per_thread == 0) return unlimited;
    if (needs.registers_per_thread > limits.registers_per_thread) return 0;
    const std::uint64_t of_block = registers_of_block(limits, needs);
    if (of_block > limits.registers_per_block) return 0;
    if (limits.registers_by_block) return limits.registers / of_block;
    const std::uint64_t of_partition = limits.registers / limits.sub_partitions;
    const std::uint64_t warps =
        of_partition / registers_of_warp(limits, needs) * limits.sub_partitions;
    return warps / warps_of(needs);
}

std::uint64_t shared_of_block(const OccupancyLimits& limits, const KernelNeeds& needs) {
    // Bounded, so that an absurd number is refused and does not wrap around.
    const std::uint64_t asked = std::min<std::uint64_t>(needs.shared_bytes, 1ull << 40);
    return rounded_up(asked + limits.shared_reserved_bytes, limits.shared_unit_bytes);
}

// The split of the multiprocessor's memory: as preferred, unless a block needs more shared memory.
L1Split split_for(const Rules& rules, const KernelNeeds& needs) {
    const L1Split preferred = l1_split(rules.l1, needs.shared_percent);
    const std::uint64_t wanted = shared_of_block(rules.occupancy, needs);
    const auto fits = [&](const L1Split& split) { return split.shared_kib * 1024ull >= wanted; };
    if (fits(preferred) || !rules.l1.percent_of_largest)
        return fits(preferred) ? preferred : rules.l1.splits.back();
    const auto found = std::ranges::find_if(rules.l1.splits, fits);
    return found == rules.l1.splits.end() ? rules.l1.splits.back() : *found;
}

std::uint64_t blocks_by_shared(const OccupancyLimits& limits, const KernelNeeds& needs,
                               const L1Split& split) {
    const std::uint64_t of_block = shared_of_block(limits, needs);
    if (of_block > std::uint64_t{limits.shared_bytes_per_block} + limits.shared_reserved_bytes)
        return 0;
    return of_block == 0 ? unlimited : split.shared_kib * 1024ull / of_block;
}

std::string why_impossible(const OccupancyLimits& limits, const KernelNeeds& needs) {
    if (needs.block == 0) return "a block has at least one thread";
    if (needs.block > limits.threads_per_block)
        return fmt::format("a block has {} threads, the most is {}", needs.block,
                           limits.threads_per_block);
    if (needs.registers_per_thread > limits.registers_per_thread)
        return fmt::format("a thread uses {} registers, the most is {}", needs.registers_per_thread,
                           limits.registers_per_thread);
    if (needs.shared_bytes > limits.shared_bytes_per_block)
        return fmt::format("a block uses {} bytes of shared memory, the most is {} bytes",
                           needs.shared_bytes, limits.shared_bytes_per_block);
    if (registers_of_block(limits, needs) > limits.registers_per_block)
        return fmt::format("a block takes {} registers, the most is {}",
                           registers_of_block(limits, needs), limits.registers_per_block);
    return {};
}

}  // namespace

std::string_view name_of(Limiter limiter) {
    constexpr std::array<std::string_view, limiter_count> names{
        "warps", "registers", "shared memory", "blocks", "barriers"};
    return names[static_cast<std::size_t>(limiter)];
}

Occupancy occupancy(const Rules& rules, const KernelNeeds& needs) {
    const OccupancyLimits& limits = rules.occupancy;
    const L1Split split = split_for(rules, needs);
    Occupancy answer;
    answer.most_warps = limits.warps();
    answer.shared_kib = split.shared_kib;
    answer.l1_kib = split.l1_kib;
    answer.impossible = why_impossible(limits, needs);
    if (needs.block == 0) return answer;

    const bool too_long = needs.block > limits.threads_per_block;
    std::array<std::uint64_t, limiter_count> most{
        too_long ? 0 : limits.warps() / warps_of(needs),
        blocks_by_registers(limits, needs),
        blocks_by_shared(limits, needs, split),
        limits.blocks,
        limits.barriers && needs.barriers > 0 ? *limits.barriers / needs.barriers : unlimited,
    };
    const std::uint64_t blocks = *std::ranges::min_element(most);
    for (std::size_t i = 0; i < limiter_count; ++i)
        if (most[i] == blocks) answer.limiters.push_back(static_cast<Limiter>(i));
    answer.active_blocks = static_cast<std::uint32_t>(blocks);
    answer.active_warps = static_cast<std::uint32_t>(blocks * warps_of(needs));
    if (blocks == 0 && answer.impossible.empty())
        answer.impossible =
            fmt::format("not one block fits: {} allow none", name_of(answer.limiters.front()));
    return answer;
}

}  // namespace coalprof
