#include "core/count/footprint.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace coalprof {
namespace {

// Blocks from the one that holds `first` to the one that holds `last`.
std::uint64_t spanned(std::uint64_t first, std::uint64_t last, std::uint64_t block_bytes) {
    return last / block_bytes - first / block_bytes + 1;
}

struct Runs {
    std::uint32_t width_bytes;
    std::uint64_t threads;

    std::optional<ByteRuns> single(std::uint64_t first, std::uint64_t advance,
                                   std::uint64_t period) const {
        return ByteRuns{first * width_bytes, width_bytes, advance * width_bytes,
                        (threads + period - 1) / period};
    }
    std::optional<ByteRuns> of(const CustomFormula& f) const {
        const std::optional<Period> period = f.period();
        if (!period) return std::nullopt;
        if (period->threads == 1) return of_line(f, period->advance);
        const auto run = run_of_period(f, *period);
        if (!run) return std::nullopt;
        if (run->elements == 1) return single(run->first, period->advance, period->threads);
        if (threads % period->threads != 0) return std::nullopt;
        return ByteRuns{run->first * width_bytes, run->elements * width_bytes,
                        period->advance * width_bytes, threads / period->threads};
    }

    std::optional<ByteRuns> of_line(const CustomFormula& f, std::uint64_t advance) const {
        // Runs are stated upwards: an index that goes down ends where its run begins.
        const bool goes_down = static_cast<std::int64_t>(advance) < 0;
        std::uint64_t first = 0;
        f.evaluate(goes_down ? threads - 1 : 0, 1, &first);
        if (first == idle_lane) return ByteRuns{0, 0, 0, 0};
        return single(first, goes_down ? 0 - advance : advance, 1);
    }

    // Consecutive elements, which warp after warp touches in the order of memory.
    struct Run {
        std::uint64_t first = 0;
        std::uint64_t elements = 0;
    };
    std::optional<Run> run_of_period(const CustomFormula& f, const Period& period) const {
        constexpr std::uint64_t most_walked = 1 << 16;
        if (static_cast<std::int64_t>(period.advance) < 0) return std::nullopt;
        Run run;
        f.evaluate(0, 1, &run.first);
        if (period.inner_threads == 1 && period.inner_advance <= 1) {
            run.elements = period.inner_advance == 0 ? 1 : period.threads;
            return run;
        }
        if (period.inner_threads != 0 || period.threads > most_walked) return std::nullopt;
        std::array<std::uint64_t, warp_lanes> elements;
        for (std::uint64_t at = 0; at < period.threads; at += warp_lanes) {
            const auto count = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(warp_lanes, period.threads - at));
            f.evaluate(at, count, elements.data());
            std::sort(elements.begin(), elements.begin() + count);  // idle lanes last
            if (at == 0) run.first = elements.front();
            for (std::uint32_t k = 0; k < count && elements[k] != idle_lane; ++k) {
                const std::uint64_t place = elements[k] - run.first;
                if (place > run.elements || place + 1 < run.elements) return std::nullopt;
                run.elements = place + 1;
            }
        }
        return run;
    }
};

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

std::uint64_t blocks_of(const ByteRuns& run, std::uint64_t block_bytes) {
    if (run.bytes == 0 || run.copies == 0) return 0;
    const auto blocks_at = [&](std::uint64_t first) {
        return spanned(first, first + run.bytes - 1, block_bytes);
    };
    if (run.advance_bytes == 0) return blocks_at(run.first_byte);
    // A whole block is left out between two runs only if the gap is at least one long.
    const bool gapless = run.advance_bytes < run.bytes + block_bytes;
    const std::uint64_t last_start = run.first_byte + (run.copies - 1) * run.advance_bytes;
    if (gapless) return spanned(run.first_byte, last_start + run.bytes - 1, block_bytes);
    // Else no two runs share one, and the offset of each in its first block repeats.
    const std::uint64_t phases = block_bytes / std::gcd(block_bytes, run.advance_bytes);
    std::uint64_t sum = 0;
    for (std::uint64_t phase = 0; phase < std::min(phases, run.copies); ++phase)
        sum += blocks_at(run.first_byte + phase * run.advance_bytes) *
               ((run.copies - phase - 1) / phases + 1);
    return sum;
}

std::optional<ByteRuns> runs_of(const Instruction& instruction, std::uint64_t threads) {
    if (instruction.takes_all) return ByteRuns{0, threads * instruction.width_bytes, 0, 1};
    return Runs{instruction.width_bytes, threads}.of(*instruction.formula);
}

std::optional<std::uint64_t> blocks_of(std::span<const Instruction> instructions,
                                       std::uint64_t threads, std::uint64_t block_bytes) {
    if (instructions.size() == 1) {
        const Instruction& only = instructions.front();
        if (const auto run = runs_of(only, threads)) return blocks_of(*run, block_bytes);
    }
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
    return all + static_cast<std::uint64_t>(static_cast<double>(later_half) *
                                            static_cast<double>(threads - walked) /
                                            static_cast<double>(walked / 2));
}

}  // namespace coalprof
