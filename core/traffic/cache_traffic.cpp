#include "core/traffic/cache_traffic.h"

#include <algorithm>
#include <cmath>

#include "core/pattern/memory_settings.h"
#include "core/traffic/work.h"

namespace coalprof {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Doublings of a lane's element beyond four bytes, less below; 0 for pointers only.
double width_of(const Replayed& replayed) {
    return replayed.element_bytes == 0 ? 0 : std::log2(replayed.element_bytes / 4.0);
}

// The share of requests for a line that merge with the last one, which may still be in flight to
// L2: warps that ask at the same time are served together, less often the more time separates them.
// The figures below are fitted to launches of both GPUs (tests/data).
// Doublings of all requests, of which `again` are for the same line, up to 32.
double doublings_of(double all, double again) {
    if (all == 0) return 0;
    return (all - again) * 32 > all ? std::log2(all / (all - again)) : 5;
}
// For the requests of one line, and of one sector.
double doublings_of_line(const ReplayedKind& kind) {
    return doublings_of(kind.requests, kind.line_again);
}
double doublings_of_sector(const ReplayedKind& kind) {
    return doublings_of(kind.sectors, kind.sector_again);
}

// A multiprocessor has four schedulers. Blocks of up to four warps run in step, one on each.
double warps_of_scheduler(const LaunchOrder& order) { return (order.block_warps() + 3) / 4; }

// The closeness in time of a block's warps: the fewer the closer.
double nearness_of(const LaunchOrder& order) { return std::log2(1 + 256.0 / order.block); }

// An average load instruction of a warp.
struct LoadedLines {
    double all = 1;
    double missed = 1;  // requests; a twentieth at least
};

// Blocks that start together fetch the kernel's instructions together, and their schedulers
// continue one after the other: where two multiprocessors fetch, with so many cycles between them
// that a request often has left for L2 before the next one for its line comes, most of all where L2
// has the lines they wait for, in large blocks and with several elements; less often where more
// warps ask for a line. Requests of one multiprocessor follow each other twice as fast as those of
// two, but the more it makes the larger are the gaps. Fitted, as all of this.
double joined_at_start(const Replayed& replayed, const LaunchOrder& order, const Loading& loading,
                       const LoadedLines& lines) {
    constexpr double hardly_more = 1.07;  // above one: a warp in fourteen has two
    const bool is_one = lines.all < hardly_more;
    const double block = std::log2(order.block / 256.0);
    const double larger = is_one * std::max(0.0, block);
    const double width = is_one * width_of(replayed);
    if (!replayed.has_way_to_itself()) {
        const bool has_stores = replayed.stores.sectors > 0;
        const double warm = 1.15 - 0.15 * std::log2(replayed.blocks_of_processor);
        return share_of_odds(-0.68 - warm * loading.is_warm - 0.6 * has_stores +
                             0.68 * doublings_of_line(replayed.loads) -
                             0.29 * std::log2(replayed.instructions) -
                             0.58 * is_one * order.doublings_of_elements() - 0.59 * larger +
                             0.17 * width - 0.37 * replayed.pointer_loads * block);
    }
    const ReplayedKind& loads = replayed.loads;
    const double apart = share(loads.apart_again, loads.line_again);
    return share_of_odds(0.33 - 2.80 * std::min(0.0, block) - 0.35 * larger +
                         (0.38 - 0.45 * order.doublings_of_elements()) * apart -
                         1.40 * share(loads.fours_again, loads.line_again));
}

// The bytes that a full multiprocessor's warps have in flight to L2: misses of their loads in L1,
// and stores of their lanes for each of their elements, but no more than the sectors they store to.
double bytes_under_way(const Replayed& replayed, const LaunchOrder& order,
                       const LoadedLines& lines) {
    const ReplayedKind& loads = replayed.loads;
    const double elements =
        static_cast<double>(order.block_warps()) * replayed.blocks_of_processor * order.per_thread;
    const double requests = replayed.load_instructions * lines.missed;
    const double loaded =
        requests * sector_bytes * (loads.sectors - loads.hit_sectors) / loads.requests;
    const double stored = requests * sector_bytes * replayed.stores.sectors / loads.requests;
    return elements * (loaded + std::min<double>(stored, warp_lanes * replayed.element_bytes));
}

// Merged requests of warps of one block: more of them the closer the warps are in time, and the
// longer requests wait because many are in flight or stores are; fewer where warps divide for their
// indices or have more to compute, where lanes skip loads, where a thread makes several loads or
// one load asks for many lines, and where warps share a scheduler.
double joined_in_block(const Replayed& replayed, const LaunchOrder& order,
                       const LoadedLines& lines) {
    const ReplayedKind& loads = replayed.loads;
    const double block = std::log2(order.block / 256.0);
    const double instructions = std::log2(replayed.instructions);
    // 0 for a division, 1 for the index of a row or a permutation.
    const double long_index = std::clamp((replayed.index_instructions - 16) / 14, 0.0, 1.0);
    const double under_way = std::log2(1 + bytes_under_way(replayed, order, lines) / (16 << 10));
    const double odds =
        -0.85 + 1.72 * nearness_of(order) - 0.59 * (warps_of_scheduler(order) > 1) -
        (0.77 - 0.19 * block + 0.33 * replayed.divides) * order.doublings_of_elements() +
        0.34 * std::log2(lines.missed) - 1.27 * std::max(0.0, std::log2(lines.all / 4)) -
        (1.10 - 0.19 * block) * instructions - 0.68 * loads.is_branched +
        0.44 * (replayed.element_bytes == 1) + 0.67 * std::max(0.0, doublings_of_line(loads) - 1) -
        0.26 * replayed.divides - 0.58 * long_index + 0.44 * under_way +
        0.57 * (replayed.stores.sectors > 0) + 0.45 * replayed.pointer_loads +
        0.97 * share(loads.hit_sectors, loads.sectors);
    constexpr double of_other_fours = -0.61;
    return std::lerp(share_of_odds(odds), share_of_odds(odds + of_other_fours),
                     share(loads.fours_again, loads.block_again));
}

// For blocks that share lines, on one multiprocessor.
double joined_with_others(const Replayed& replayed, const LaunchOrder& order) {
    return share_of_odds(-1.94 + 1.57 * nearness_of(order) +
                         0.5 * doublings_of_line(replayed.loads));
}

double joined_in_l1(const Replayed& replayed, const LaunchOrder& order, const Loading& loading,
                    const LoadedLines& lines) {
    const ReplayedKind& loads = replayed.loads;
    const double later =
        std::lerp(joined_with_others(replayed, order), joined_in_block(replayed, order, lines),
                  share(loads.block_again, loads.line_again));
    // Where distant warps share lines: as a share of the repeated requests, not of the blocks,
    // since lines that fit L1 are missed by the first ones only.
    const double at_start =
        replayed.is_near ? replayed.started_together : share(loads.first_again, loads.line_again);
    return std::lerp(later, joined_at_start(replayed, order, loading, lines), at_start);
}

// Where a warp loads lines that its load before this one has asked for as well: the more lines that
// were, the longer they wait to leave. From launches of both GPUs of one, two and three lines
// (tests/data); with other elements between, as if they were fewer.
double joined_of_warp(const Replayed& replayed, const LaunchOrder& order,
                      const LoadedLines& lines) {
    constexpr double of_one_line = 0.28;
    constexpr double of_each_further = 0.37;
    if (replayed.load_instructions < 2) return of_one_line;
    const double lines_again = lines.all *
                               share(replayed.loads.warp_again, replayed.loads.requests) /
                               (1 - 1 / replayed.load_instructions);
    return std::clamp(of_one_line + of_each_further * (lines_again / order.per_thread - 1), 0.0,
                      1.0);
}

// Merged requests of loads that bypass L1, among those for the very same sectors as the one before.
// Two neighbours seldom meet, since they have different schedulers; of many warps most do, more of
// small blocks, fewer of large ones, where indices divide, or where a thread asks for many lines of
// many elements before it waits. Pointers are few and read by all, but a warp that loads nothing
// else is soon gone.
double joined_bypassing(const Replayed& replayed, const LaunchOrder& order,
                        const LoadedLines& lines) {
    const double doublings = doublings_of_line(replayed.loads);
    const double block = std::log2(order.block / 256.0);
    const double others =
        share_of_odds(-2.32 + 0.82 * doublings - 0.60 * std::min(0.0, block) -
                      0.35 * std::max(0.0, doublings - 2) * std::max(0.0, block) -
                      0.25 * std::log2(std::max(1.0, lines.all)) * order.doublings_of_elements() -
                      0.40 * replayed.divides + 1.1 * replayed.pointer_loads -
                      2.75 * replayed.loads_pointers_only);
    return std::lerp(others, joined_of_warp(replayed, order, lines),
                     share(replayed.loads.warp_again, replayed.loads.line_again));
}

double joined_loads(const Replayed& replayed, const LaunchOrder& order, const Loading& loading,
                    const LoadedLines& lines) {
    if (replayed.loads.line_again == 0) return 0;
    return loading.keeps_loads ? joined_in_l1(replayed, order, loading, lines)
                               : joined_bypassing(replayed, order, lines);
}

// Merged stores of launches that load as well. Warps store when their loads have come: together if
// they waited for the same lines, unless they had to wait for more; the more of them there are for
// a line, the fewer others come between, but in large blocks and with several elements. A line that
// L1 keeps answers all that wait for it at once, most of all where all of them start by waiting for
// device memory; wide elements are stored in several passes. Among the others, warps that shared
// lines with neighbours store soon after them, and so do warps that store to the same sectors.
double merged_stores(const Replayed& replayed, const LaunchOrder& order, const Loading& loading) {
    const ReplayedKind& stores = replayed.stores;
    if (stores.line_again == 0) return 0;
    const double block = std::log2(order.block / 256.0);
    const double elements = order.doublings_of_elements();
    const double blocks = std::log2(replayed.blocks_of_processor);
    const bool has_turns = replayed.blocks_of_processor > 1.2;
    const double start = replayed.started_together;
    const double width = width_of(replayed);
    const double apart =
        share_of_odds(-1.80 + 1.20 * std::min(1.0, doublings_of_line(replayed.loads)) +
                      0.48 * start * width - 0.27 * has_turns * elements +
                      0.61 * (replayed.has_way_to_itself() && !replayed.stores_pile_up) +
                      1.96 * loading.keeps_loads * share(stores.sector_again, stores.sectors));
    // All of them wait for device memory first, and for lines that L1 keeps.
    const double waits = start * (loading.keeps_loads && !loading.is_warm);
    const double together =
        share_of_odds(0.20 - 0.52 * block - 0.95 * std::min(0.0, block) -
                      1.37 * stores.is_branched - 1.15 * replayed.pointer_loads * (1 - waits) -
                      0.50 * std::log2(replayed.instructions) + 0.67 * doublings_of_line(stores) +
                      (0.57 - 0.24 * block - 0.21 * elements) * doublings_of_sector(stores) +
                      0.36 * loading.keeps_loads + 0.46 * waits * (order.per_thread == 1) -
                      0.27 * elements * blocks - 0.32 * std::max(0.0, width));
    return std::lerp(apart, together, share(stores.line_together, stores.line_again));
}

// The stores that leave for L2.
LeavingShare leaving_of(const Replayed& replayed, const LaunchOrder& order,
                        const Loading& loading) {
    const ReplayedKind& stores = replayed.stores;
    if (replayed.loads.sectors == 0 || replayed.gathered_lines > 0 || replayed.stores_same_lines)
        return replayed.leaving;
    const double merged = merged_stores(replayed, order, loading);
    const LeavingShare apart{1 - merged * share(stores.line_again, stores.requests),
                             1 - merged * share(stores.sector_again, stores.sectors)};
    if (!replayed.few_stored) return apart;
    // Blocks that start together find no waiting ones.
    return {std::lerp(replayed.leaving.requests, apart.requests, replayed.started_together),
            std::lerp(replayed.leaving.sectors, apart.sectors, replayed.started_together)};
}

// Requests of several multiprocessors for one sector merge on the way to L2, if they are close in
// time: the share of `missed` sectors that do.
double met_on_the_way(const Replayed& replayed, const Loading& loading, double missed) {
    const ReplayedKind& loads = replayed.loads;
    if (loading.keeps_loads && replayed.is_near) {
        // Each doubling of the blocks that ask for a sector. Fitted to 184 launches of both GPUs
        // (tests/data, the half `fit`, without blind.jsonl.gz): 5 % of two blocks' sectors, 32 % of
        // a hundred's.
        constexpr double met_of_doubling = 0.048;
        return met_of_doubling * std::log2(std::max(1.0, share(missed, loading.sectors_once)));
    }
    if (loading.keeps_loads) return 0.055 * share(loads.shared_sectors, loads.block_sectors);
    constexpr double met = 0.1;
    return met * std::max(0.0, replayed.is_near
                                   ? share(loads.shared_sectors, loads.block_sectors)
                                   : 1 - share(loads.block_sectors - loads.shared_sectors,
                                               loads.compared_sectors));
}

}  // namespace

