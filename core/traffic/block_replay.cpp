#include "core/traffic/block_replay.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/pattern/memory_settings.h"
#include "core/runtime/parallel.h"
#include "core/traffic/issued.h"
#include "core/traffic/store_merge.h"
#include "core/traffic/touched_lines.h"

namespace coalprof {
namespace {

// The limits of one replay, warp instructions and the lines that they touch: together 3 ms at 150
// ns and 20 ns each. Neighbours are compared at the same cost once more.
struct Budget {
    double warps = 8'000;
    double lines = 100'000;
};
constexpr Budget whole_history{};
// The most lines in the comparison of neighbours: the table fits a core's own cache.
constexpr std::uint64_t most_compared = 1 << 14;
// The most blocks, and pairs of neighbours, for launches whose blocks share nothing but borders.
constexpr std::uint64_t near_blocks = 32;
constexpr Budget of_pairs{1'000, 4'000};

bool is_replayed(const Instruction& one) {
    return one.space == Space::global && one.path != LoadPath::tex && !is_atomic(one);
}

std::uint32_t ones(std::uint32_t bits) { return static_cast<std::uint32_t>(std::popcount(bits)); }

constexpr std::uint64_t nowhere = ~std::uint64_t{0};

// The outermost lines that a warp loaded and waits for before it stores.
struct AwaitedLines {
    std::uint64_t first = nowhere;
    std::uint64_t last = nowhere;
    // The shared part of the lines that both wait for: 0, 0.5 or 1.
    double in_common(const AwaitedLines& other) const {
        if (first == nowhere) return 0;
        return (first == other.first ? 0.5 : 0) + (last == other.last ? 0.5 : 0);
    }
};

// An element of a warp.
struct WarpElement {
    std::uint64_t block = nowhere;
    std::uint32_t warp = 0;
    std::uint32_t element = 0;
    bool operator==(const WarpElement&) const = default;
};

// Lines whose requests wait to leave for L2: a further request for one may merge with it.
class LeavingLines {
 public:
    // The state that a further request for a line finds.
    struct Found {
        std::uint32_t asked_sectors = 0;  // by all requests for it
        std::uint32_t last_sectors = 0;   // by the last one
        AwaitedLines awaited;             // of the warp with the last request
        WarpElement asked_by;
    };

    explicit LeavingLines(std::uint32_t most) : entries_(most) {}
    void clear() { std::ranges::fill(entries_, Entry{}); }
    // None if no request for the line is in flight; this one is from now on.
    std::optional<Found> join(const LineTouched& touched, const AwaitedLines& awaited,
                              const WarpElement& asked_by) {
        for (Entry& entry : entries_)
            if (entry.line == touched.line) {
                const Found before = entry.found;
                entry.found = {before.asked_sectors | touched.sectors, touched.sectors, awaited,
                               asked_by};
                return before;
            }
        entries_[next_] = {touched.line, {touched.sectors, touched.sectors, awaited, asked_by}};
        next_ = next_ + 1 == entries_.size() ? 0 : next_ + 1;
        return std::nullopt;
    }

