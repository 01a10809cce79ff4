#include "core/traffic/store_merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "core/traffic/issued.h"
#include "core/traffic/touched_lines.h"
#include "core/traffic/work.h"

namespace coalprof {
namespace {

constexpr std::uint32_t schedulers = 4;  // of a multiprocessor since 5.0
// The most warps of a replay, no more than a multiprocessor holds; and the most stores, but the
// first group is always replayed whole.
constexpr std::uint32_t most_together = 64;
constexpr std::uint64_t most_stores = 1024;
constexpr std::uint64_t most_groups = 4;
constexpr int times_of_group = 4;

// Random numbers, the same for each launch.
class RandomChoices {
 public:
    bool says_yes(double probability) { return static_cast<double>(next()) < probability * 0x1p32; }
    std::size_t below(std::size_t count) { return next() % count; }

 private:
    std::uint64_t next() {
        const std::uint64_t spread = hash_of(++drawn_);
        return hash_of(spread ^ spread >> 29) >> 32;
    }
    std::uint64_t drawn_ = 0;
};

// The lines that one warp's store touches: some of Group::lines.
struct Store {
    std::size_t first = 0;
    std::size_t count = 0;
};

// Blocks resident on one multiprocessor at the same time.
struct Group {
    std::vector<LineTouched> lines;
    // For each scheduler its warps' stores; a warp stores all its elements before the next one.
    std::array<std::vector<Store>, schedulers> stores;
};

class Gathering {
 public:
    Gathering(const Program& program, const LaunchOrder& order, bool mixes_warps)
        : program_(program), order_(order), mixes_warps_(mixes_warps) {
        for (const Instruction& one : program.instructions)
            if (one.kind == AccessKind::store && one.space == Space::global)
                instructions_.push_back(&one);
        for (std::size_t k = 0; k < program.arrays.size(); ++k)
            placement_.base_addresses.push_back(k << 44);
    }

    std::uint64_t stores_of_block() const {
        return std::uint64_t{order_.block_warps()} * order_.per_thread * instructions_.size();
    }

    // The scheduler of a warp follows from its slot on the multiprocessor.
    void add_block(std::uint64_t which, Group& group) {
        for (std::uint32_t scheduler = 0; scheduler < schedulers; ++scheduler) {
            std::vector<std::uint32_t> warps;
            for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp)
                if ((placed_ + warp) % schedulers == scheduler) warps.push_back(warp);
            while (!warps.empty()) {
                const auto next = warps.begin() + static_cast<std::ptrdiff_t>(place_of(warps));
                add_warp(which, *next, group, scheduler);
                warps.erase(next);
            }
        }
        placed_ += order_.block_warps();
    }

 private:
    // Warps that divide for their indices finish that in a different order.
    std::size_t place_of(const std::vector<std::uint32_t>& warps) {
        return mixes_warps_ && choices_.says_yes(0.3) ? choices_.below(warps.size()) : 0;
    }

    void add_warp(std::uint64_t which, std::uint32_t warp, Group& group, std::uint32_t scheduler) {
        for (std::uint32_t element = 0; element < order_.per_thread; ++element) {
            const std::uint32_t lanes = order_.lanes_of(which, element, warp);
            if (lanes == 0) continue;
            const std::uint64_t first =
                order_.first_index(which, element) + std::uint64_t{warp} * warp_lanes;
            for (const Instruction* one : instructions_) {
                touched_.set(access_of_warp(program_, placement_, *one, first, lanes));
                const auto lines = touched_.lines();
                group.stores[scheduler].push_back({group.lines.size(), lines.size()});
                group.lines.insert(group.lines.end(), lines.begin(), lines.end());
            }
        }
    }

