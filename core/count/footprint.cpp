#include "core/count/footprint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace coalprof {
namespace {

// Distinct blocks of the indices [begin, end), in no order.
void collect(std::span<const Instruction> instructions, std::uint64_t begin, std::uint64_t end,
             std::uint64_t block_bytes, std::vector<std::uint64_t>& blocks) {
    blocks.clear();
    std::array<std::uint64_t, warp_lanes> elements;
    for (const Instruction& one : instructions) {
        for (std::uint64_t at = begin; at < end; at += warp_lanes) {
            const auto count =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, end - at));
            one.formula->evaluate(at, count, elements.data());
            for (std::uint32_t lane = 0; lane < count; ++lane) {
                if (elements[lane] == idle_lane) continue;
                const std::uint64_t block = elements[lane] * one.width_bytes / block_bytes;
                if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
            }
        }
    }
    std::ranges::sort(blocks);
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

// Threads that run at about the same time on one multiprocessor, so that its L1 merges their
// accesses.
constexpr std::uint64_t neighbours = 1 << 11;
// A launch is walked this far, less where it has many instructions; repeating parts are assumed to
// continue like the second half of the walk.
std::uint64_t walked_threads(std::size_t instructions) {
    constexpr std::uint64_t most_threads = 1 << 14;
    constexpr std::uint64_t most_accesses = most_threads << 4;
    return std::clamp(most_accesses / instructions / neighbours * neighbours, 2 * neighbours,
                      most_threads);
}

bool repeats_within(std::span<const Instruction> instructions, std::uint64_t threads) {
    return std::ranges::all_of(instructions, [&](const Instruction& one) {
        const auto period = one.formula->period();
        return period && period->threads <= threads;
    });
}

}  // namespace

std::optional<std::uint64_t> blocks_of(std::span<const Instruction> instructions,
                                       std::uint64_t threads, std::uint64_t block_bytes) {
    if (instructions.size() == 1 && instructions.front().takes_all)
        return (threads * instructions.front().width_bytes - 1) / block_bytes + 1;
    const std::uint64_t walked = std::min(threads, walked_threads(instructions.size()));
    if (walked < threads && !repeats_within(instructions, walked / 2)) return std::nullopt;

    std::vector<std::uint64_t> blocks;
    std::uint64_t apart = 0;  // if only neighbours share
    for (std::uint64_t at = 0; at < walked; at += neighbours) {
        collect(instructions, at, std::min(at + neighbours, walked), block_bytes, blocks);
        apart += blocks.size();
    }
    collect(instructions, 0, walked, block_bytes, blocks);
    const std::uint64_t all = blocks.size();
    // Neighbouring groups may share a block at their border, but not one in ten.
    if (10 * apart > 11 * all + 10 * (walked / neighbours)) return std::nullopt;
    if (walked == threads) return all;
    collect(instructions, 0, walked / 2, block_bytes, blocks);
    const std::uint64_t later_half = all - blocks.size();
    const double more = static_cast<double>(threads - walked) / static_cast<double>(walked / 2);
    return all + static_cast<std::uint64_t>(std::ceil(static_cast<double>(later_half) * more));
}

}  // namespace coalprof