 private:
    struct Entry {
        std::uint64_t line = nowhere;
        Found found;
    };
    std::vector<Entry> entries_;
    std::size_t next_ = 0;
};

// Tables kept from one launch to the next: filling them anew would cost more than a replay of a few
// blocks does.
struct Tables {
    UnitTally compared_loads;
    UnitTally compared_stores;
};

class Replay {
 public:
    Replay(const Program& program, const LaunchOrder& order, const Multiprocessor& multiprocessor)
        : program_(program),
          order_(order),
          multiprocessor_(multiprocessor),
          l1_(multiprocessor.l1_bytes),
          lent_(spares_of<Tables>()),
          tables_(lent_.get()) {
        for (const Instruction& one : program.instructions) {
            replayed_.instructions += 1;
            if (is_pointer_load(program, one)) replayed_.pointer_loads += 1;
            has_barrier_ = has_barrier_ || one.space == Space::shared;
            if (!is_replayed(one)) continue;
            instructions_.push_back(&one);
            const bool is_load = one.kind == AccessKind::load;
            (is_load ? loads_ : stores_).push_back(&one);
            ReplayedKind& kind = is_load ? replayed_.loads : replayed_.stores;
            kind.is_branched = kind.is_branched || may_idle(one.formula);
            replayed_.divides = replayed_.divides || divides(one.formula);
            gathers_ =
                gathers_ && hashes_of(one.formula) > 0 && one.array == instructions_.front()->array;
            if (!is_pointer_load(program, one))
                replayed_.element_bytes = std::max(replayed_.element_bytes, one.width_bytes);
        }
        replayed_.load_instructions = static_cast<double>(loads_.size());
        replayed_.loads_pointers_only =
            !loads_.empty() && std::ranges::all_of(loads_, [&](const Instruction* one) {
                return is_pointer_load(program, *one);
            });
        replayed_.index_instructions = index_instructions(program);
        // Arrays never share a line, and their distances are not known.
        for (std::size_t k = 0; k < program.arrays.size(); ++k)
            placement_.base_addresses.push_back(k << 44);
        backward_share_ = 0.5 * std::sqrt(std::min(1.0, order.block / 1024.0));
        const double at_once =
            static_cast<double>(multiprocessor.count) * multiprocessor.resident_blocks;
        const auto blocks = static_cast<double>(order.blocks);
        replayed_.started_together = std::min(1.0, at_once / blocks);
        replayed_.busy_share = std::min(1.0, blocks / multiprocessor.count);
        replayed_.blocks_of_processor =
            std::max(1.0, std::min(blocks, at_once) / multiprocessor.count);
        lines_of_block_ = lines_of_some_warps() * static_cast<double>(warps_of_block());
        set_piling();
    }

    // The number of blocks that may be replayed; at least one.
    std::uint64_t blocks_within(const Budget& budget) const {
        const double blocks = std::min(budget.warps / static_cast<double>(warps_of_block()),
                                       budget.lines / std::max(lines_of_block_, 1.0));
        return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(blocks));
    }

    void empty_l1() {
        l1_.clear();
        leaving_loads_.clear();
        leaving_stores_.clear();
        leaving_bytes_.clear();
    }

    // Blocks that start together on one multiprocessor. Threads do not wait between their elements,
    // so that a block has made all its loads before the next one comes. Its stores come between the
    // loads of the block that replaces it.
    void run_together(const std::vector<std::uint64_t>& blocks) {
        const bool stores_later = !loads_.empty() && !stores_.empty();
        // Waiting requests are kept beside the stores that these blocks have yet to make.
        const bool is_beside = !running_.empty() && running_.front().place == 0;
        std::uint32_t place = is_beside ? multiprocessor_.resident_blocks : 0;
        std::vector<BlockInTime> starting;
        for (const std::uint64_t which : blocks)
            starting.push_back({which, place++, runs_backward(which)});
        if (running_.empty()) {
            for (const Instruction* one : stores_later ? loads_ : instructions_)
                for (const BlockInTime& block : starting) run_all(*one, block);
        } else {
            for (std::size_t k = 0; k < running_.size(); ++k)
                follow(running_[k], k < starting.size() ? &starting[k] : nullptr);
        }
        if (stores_later) running_ = std::move(starting);
    }

    // The overlap of neighbouring blocks: each touches its sectors once, then all of them do.
    // `runs_them`: also each on a separate multiprocessor.
    void compare(std::uint64_t first, std::uint64_t count, bool runs_them) {
        const auto lines = static_cast<std::uint64_t>(lines_of_block_ * static_cast<double>(count));
        tables_.compared_loads.begin(lines, most_compared);
        tables_.compared_stores.begin(lines, most_compared);
        for (std::uint64_t block = first; block < first + count; ++block) {
            if (runs_them) empty_l1();
            tables_.compared_loads.next_group();
            tables_.compared_stores.next_group();
            each_line_of_block(block, [&](const Instruction& one, const LineTouched& touched) {
                const bool is_load = one.kind == AccessKind::load;
                (is_load ? tables_.compared_loads : tables_.compared_stores)
                    .touch(touched.line, touched.sectors);
                if (runs_them) run(one, touched);
            });
        }
        add(tables_.compared_loads, replayed_.loads);
        add(tables_.compared_stores, replayed_.stores);
    }

