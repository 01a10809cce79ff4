#include "core/traffic/block_replay.h"

#include <bit>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "core/pattern/memory_settings.h"
#include "core/traffic/sector_cache.h"
#include "core/traffic/touched_lines.h"

namespace coalprof {
namespace {

// Warp instructions of one replay: 4 ms at 200 ns each.
constexpr std::uint64_t most_replayed = 20'000;
// Blocks that are looked at where blocks share nothing but borders; pairs of neighbours.
constexpr std::uint64_t near_blocks = 16;
constexpr std::uint64_t most_near = 4'000;

bool is_replayed(const Instruction& one) {
    return one.space == Space::global && one.path != LoadPath::tex && !is_atomic(one);
}

std::uint32_t ones(std::uint32_t bits) { return static_cast<std::uint32_t>(std::popcount(bits)); }

// Who asked for a line last: a small table that forgets.
class RequestLog {
 public:
    // Requests since this block asked for the line; 0: it did not, as far as is remembered.
    std::uint64_t again(std::uint64_t line, std::uint64_t block) {
        ++now_;
        Entry& entry = entries_[(line * 0x9E37'79B9'7F4A'7C15ull) >> (64 - size_bits)];
        const bool is_again = entry.line == line && entry.block == block;
        const std::uint64_t distance = is_again ? now_ - entry.time : 0;
        entry = {line, block, now_};
        return distance;
    }

 private:
    static constexpr int size_bits = 14;
    struct Entry {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint64_t block = 0;
        std::uint64_t time = 0;
    };
    std::uint64_t now_ = 0;
    std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << size_bits);
};

class Replay {
 public:
    Replay(const Program& program, const LaunchOrder& order, const Multiprocessor& multiprocessor)
        : program_(program),
          order_(order),
          multiprocessor_(multiprocessor),
          l1_(multiprocessor.l1_bytes) {
        for (const Instruction& one : program.instructions)
            if (is_replayed(one)) instructions_.push_back(&one);
        // Arrays never share a line, and where they lie to each other is not known.
        for (std::size_t k = 0; k < program.arrays.size(); ++k)
            placement_.base_addresses.push_back(k << 44);
    }

    std::uint64_t warps_of_block() const {
        return std::uint64_t{order_.block_warps()} * order_.per_thread *
               std::max<std::size_t>(1, instructions_.size());
    }

    void empty_l1() { l1_ = SectorCache(multiprocessor_.l1_bytes); }

    // Blocks that run at the same time on one multiprocessor.
    void run_together(const std::vector<std::uint64_t>& blocks) {
        for (const Instruction* one : instructions_)
            for (std::uint32_t element = 0; element < order_.per_thread; ++element)
                for (const std::uint64_t block : blocks) run(*one, element, block);
    }

    // How much neighbouring blocks share: each touches its sectors once, then all of them do.
    void compare(std::uint64_t first, std::uint64_t count) {
        std::unordered_map<std::uint64_t, std::uint32_t> all[2];
        double warps[2] = {0, 0};
        double once[2] = {0, 0};
        for (std::uint64_t block = first; block < first + count; ++block) {
            std::unordered_map<std::uint64_t, std::uint32_t> own[2];
            for (const Instruction* one : instructions_)
                for (std::uint32_t element = 0; element < order_.per_thread; ++element)
                    each_line(*one, element, block, [&](const LineTouched& touched) {
                        const bool is_store = one->kind == AccessKind::store;
                        warps[is_store] += ones(touched.sectors);
                        own[is_store][touched.line] |= touched.sectors;
                    });
            for (int kind = 0; kind < 2; ++kind)
                for (const auto& [line, sectors] : own[kind]) {
                    once[kind] += ones(sectors);
                    all[kind][line] |= sectors;
                }
        }
        for (int kind = 0; kind < 2; ++kind) {
            ReplayedKind& sums = kind == 0 ? replayed_.loads : replayed_.stores;
            double distinct = 0;
            for (const auto& [line, sectors] : all[kind]) distinct += ones(sectors);
            sums.compared_sectors += warps[kind];
            sums.block_sectors += once[kind];
            sums.shared_sectors += once[kind] - distinct;
        }
    }

    Replayed& result() { return replayed_; }

 private:
    template <typename Visit>
    void each_line(const Instruction& one, std::uint32_t element, std::uint64_t block,
                   Visit visit) {
        order_.each_warp(block, element, [&](std::uint64_t first, std::uint32_t lanes) {
            touched_.set(access_of_warp(program_, placement_, one, first, lanes));
            for (const LineTouched& touched : touched_.lines()) visit(touched);
        });
    }

    void run(const Instruction& one, std::uint32_t element, std::uint64_t block) {
        const bool is_load = one.kind == AccessKind::load;
        ReplayedKind& sums = is_load ? replayed_.loads : replayed_.stores;
        RequestLog& log = is_load ? loads_ : stores_;
        each_line(one, element, block, [&](const LineTouched& touched) {
            sums.sectors += ones(touched.sectors);
            if (is_load && multiprocessor_.keeps_loads) {
                const std::uint32_t held = l1_.touch(touched.line, touched.sectors);
                sums.hit_sectors += ones(held);
                if (held == touched.sectors) return;
            }
            sums.requests += 1;
            if (const std::uint64_t distance = log.again(touched.line, block)) {
                sums.line_again += 1;
                sums.log_distance += std::log2(static_cast<double>(distance));
            }
        });
    }

