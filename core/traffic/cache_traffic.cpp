#include "core/traffic/cache_traffic.h"

#include <algorithm>
#include <cmath>

#include "core/model/load_path.h"
#include "core/model/occupancy.h"
#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// The share of requests for a line whose last one may still be on its way to L2 that join it.
// Fitted to launches of both GPUs (tests/data: of launches.jsonl.gz the half `fit`, of the others
// all from blocks near each other): warps that ask at the same time are served together, less often
// the more there is that keeps them apart.
double joined_share(double odds) { return 1 / (1 + std::exp(-odds)); }

// Doublings of the requests that there are for one line, up to 32.
double doublings_of_line(const ReplayedKind& kind) {
    const double first = kind.requests - kind.line_again;
    return first * 32 > kind.requests ? std::log2(kind.requests / first) : 5;
}

// A multiprocessor has four schedulers. Blocks of up to four warps run in step, one on each.
double warps_of_scheduler(const LaunchOrder& order) { return (order.block_warps() + 3) / 4; }

// Blocks that start together find nothing on its way to L2 that would hold them up.
double joined_at_start(const Replayed& replayed, const LaunchOrder& order) {
    return joined_share(-0.2 - 0.49 * replayed.divides * std::log2(order.block / 256.0) +
                        0.48 * replayed.pointer_loads -
                        0.28 * std::log2(replayed.blocks_of_processor));
}

double joined_near(const Replayed& replayed, const LaunchOrder& order, double of_instruction) {
    const ReplayedKind& loads = replayed.loads;
    const double elements = std::log2(static_cast<double>(order.per_thread));
    const double later = joined_share(
        1.14 + 0.98 * std::log2(1 + 256.0 / order.block) - 0.99 * (warps_of_scheduler(order) > 1) -
        0.53 * elements + 0.41 * std::log2(loads.requests / loads.sectors) +
        0.38 * std::log2(std::max(1.0, of_instruction)) - 0.56 * std::log2(replayed.instructions) -
        1.06 * loads.is_branched + 0.58 * (replayed.element_bytes == 1) -
        replayed.divides * (0.35 + 0.61 * elements));
    return std::lerp(later, joined_at_start(replayed, order), replayed.started_together);
}

double joined_loads(const Replayed& replayed, const LaunchOrder& order, double of_instruction) {
    const ReplayedKind& loads = replayed.loads;
    if (loads.line_again == 0) return 0;
    if (replayed.is_near) return joined_near(replayed, order, of_instruction);
    return joined_share(0.71 + 1.39 * std::log2(1 + 256.0 / order.block) -
                        0.69 * std::log2(static_cast<double>(order.per_thread)) +
                        0.44 * std::log2(loads.requests / loads.sectors) +
                        0.31 * std::log2(std::max(1.0, of_instruction)) -
                        0.4 * std::log2(replayed.instructions) - 0.67 * loads.is_branched -
                        0.71 * replayed.pointer_loads);
}

// Loads that pass L1 by: of those that ask for the very same sectors as the one before.
constexpr double joined_bypassing = 0.5;

// Of launches that load as well. Warps store when their loads have come: together those that waited
// for the same lines, unless they had to wait for more besides; the more of them there are for a
// line, the fewer others come between. Fitted to all launches of tests/data but
// newest.jsonl.gz.
double joined_stores(const Replayed& replayed, const LaunchOrder& order) {
    const ReplayedKind& stores = replayed.stores;
    if (stores.line_again == 0) return 0;
    const double block = std::log2(order.block / 256.0);
    const double elements = std::log2(static_cast<double>(order.per_thread));
    const double in_turn = replayed.blocks_of_processor > 1.2 ? elements : 0;
    const double apart =
        joined_share(-1.24 + 0.19 * block - 0.22 * elements - 0.68 * (replayed.element_bytes == 1));
    const double together =
        joined_share(3 - 1.01 * block - 1.26 * in_turn - 2.11 * stores.is_branched -
                     1.07 * replayed.pointer_loads - 1.37 * std::log2(replayed.instructions) +
                     0.82 * (doublings_of_line(stores) - 1) + 0.43 * replayed.at_once());
    return std::lerp(apart, together, share(stores.line_together, stores.line_again));
}