    Replayed& result() {
        replayed_.few_stored = replayed_.stores_pile_up && replayed_.stores.line_again > 0 &&
                               stored_.size() <= leaving_lines;
        const std::uint32_t most = !loads_.empty()               ? gathering_updates
                                   : replayed_.element_bytes < 4 ? leaving_parts
                                                                 : gathering_lines;
        replayed_.gathered_lines =
            gathers_ && stored_.size() <= most ? static_cast<double>(stored_.size()) : 0;
        return replayed_;
    }

 private:
    struct BlockInTime {
        std::uint64_t which = 0;   // of the grid
        std::uint32_t place = 0;   // among the resident blocks
        bool is_backward = false;  // its warps come in reverse order
    };

    void run_all(const Instruction& one, const BlockInTime& block) {
        for (std::uint32_t element = 0; element < order_.per_thread; ++element)
            for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp)
                run_warp(one, element, block, warp);
    }
    void run_warp(const Instruction& one, std::uint32_t element, const BlockInTime& block,
                  std::uint32_t warp) {
        each_line(one, element, block, warp,
                  [&](const LineTouched& touched) { run(one, touched); });
    }
    // The stores of `ending` and the loads of `starting`, if there is one, alternating.
    void follow(const BlockInTime& ending, const BlockInTime* starting) {
        const std::size_t warps = std::size_t{order_.per_thread} * order_.block_warps();
        const auto run_number = [&](const std::vector<const Instruction*>& instructions,
                                    std::size_t number, const BlockInTime& block) {
            const auto of_instruction = static_cast<std::uint32_t>(number % warps);
            run_warp(*instructions[number / warps], of_instruction / order_.block_warps(), block,
                     of_instruction % order_.block_warps());
        };
        std::size_t loaded = 0;
        for (std::size_t stored = 0; stored < stores_.size() * warps; ++stored) {
            run_number(stores_, stored, ending);
            for (; starting && loaded * stores_.size() < (stored + 1) * loads_.size(); ++loaded)
                run_number(loads_, loaded, *starting);
        }
    }

    static void add(const UnitTally& compared, ReplayedKind& sums) {
        const double of_blocks = compared.of_groups()[0];
        sums.compared_sectors += static_cast<double>(compared.touched_sectors());
        sums.block_sectors += of_blocks;
        sums.shared_sectors += of_blocks - compared.of_all()[0];
    }

    std::uint64_t warps_of_block() const {
        return std::uint64_t{order_.block_warps()} * order_.per_thread *
               std::max<std::size_t>(1, instructions_.size());
    }

    // The mean over a few warps of the whole launch.
    double lines_of_some_warps() {
        constexpr std::uint64_t some = 4;
        double lines = 0;
        for (const Instruction* one : instructions_)
            for (std::uint64_t k = 0; k < some; ++k) {
                const std::uint64_t first = order_.threads / some * k / warp_lanes * warp_lanes;
                const std::uint64_t count = std::min<std::uint64_t>(warp_lanes, order_.threads);
                lines += lines_of(*one, first, static_cast<std::uint32_t>(count));
            }
        return instructions_.empty() ? 0 : lines / static_cast<double>(some * instructions_.size());
    }