CacheTraffic cache_traffic(const Readings& readings, const Replayed& replayed,
                           const LaunchOrder& order, const Loading& loading) {
    const bool keeps_loads = loading.keeps_loads;
    const ReplayedKind& loads = replayed.loads;
    CacheTraffic traffic{.is_near = replayed.is_near,
                         .gathered_lines = replayed.gathered_lines,
                         .stores_same_lines = replayed.stores_same_lines};
    const double stored = number_or(readings[Counter::store_sectors], 0);
    const double store_scale = share(stored, replayed.stores.sectors);
    const double store_requests = store_scale * replayed.stores.requests;
    const LeavingShare leaving = leaving_of(replayed, order, loading);
    traffic.l2_write_sectors = stored * leaving.sectors;
    traffic.l2_write_requests =
        std::min(traffic.l2_write_sectors, store_requests * leaving.requests);
    traffic.joined_write_sectors = stored - traffic.l2_write_sectors;
    traffic.joined_write_requests = store_requests - traffic.l2_write_requests;
    const double loaded = number_or(readings[Counter::load_sectors], 0);
    const double scale = share(loaded, loads.sectors);
    if (keeps_loads && replayed.gathered_lines > 0) {
        traffic.l1_hit_sectors = loaded * (1 - replayed.gathered_reads);
        traffic.l2_read_sectors = loaded - traffic.l1_hit_sectors;
        traffic.l2_read_requests =
            std::min(traffic.l2_read_sectors,
                     replayed.gathered_reads * number_or(readings[Counter::load_lines], 0));
        return traffic;
    }
    traffic.l1_hit_sectors = loads.hit_sectors * scale;
    double requests = scale * loads.requests;
    if (keeps_loads && replayed.few_stored) {
        // In the replay all stores are in flight all the time. Stored lines that have left are
        // loaded again; not by the first blocks, which have loaded before they store.
        const double later = 1 - replayed.started_together;
        const double again = std::min(later * traffic.l2_write_sectors, traffic.l1_hit_sectors);
        traffic.l1_hit_sectors -= again;
        requests += std::min(later * traffic.l2_write_requests, again);
    }
    const double instructions = number_or(readings[Counter::load_requests], 0);
    const LoadedLines lines{
        .all = share(number_or(readings[Counter::load_lines], instructions), instructions),
        .missed = std::max(0.05, share(requests, instructions))};
    const double joined_reads = scale * joined_loads(replayed, order, loading, lines);
    const double missed =
        loaded - traffic.l1_hit_sectors - (keeps_loads ? 0 : joined_reads * loads.sector_again);
    traffic.l2_read_sectors = missed * (1 - met_on_the_way(replayed, loading, missed));
    // Sectors that neighbouring blocks share are separate requests: the first or last of a line, or
    // all that they touch of it.
    const double met_requests =
        keeps_loads && replayed.is_near ? missed - traffic.l2_read_sectors : 0;
    traffic.l2_read_requests = std::min(traffic.l2_read_sectors,
                                        requests - joined_reads * loads.line_again - met_requests);
    return traffic;
}

}  // namespace coalprof