// What of stores leaves for L2.
LeavingShare leaving_of(const Replayed& replayed, const LaunchOrder& order) {
    const ReplayedKind& stores = replayed.stores;
    if (replayed.loads.sectors == 0) return replayed.leaving;
    const double joined = joined_stores(replayed, order);
    return {1 - joined * share(stores.line_again, stores.requests),
            1 - joined * share(stores.sector_again, stores.sectors)};
}

}  // namespace

CacheTraffic cache_traffic(const Readings& readings, const Replayed& replayed,
                           const LaunchOrder& order, bool keeps_loads) {
    // Requests of several multiprocessors for one sector meet on the way to L2, if they are near
    // each other in time.
    const double met = !keeps_loads ? 0.1 : replayed.is_near ? 0.17 : 0.055;
    const ReplayedKind& loads = replayed.loads;
    CacheTraffic traffic{.is_near = replayed.is_near};
    const double loaded = number_or(readings[Counter::load_sectors], 0);
    const double scale = share(loaded, loads.sectors);
    traffic.l1_hit_sectors = loads.hit_sectors * scale;
    const double requests = scale * loads.requests;
    const double of_instruction = share(requests, number_or(readings[Counter::load_requests], 0));
    const double joined_reads =
        scale * (keeps_loads ? joined_loads(replayed, order, of_instruction) : joined_bypassing);
    const double missed =
        loaded - traffic.l1_hit_sectors - (keeps_loads ? 0 : joined_reads * loads.sector_again);
    const double again =
        keeps_loads || replayed.is_near
            ? share(loads.shared_sectors, loads.block_sectors)
            : 1 - share(loads.block_sectors - loads.shared_sectors, loads.compared_sectors);
    traffic.l2_read_sectors = missed * (1 - met * std::max(0.0, again));
    // Sectors that neighbouring blocks share are requests of their own: the first or last of a
    // line, or all that they touch of it.
    const double met_requests =
        keeps_loads && replayed.is_near ? missed - traffic.l2_read_sectors : 0;
    traffic.l2_read_requests = std::min(traffic.l2_read_sectors,
                                        requests - joined_reads * loads.line_again - met_requests);
    const double stored = number_or(readings[Counter::store_sectors], 0);
    const double store_scale = share(stored, replayed.stores.sectors);
    const double store_requests = store_scale * replayed.stores.requests;
    const LeavingShare leaving = leaving_of(replayed, order);
    traffic.l2_write_sectors = stored * leaving.sectors;
    traffic.l2_write_requests =
        std::min(traffic.l2_write_sectors, store_requests * leaving.requests);
    traffic.joined_write_sectors = stored - traffic.l2_write_sectors;
    traffic.joined_write_requests = store_requests - traffic.l2_write_requests;
    return traffic;
}

Multiprocessor multiprocessor_of(const Machine& machine, const Plan& plan) {
    const Rules& rules = *machine.rules;
    Multiprocessor one{.count = machine.board ? std::max(machine.board->multiprocessors, 1u) : 1,
                       .keeps_loads = !bypasses_l1(plan)};
    const Occupancy fits = occupancy(rules, {.block = plan.program.block});
    one.resident_blocks = std::max(1u, fits.active_blocks);
    // Without a carveout the driver gives shared memory what the resident blocks need.
    const std::uint32_t reserved_kib =
        one.resident_blocks * rules.occupancy.shared_reserved_bytes / 1024;
    const std::uint32_t most_kib = rules.l1.splits.back().shared_kib;
    const std::uint32_t wanted_kib =
        plan.cache.carveout ? most_kib * plan.cache.carveout->shared_percent / 100 : reserved_kib;
    std::uint32_t l1_kib = rules.l1.splits.back().l1_kib;
    for (const L1Split& split : rules.l1.splits)
        if (split.shared_kib >= wanted_kib) {
            l1_kib = split.l1_kib;
            break;
        }
    one.l1_bytes = std::uint64_t{l1_kib} * 1024;
    return one;
}

}  // namespace coalprof