    const Program& program_;
    const LaunchOrder& order_;
    bool mixes_warps_;
    std::vector<const Instruction*> instructions_;
    Placement placement_;
    TouchedLines touched_;
    std::uint32_t placed_ = 0;  // warps
    RandomChoices choices_;
};

// Requests and sectors of the groups, before and after requests were merged.
class Merging {
 public:
    // `disorder`: how often another scheduler stores than the next one in order.
    void run(const Group& group, double disorder) {
        std::array<std::size_t, schedulers> done{};
        line_ = nowhere;
        for (;;) {
            std::array<std::uint32_t, schedulers> busy;
            std::uint32_t count = 0;
            for (std::uint32_t scheduler = 0; scheduler < schedulers; ++scheduler)
                if (done[scheduler] < group.stores[scheduler].size()) busy[count++] = scheduler;
            if (count == 0) return;
            const std::uint32_t next =
                choices_.says_yes(disorder)
                    ? busy[choices_.below(count)]
                    : *std::min_element(
                          busy.begin(), busy.begin() + count,
                          [&](std::uint32_t a, std::uint32_t b) { return done[a] < done[b]; });
            const Store& store = group.stores[next][done[next]++];
            for (std::size_t k = 0; k < store.count; ++k) leave(group.lines[store.first + k]);
        }
    }

    LeavingShare share() const {
        if (made_.requests == 0) return {};
        return {left_.requests / made_.requests, left_.sectors / made_.sectors};
    }

 private:
    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

    void leave(const LineTouched& touched) {
        const bool merges = touched.line == line_;
        made_.requests += 1;
        made_.sectors += std::popcount(touched.sectors);
        left_.requests += merges ? 0 : 1;
        left_.sectors += std::popcount(merges ? touched.sectors & ~sectors_ : touched.sectors);
        sectors_ = merges ? sectors_ | touched.sectors : touched.sectors;
        line_ = touched.line;
    }

    RandomChoices choices_;
    std::uint64_t line_ = nowhere;  // line of the last request, and its sectors
    std::uint32_t sectors_ = 0;
    LeavingShare made_{0, 0};
    LeavingShare left_{0, 0};
};

// `lines`: of a store, in one pass of the warp's data.
double disorder_of(const Replayed& replayed, const LaunchOrder& order, double lines) {
    // Warps of a block start in order and store in order, if each has a scheduler; less so the more
    // of them share one, where one has the way to L2 to itself and stores whole lines least of all.
    // With four elements and more each has several stores in flight, and those of the warps of a
    // scheduler come in no order. Blocks that start with the launch wait for the same instructions
    // to come, and store at once, however few warps they have. A store of two lines takes its time,
    // and the next one waits. Warps that ask first which of their lanes store finish that in a
    // different order (rows of u8 and u16 on an H200). Fitted to launches of both GPUs that do
    // nothing but store (tests/data).
    const double warps = std::log2(std::max(0.5, order.block / 128.0));
    const double two_lines = std::min(1.0, std::log2(std::max(1.0, lines)));
    const bool has_turns = replayed.blocks_of_processor > 1.5;
    const double many = has_turns * std::max(0.0, order.doublings_of_elements() - 1);
    const double alone = replayed.has_way_to_itself() * (1 - two_lines);
    const double later = std::min(0.6, -4.6 + (1.43 - 0.36 * two_lines - 0.95 * alone +
                                               2.93 * many + 4.18 * replayed.stores.is_branched) *
                                                  warps);
    const double at_start =
        -0.31 - 0.6 * (order.per_thread > 1) -
        two_lines * (1.5 + 0.36 * std::log2(replayed.blocks_of_processor) - 2.1 * many);
    const double others = 1 - replayed.at_once();
    const double odds = std::lerp(at_start, later, others * others);
    return share_of_odds(odds);
}

// Blocks of one multiprocessor from its block `first` on.
Group group_from(Gathering& gathering, std::uint64_t first, std::uint64_t blocks,
                 const Multiprocessor& one) {
    Group group;
    for (std::uint64_t k = 0; k < blocks; ++k) gathering.add_block(first + k * one.count, group);
    return group;
}

// Lines of one store, in one pass of the warp's data: 128 bytes.
double lines_of_pass(const Group& group, const Replayed& replayed) {
    std::size_t stores = 0;
    for (const std::vector<Store>& of_one : group.stores) stores += of_one.size();
    return stores == 0 ? 0
                       : static_cast<double>(group.lines.size()) / static_cast<double>(stores) /
                             std::max(1.0, replayed.element_bytes / 4.0);
}

}  // namespace