    // Decides if stores pile up, and which of them need not wait, from a few warps all over the
    // launch.
    void set_piling() {
        constexpr std::uint64_t some = 4;
        constexpr double many_lines = 3;
        const auto count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, order_.threads));
        double lines = 0;
        double passes = 0;  // of 128 bytes of data
        double lines_of_passes = 0;
        for (const Instruction* one : stores_) {
            const std::uint32_t lanes_of_pass = warp_lanes / std::max(1u, one->width_bytes / 4);
            for (std::uint64_t k = 0; k < some; ++k) {
                const std::uint64_t first = order_.threads / some * k / warp_lanes * warp_lanes;
                lines += lines_of(*one, first, count);
                for (std::uint32_t lane = 0; lane < count; lane += lanes_of_pass) {
                    passes += 1;
                    lines_of_passes +=
                        lines_of(*one, first + lane, std::min(lanes_of_pass, count - lane));
                }
            }
        }
        replayed_.stores_pile_up = lines_of_passes > many_lines * passes;
        replayed_.lines_of_store = lines / some;
        // While the warps of a full multiprocessor store, as many of their requests leave as may
        // wait; the others merge. Stores to 4 and 16 lines: 17 to 44 for each 64 warps
        // (tests/data).
        const double of_wave = lines / some * order_.block_warps() * order_.per_thread *
                               multiprocessor_.resident_blocks;
        if (of_wave > 0) replayed_.least_leaving = std::min(1.0, leaving_lines / of_wave);
    }

    double lines_of(const Instruction& one, std::uint64_t first, std::uint32_t lanes) {
        touched_.set(access_of_warp(program_, placement_, one, first, lanes));
        return static_cast<double>(touched_.lines().size());
    }

    // A warp makes all its loads, one after the other, before it waits for what it stores.
    template <typename Visit>
    void each_line_of_block(std::uint64_t which, Visit visit) {
        const BlockInTime block{which, 0, runs_backward(++compared_blocks_)};
        const auto each = [&](const Instruction& one, std::uint32_t element, std::uint32_t warp) {
            each_line(one, element, block, warp,
                      [&](const LineTouched& touched) { visit(one, touched); });
        };
        for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp)
            for (std::uint32_t element = 0; element < order_.per_thread; ++element)
                for (const Instruction* one : loads_) each(*one, element, warp);
        for (const Instruction* one : stores_)
            for (std::uint32_t element = 0; element < order_.per_thread; ++element)
                for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp)
                    each(*one, element, warp);
    }

    // Hashes of consecutive numbers are evenly distributed.
    bool runs_backward(std::uint64_t number) const {
        return static_cast<double>(hash_of(number) >> 32) < backward_share_ * 0x1p32;
    }

    // The block's warp number `warp` in time.
    template <typename Visit>
    void each_line(const Instruction& one, std::uint32_t element, const BlockInTime& block,
                   std::uint32_t warp, Visit visit) {
        const std::uint32_t which = block.is_backward ? order_.block_warps() - 1 - warp : warp;
        const std::uint32_t lanes = order_.lanes_of(block.which, element, which);
        if (lanes == 0) return;
        const std::uint64_t first =
            order_.first_index(block.which, element) + std::uint64_t{which} * warp_lanes;
        touched_.set(access_of_warp(program_, placement_, one, first, lanes));
        running_now_ = {block.which, which, element};
        note_awaited(one,
                     (block.place * order_.per_thread + element) * order_.block_warps() + which);
        for (const LineTouched& touched : touched_.lines()) visit(touched);
    }

    // `thread_element`: an element of a warp, among the resident ones.
    void note_awaited(const Instruction& one, std::size_t thread_element) {
        if (loads_.empty() || stores_.empty() || has_barrier_) return;
        if (awaited_.size() <= thread_element) awaited_.resize(thread_element + 1);
        AwaitedLines& awaited = awaited_[thread_element];
        const std::span<const LineTouched> lines = touched_.lines();
        if (one.kind == AccessKind::load && !lines.empty())
            awaited = {lines.front().line, lines.back().line};
        of_warp_ = awaited;
    }

    void run(const Instruction& one, const LineTouched& touched) {
        const bool is_load = one.kind == AccessKind::load;
        ReplayedKind& sums = is_load ? replayed_.loads : replayed_.stores;
        sums.sectors += ones(touched.sectors);
        if (is_load && multiprocessor_.keeps_loads) {
            const std::uint32_t held = l1_.touch(touched.line, touched.sectors);
            sums.hit_sectors += ones(held);
            if (held == touched.sectors) return;
        }
        sums.requests += 1;
        LeavingLines& leaving = is_load               ? leaving_loads_
                                : one.width_bytes < 4 ? leaving_bytes_
                                                      : leaving_stores_;
        const auto before = leaving.join(touched, of_warp_, running_now_);
        // Where few lines are stored to, a merged request takes nothing more out of L1.
        if (!is_load && (!note_stored(touched.line) || !before))
            l1_.store(touched.line, touched.sectors);
        // Accesses that bypass L1 are held back only for the very same sectors.
        if (!before ||
            (is_load && !multiprocessor_.keeps_loads && before->last_sectors != touched.sectors))
            return;
        sums.line_again += 1;
        if (before->asked_by.block == running_now_.block) note_neighbours(before->asked_by, sums);
        sums.warp_again += before->asked_by == running_now_;
        sums.line_together += before->awaited.in_common(of_warp_);
        sums.sector_again += ones(before->asked_sectors & touched.sectors);
    }

    void note_neighbours(const WarpElement& before, ReplayedKind& sums) const {
        // Warps are assigned to the four schedulers in order.
        constexpr std::uint32_t schedulers = 4;
        const std::uint32_t apart =
            std::max(before.warp, running_now_.warp) - std::min(before.warp, running_now_.warp);
        sums.block_again += 1;
        sums.fours_again += before.warp / schedulers != running_now_.warp / schedulers;
        if (apart > 0) sums.apart_again += std::bit_width(apart) - 1;
    }

    // Remembers the line while there are few. Returns true if stores pile up for so few lines that
    // all of them may wait at the same time.
    bool note_stored(std::uint64_t line) {
        if (!replayed_.stores_pile_up && !gathers_) return false;
        if (stored_.size() <= gathering_updates &&
            std::ranges::find(stored_, line) == stored_.end())
            stored_.push_back(line);
        return replayed_.stores_pile_up && stored_.size() <= leaving_lines;
    }

    const Program& program_;
    const LaunchOrder& order_;
    const Multiprocessor& multiprocessor_;
    SectorCache l1_;
    LeavingLines leaving_loads_{leaving_lines};
    LeavingLines leaving_stores_{leaving_lines};
    LeavingLines leaving_bytes_{leaving_parts};
    Spares<Tables>::Lent lent_;
    Tables& tables_;
    Placement placement_;
    std::vector<const Instruction*> instructions_;
    std::vector<const Instruction*> loads_;  // of these
    std::vector<const Instruction*> stores_;
    std::vector<BlockInTime> running_;  // that have loaded the values they will store
    double lines_of_block_ = 0;
    bool gathers_ = true;                // all go to random places of one array
    std::vector<std::uint64_t> stored_;  // lines of piled-up or gathered stores, while few
    // The share of blocks whose warps come to L1 in reverse order: the more warps, the larger.
    // Fitted to loads of misaligned rows, whose first or last part comes again.
    double backward_share_ = 0;
    std::uint64_t compared_blocks_ = 0;
    bool has_barrier_ = false;           // warps wait for each other between loads and stores
    std::vector<AwaitedLines> awaited_;  // by each warp for each of its elements
    AwaitedLines of_warp_;               // the one that runs
    WarpElement running_now_;
    TouchedLines touched_;
    Replayed replayed_;
};

