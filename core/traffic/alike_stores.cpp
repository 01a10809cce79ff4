#include "core/traffic/alike_stores.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/traffic/issued.h"
#include "core/traffic/odds.h"
#include "core/traffic/touched_lines.h"
#include "core/traffic/unit_tally.h"
#include "core/traffic/work.h"

namespace coalprof {
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

    bool are_alike() const {
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

std::optional<LeavingShare> leaving_of_alike(const Program& program, const LaunchOrder& order,
                                             const Replayed& replayed) {
    const Instruction* store = lone_store(program);
    if (!store || order.block_warps() == 1) return std::nullopt;
    const BlockStores block(program, order, *store);
    if (!block.are_alike()) return std::nullopt;

    const Limits limits = replayed.loads.sectors > 0 ? limits_behind_loads(replayed, order)
                                                     : limits_alone(replayed, order);
    const double finds_no_room =
        share_of_odds(limits.sharpness * (std::log2(block.lines_of_store()) - limits.room));
    const double comes_late = share_of_odds(limits.late);
    const double joined = (1 - finds_no_room) * (1 - comes_late);
    return LeavingShare{1 - block.lines_again() * joined, 1 - block.sectors_again() * joined};
}

}  // namespace coalprof