LeavingShare leaving_when_piled_up(const Replayed& replayed) {
    const ReplayedKind& stores = replayed.stores;
    // Stores of 32 warps to the same 5 lines leave as an eighth of their requests (H100).
    constexpr double merged = 0.99;
    const double requests =
        std::max(replayed.least_leaving, 1 - merged * stores.line_again / stores.requests);
    const double sectors =
        requests * stores.requests * stores.sectors_of_request() / stores.sectors;
    return {requests, std::clamp(sectors, 1 - merged * stores.sector_again / stores.sectors, 1.0)};
}

LeavingShare leaving_of_stores(const Program& program, const LaunchOrder& order,
                               const Multiprocessor& one, const Replayed& replayed) {
    if (replayed.stores_pile_up) return leaving_when_piled_up(replayed);
    const bool mixes_warps =
        replayed.divides && order.per_thread > 1 && replayed.blocks_of_processor >= 1.5;
    Gathering gathering(program, order, mixes_warps);
    const std::uint64_t most_blocks = std::max(1u, most_together / order.block_warps());
    const std::uint64_t blocks = std::min({std::uint64_t{one.resident_blocks}, most_blocks,
                                           (order.blocks + one.count - 1) / one.count});
    const std::uint64_t groups = std::clamp<std::uint64_t>(
        most_stores / std::max<std::uint64_t>(1, blocks * gathering.stores_of_block()), 1,
        most_groups);
    const std::uint64_t starts =
        order.blocks - std::min(order.blocks - 1, (blocks - 1) * one.count);
    Merging merging;
    for (std::uint64_t number = 0; number < groups; ++number) {
        const std::uint64_t lot = hash_of(number + 1) >> 40;
        const Group group = group_from(gathering, lot % starts, blocks, one);
        const double lines = lines_of_pass(group, replayed);
        for (int time = 0; time < times_of_group; ++time)
            merging.run(group, disorder_of(replayed, order, lines));
    }
    return merging.share();
}

namespace {

// The places to which one block of the launch stores.
class BlockStores {
 public:
    BlockStores(const Program& program, const LaunchOrder& order, const Instruction& store)
        : program_(program), store_(store) {
        placement_.base_addresses.resize(program.arrays.size());
        const std::uint64_t which = order.blocks / 2;  // as good as any
        // More elements than were measured count as the most that were.
        const std::uint32_t elements = std::min(order.per_thread, measured_elements);
        const std::uint64_t most_lines = std::uint64_t{order.block_warps()} * elements * warp_lanes;
        once_.begin(most_lines, most_lines);
        for (std::uint32_t element = 0; element < elements; ++element) {
            before_.clear();
            for (std::uint32_t warp = 0; warp < order.block_warps(); ++warp)
                if (const std::uint32_t lanes = order.lanes_of(which, element, warp); lanes > 0)
                    add(order.first_index(which, element) + std::uint64_t{warp} * warp_lanes,
                        lanes);
        }
    }

    bool go_to_same_lines() const {
        constexpr double several_lines = 1.75;
        constexpr double one_each = 31.5;  // of the lanes, none of which wait for another
        constexpr double nearly_all = 0.75;
        return lines_of_store() >= several_lines && lines_of_store() < one_each &&
               in_common_ >= nearly_all * behind_another_;
    }
    double lines_of_store() const { return requests_ / std::max(1.0, stores_); }
    double lines_again() const { return 1 - once_.of_all()[2] / std::max(1.0, requests_); }
    double sectors_again() const {
        return 1 - once_.of_all()[0] / std::max(1.0, static_cast<double>(once_.touched_sectors()));
    }