// True if every period of the instruction lies after the one before it, so that only neighbouring
// blocks can share lines: none that one multiprocessor of `count` has one after the other.
bool moves_on(const Instruction& one, const LaunchOrder& order, std::uint32_t count) {
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
    const double of_turn = static_cast<double>(step) / static_cast<double>(period->threads) *
                           order.block * order.per_thread * count * one.width_bytes;
    return (high - low) * one.width_bytes < step * one.width_bytes + line_bytes && step != 0 &&
           of_turn >= sector_bytes;
}

bool all_move_on(const Program& program, const LaunchOrder& order, std::uint32_t count) {
    for (const Instruction& one : program.instructions)
        if (is_replayed(one) && !moves_on(one, order, count)) return false;
    return true;
}

// The block that a multiprocessor takes as its number `which`. The first ones are assigned
// round-robin; later ones go to the multiprocessor that is free first, which is as good as random.
std::uint64_t block_of(const Multiprocessor& one, std::uint64_t number, std::uint64_t which) {
    const std::uint64_t lot = which < one.resident_blocks ? 0 : hash_of(which) >> 40;
    return which * one.count + (number + lot) % one.count;
}

// Replays the blocks of one multiprocessor, as many at a time as it holds.
void replay_multiprocessor(Replay& replay, const LaunchOrder& order, const Multiprocessor& one,
                           std::uint64_t number, std::uint64_t most_blocks) {
    replay.empty_l1();
    const std::uint64_t own = (order.blocks + one.count - 1) / one.count;
    const std::uint64_t seen = std::min(own, most_blocks);
    std::vector<std::uint64_t> together;
    Replayed warm;  // counts after about half of the blocks
    std::uint64_t warm_blocks = 0;
    const double before = replay.result().loads.line_again;
    bool starts_launch = true;  // the next blocks are the launch's first ones
    const auto run_together = [&] {
        replay.run_together(together);
        together.clear();
        if (std::exchange(starts_launch, false))
            replay.result().loads.first_again += replay.result().loads.line_again - before;
    };
    for (std::uint64_t which = 0; which < seen; ++which) {
        const std::uint64_t block = block_of(one, number, which);
        if (block < order.blocks) together.push_back(block);
        if (together.size() == one.resident_blocks) {
            run_together();
            if (2 * (which + 1) <= seen) {
                warm = replay.result();
                warm_blocks = which + 1;
            }
        }
    }
    run_together();
    run_together();  // no new ones: the last ones store
    // The rest is assumed to be like the second half of the replay, when caches were full.
    const double times = static_cast<double>(own - seen) /
                         static_cast<double>(std::max<std::uint64_t>(1, seen - warm_blocks));
    replay.result().loads.go_on_since(warm.loads, times);
    replay.result().stores.go_on_since(warm.stores, times);
}