    const Program& program_;
    const LaunchOrder& order_;
    const Multiprocessor& multiprocessor_;
    SectorCache l1_;
    RequestLog loads_;
    RequestLog stores_;
    Placement placement_;
    std::vector<const Instruction*> instructions_;
    TouchedLines touched_;
    Replayed replayed_;
};

// Whether every period of the instruction lies behind the one before it, so that only neighbouring
// blocks can share lines.
bool moves_on(const Instruction& one, const LaunchOrder& order) {
    constexpr std::uint64_t most_threads = 1 << 14;
    const std::optional<Period> period = period_of(one.formula);
    if (!period || period->threads > most_threads) return false;
    std::uint64_t low = ~std::uint64_t{0};
    std::uint64_t high = 0;
    std::array<std::uint64_t, warp_lanes> elements;
    for (std::uint64_t at = 0; at < std::min(period->threads, order.threads); at += warp_lanes) {
        const auto count = static_cast<std::uint32_t>(
            std::min({std::uint64_t{warp_lanes}, period->threads - at, order.threads - at}));
        evaluate(one.formula, at, count, elements.data());
        for (std::uint32_t lane = 0; lane < count; ++lane) {
            if (elements[lane] == idle_lane) continue;
            low = std::min(low, elements[lane]);
            high = std::max(high, elements[lane]);
        }
    }
    if (period->threads >= order.threads || low > high) return true;
    const auto advance = static_cast<std::int64_t>(period->advance);
    const std::uint64_t step = static_cast<std::uint64_t>(advance < 0 ? -advance : advance);
    return (high - low) * one.width_bytes < step * one.width_bytes + line_bytes && step != 0;
}

bool all_move_on(const Program& program, const LaunchOrder& order) {
    for (const Instruction& one : program.instructions)
        if (is_replayed(one) && !moves_on(one, order)) return false;
    return true;
}

// The block that a multiprocessor takes as its number `which`. The first ones are dealt out in
// turn; later ones go to whoever is done first, which is as good as by lot.
std::uint64_t block_of(const Multiprocessor& one, std::uint64_t number, std::uint64_t which) {
    const std::uint64_t lot =
        which < one.resident_blocks ? 0 : which * 0x9E37'79B9'7F4A'7C15ull >> 40;
    return which * one.count + (number + lot) % one.count;
}

// The blocks that one multiprocessor takes, as many at a time as it holds.
void replay_multiprocessor(Replay& replay, const LaunchOrder& order, const Multiprocessor& one,
                           std::uint64_t number, std::uint64_t most_blocks) {
    replay.empty_l1();
    const std::uint64_t own = (order.blocks + one.count - 1) / one.count;
    std::vector<std::uint64_t> together;
    for (std::uint64_t which = 0; which < std::min(own, most_blocks); ++which) {
        const std::uint64_t block = block_of(one, number, which);
        if (block < order.blocks) together.push_back(block);
        if (together.size() == one.resident_blocks) {
            replay.run_together(together);
            together.clear();
        }
    }
    replay.run_together(together);
}

void replay_history(Replay& replay, const LaunchOrder& order, const Multiprocessor& one) {
    const std::uint64_t affordable =
        std::max<std::uint64_t>(1, most_replayed / replay.warps_of_block());
    const std::uint64_t own = (order.blocks + one.count - 1) / one.count;
    const std::uint64_t busy = std::min<std::uint64_t>(one.count, order.blocks);
    const std::uint64_t taken = std::clamp<std::uint64_t>(affordable / own, 1, busy);
    for (std::uint64_t k = 0; k < taken; ++k)
        replay_multiprocessor(replay, order, one, (2 * k + 1) * busy / (2 * taken), affordable);
    const std::uint64_t wave = std::uint64_t{one.count} * one.resident_blocks;
    const std::uint64_t compared = std::min({order.blocks, wave, affordable});
    replay.compare((order.blocks - compared) / 2, compared);
}

void replay_near(Replay& replay, const LaunchOrder& order) {
    const std::uint64_t affordable =
        std::max<std::uint64_t>(1, most_near / replay.warps_of_block());
    const std::uint64_t pairs = std::min({near_blocks / 2, (order.blocks + 1) / 2, affordable});
    for (std::uint64_t k = 0; k < pairs; ++k) {
        // Spread evenly, but for the sake of patterns that repeat not by a round number.
        const std::uint64_t first = pairs == 1 ? 0 : (order.blocks - 1) * k / pairs;
        const std::uint64_t count = std::min<std::uint64_t>(2, order.blocks - first);
        for (std::uint64_t block = first; block < first + count; ++block) {
            replay.empty_l1();  // neighbours run on other multiprocessors
            replay.run_together({block});
        }
        replay.compare(first, count);
    }
}

}  // namespace

Replayed replay_blocks(const Program& program, const LaunchOrder& order,
                       const Multiprocessor& multiprocessor) {
    Replay replay(program, order, multiprocessor);
    replay.result().is_near = all_move_on(program, order);
    if (replay.result().is_near)
        replay_near(replay, order);
    else
        replay_history(replay, order, multiprocessor);
    return replay.result();
}

}  // namespace coalprof