 private:
    void add(std::uint64_t first, std::uint32_t lanes) {
        touched_.set(access_of_warp(program_, placement_, store_, first, lanes));
        std::vector<std::uint64_t> lines;
        for (const LineTouched& touched : touched_.lines()) {
            lines.push_back(touched.line);
            once_.touch(touched.line, touched.sectors);
            in_common_ += std::ranges::count(before_, touched.line) > 0 ? 1 : 0;
        }
        stores_ += 1;
        requests_ += static_cast<double>(lines.size());
        if (!before_.empty()) behind_another_ += static_cast<double>(lines.size());
        before_ = std::move(lines);
    }

    const Program& program_;
    const Instruction& store_;
    Placement placement_;
    TouchedLines touched_;
    UnitTally once_;                     // lines and sectors
    std::vector<std::uint64_t> before_;  // lines of the warp before
    double stores_ = 0;                  // of warps
    double requests_ = 0;
    double behind_another_ = 0;  // requests of warps that follow another one
    double in_common_ = 0;       // of these: for lines that the one before asked for
};

// The only store of the launch, if it goes to no random places and waits for nothing but loads of
// the same places: its warps store in the order in which they loaded.
const Instruction* lone_store(const Program& program) {
    const auto is_global = [](const Instruction& one, AccessKind kind) {
        return one.kind == kind && one.space == Space::global;
    };
    const Instruction* store = nullptr;
    for (const Instruction& one : program.instructions) {
        if (!is_global(one, AccessKind::store)) continue;
        if (store || hashes_of(one.formula) > 0) return nullptr;
        store = &one;
    }
    const bool has_other_loads =
        store && std::ranges::any_of(program.instructions, [&](const Instruction& one) {
            return is_global(one, AccessKind::load) && !is_same(one.formula, store->formula);
        });
    return has_other_loads ? nullptr : store;
}

// Room for some 28 lines, 12 where they hold parts of words; fewer where a thread stores several
// elements, most of all beside other blocks. Fitted to `lane*K + i/32`, stored and updated, on both
// GPUs (tests/data/h200/alike.jsonl.gz, tests/data/h100/alike.jsonl.gz).
struct Limits {
    double room = 0;       // doublings of lines
    double sharpness = 1;  // of this limit: the more warps of a block follow each other the sharper
    double late = 0;       // log odds that a line has left although there is room
};
Limits limits_alone(const Replayed& replayed, const LaunchOrder& order) {
    const double elements = order.doublings_of_elements();
    const double turns = std::min(1.0, std::log2(replayed.blocks_of_processor));
    const double size = std::log2(order.block / 256.0);
    return {.room = 4.82 - 1.24 * (replayed.element_bytes < 4) - (0.22 + 0.48 * turns) * elements,
            .sharpness = std::exp(1.2 + 0.54 * size - 0.64 * elements),
            .late = -3.42};
}
Limits limits_behind_loads(const Replayed& replayed, const LaunchOrder& order) {
    const double elements = order.doublings_of_elements();
    const double width = std::max(0.0, std::log2(replayed.element_bytes / 4.0));
    return {.room = 4.88 - 1.29 * (replayed.element_bytes < 4) - 0.27 * (order.per_thread > 1),
            .sharpness = std::exp(2.06 - 0.71 * elements),
            .late = -3.84 + 0.88 * elements + 0.81 * width};
}

}  // namespace

std::optional<LeavingShare> leaving_of_same_lines(const Program& program, const LaunchOrder& order,
                                                  const Replayed& replayed) {
    const Instruction* store = lone_store(program);
    if (!store || order.block_warps() == 1) return std::nullopt;
    const BlockStores block(program, order, *store);
    if (!block.go_to_same_lines()) return std::nullopt;

    const Limits limits = replayed.loads.sectors > 0 ? limits_behind_loads(replayed, order)
                                                     : limits_alone(replayed, order);
    const double finds_no_room =
        share_of_odds(limits.sharpness * (std::log2(block.lines_of_store()) - limits.room));
    const double comes_late = share_of_odds(limits.late);
    const double merged = (1 - finds_no_room) * (1 - comes_late);
    return LeavingShare{1 - block.lines_again() * merged, 1 - block.sectors_again() * merged};
}

}  // namespace coalprof