void replay_history(Replay& replay, const LaunchOrder& order, const Multiprocessor& one) {
    const std::uint64_t affordable = replay.blocks_within(whole_history);
    const std::uint64_t own = (order.blocks + one.count - 1) / one.count;
    const std::uint64_t busy = std::min<std::uint64_t>(one.count, order.blocks);
    const std::uint64_t taken = std::clamp<std::uint64_t>(affordable / own, 1, busy);
    for (std::uint64_t k = 0; k < taken; ++k)
        replay_multiprocessor(replay, order, one, (2 * k + 1) * busy / (2 * taken), affordable);
    const std::uint64_t wave = std::uint64_t{one.count} * one.resident_blocks;
    const std::uint64_t compared = std::min({order.blocks, wave, affordable});
    replay.compare((order.blocks - compared) / 2, compared, false);
}

void replay_near(Replay& replay, const LaunchOrder& order) {
    const std::uint64_t affordable = replay.blocks_within(of_pairs);
    const std::uint64_t pairs = std::min({near_blocks / 2, (order.blocks + 1) / 2, affordable});
    for (std::uint64_t k = 0; k < pairs; ++k) {
        // Evenly spread, each drawn from its share: rows and tables repeat after a number of
        // blocks.
        const std::uint64_t low = (order.blocks - 1) * k / pairs;
        const std::uint64_t high = (order.blocks - 1) * (k + 1) / pairs;
        const std::uint64_t lot = hash_of(k + 1) >> 40;
        const std::uint64_t first = low + lot % std::max<std::uint64_t>(1, high - low);
        const std::uint64_t count = std::min<std::uint64_t>(2, order.blocks - first);
        replay.compare(first, count, true);  // neighbours run on other multiprocessors
    }
}

}  // namespace

void ReplayedKind::go_on_since(const ReplayedKind& before, double times) {
    for (double ReplayedKind::*sum :
         {&ReplayedKind::sectors, &ReplayedKind::hit_sectors, &ReplayedKind::requests,
          &ReplayedKind::line_again, &ReplayedKind::block_again, &ReplayedKind::fours_again,
          &ReplayedKind::apart_again, &ReplayedKind::warp_again, &ReplayedKind::line_together,
          &ReplayedKind::sector_again})
        this->*sum += (this->*sum - before.*sum) * times;
}

Replayed replay_blocks(const Program& program, const LaunchOrder& order,
                       const Multiprocessor& multiprocessor) {
    Replay replay(program, order, multiprocessor);
    replay.result().is_near = all_move_on(program, order, multiprocessor.count);
    if (replay.result().is_near)
        replay_near(replay, order);
    else
        replay_history(replay, order, multiprocessor);
    Replayed& result = replay.result();
    if (result.gathered_lines > 0) {
        set_gathered(order, multiprocessor, result);
    } else if (const auto leaving = leaving_of_same_lines(program, order, result)) {
        result.stores_same_lines = true;
        result.leaving = *leaving;
    } else if (result.few_stored) {
        result.leaving = leaving_when_piled_up(result);
    } else if (result.loads.sectors == 0 && result.stores.line_again > 0) {
        result.leaving = leaving_of_stores(program, order, multiprocessor, result);
    }
    return result;
}

}  // namespace coalprof
