#include "core/traffic/cache_traffic.h"

#include <algorithm>
#include <cmath>

#include "core/model/load_path.h"
#include "core/model/occupancy.h"
#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

enum class JoinKind : std::uint8_t { load, store, store_after_load };

// The share of requests for a line that another warp of the block asked for before which join that
// one's on their way to L2. Fitted to launches of both GPUs (tests/data): warps that ask for one
// line within a few requests of each other are served by one request, less often where each thread
// has more to do in between.
double joined_share(const ReplayedKind& kind, const LaunchOrder& order, JoinKind join) {
    if (kind.line_again == 0) return 0;
    double odds = 3.58 - 0.44 * kind.log_distance / kind.line_again -
                  0.56 * std::log2(static_cast<double>(order.per_thread)) -
                  0.33 * std::log2(static_cast<double>(order.block)) +
                  0.63 * std::log2(kind.requests / kind.sectors);
    if (join == JoinKind::store) odds += 1.7;
    if (join == JoinKind::store_after_load) odds -= 0.99;
    return 1 / (1 + std::exp(-odds));
}

}  // namespace

CacheTraffic cache_traffic(const Readings& readings, const Replayed& replayed,
                           const LaunchOrder& order, bool keeps_loads) {
    // Requests of several multiprocessors for one sector meet on the way to L2, if they are near
    // each other in time.
    const double met = !keeps_loads ? 0.1 : replayed.is_near ? 0.17 : 0.055;
    CacheTraffic traffic{.is_near = replayed.is_near};
    const double loaded = number_or(readings[Counter::load_sectors], 0);
    const double scale = share(loaded, replayed.loads.sectors);
    traffic.l1_hit_sectors = replayed.loads.hit_sectors * scale;
    const double missed = loaded - traffic.l1_hit_sectors;
    const double again =
        keeps_loads ? share(replayed.loads.shared_sectors, replayed.loads.block_sectors)
                    : 1 - share(replayed.loads.block_sectors - replayed.loads.shared_sectors,
                                replayed.loads.compared_sectors);
    traffic.l2_read_sectors = missed * (1 - met * std::max(0.0, again));
    traffic.l2_read_requests =
        std::min(traffic.l2_read_sectors,
                 scale * (replayed.loads.requests -
                          (keeps_loads ? replayed.loads.line_again *
                                             joined_share(replayed.loads, order, JoinKind::load)
                                       : 0)));
    const double stored = number_or(readings[Counter::store_sectors], 0);
    const double store_scale = share(stored, replayed.stores.sectors);
    const JoinKind join = loaded > 0 ? JoinKind::store_after_load : JoinKind::store;
    // Stores of neighbouring warps to one sector join likewise.
    const double twice = 1 - share(replayed.stores.block_sectors, replayed.stores.compared_sectors);
    traffic.l2_write_sectors =
        stored * (1 - std::max(0.0, twice) * joined_share(replayed.stores, order, join));
    traffic.l2_write_requests = std::min(
        traffic.l2_write_sectors,
        store_scale * (replayed.stores.requests -
                       replayed.stores.line_again * joined_share(replayed.stores, order, join)));
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
