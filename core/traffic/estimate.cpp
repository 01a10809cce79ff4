#include "core/traffic/estimate.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "core/count/load_path.h"
#include "core/machine/rates.h"
#include "core/pattern/memory_settings.h"
#include "core/sim/plan_time.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/duration.h"
#include "core/traffic/launch_work.h"

namespace coalprof {
namespace {

// Measured values divided by predicted ones.
struct Spread {
    double low = 1;
    double high = 1;
    Spread widened(double doubt) const { return {std::pow(low, doubt), std::pow(high, doubt)}; }
};

// Collects the estimates.
class Collected {
 public:
    explicit Collected(Readings& readings) : readings_(readings) {}

    // For counters without an exact answer.
    void fill(Counter counter, double value, double low, double high) {
        if (std::holds_alternative<Unavailable>(readings_[counter])) set(counter, value, low, high);
    }
    void set(Counter counter, double value, double low, double high) {
        if (info(counter).is_integer) {
            value = std::round(value);
            low = std::floor(low);
            high = std::ceil(high);
            readings_[counter] = static_cast<std::uint64_t>(std::max(0.0, value));
        } else {
            readings_[counter] = value;
        }
        estimates_.intervals.push_back({counter, std::max(0.0, low), high});
    }
    Estimates& estimates() { return estimates_; }

 private:
    Readings& readings_;
    Estimates estimates_;
};

// The interval of stores is the wider the more of them merge on their way to L2: up to half of
// these may leave separately, or half as many more merge. Nine of ten measured launches needed that
// (tests/data, but blind.jsonl.gz; those of writes also but newest.jsonl.gz).
void fill_writes(Collected& collected, const CacheTraffic& caches, double doubt) {
    const auto fill = [&](Counter counter, double value, double joined, Spread of_all,
                          double share) {
        const Spread beside = of_all.widened(doubt);
        const double unsure = share * doubt;
        collected.fill(counter, value, value * beside.low - unsure * std::min(value, joined),
                       value * beside.high + unsure * joined);
    };
    fill(Counter::l2_write_requests, caches.l2_write_requests, caches.joined_write_requests,
         {0.94, 1.06}, 0.5);
    fill(Counter::l2_write_sectors, caches.l2_write_sectors, caches.joined_write_sectors,
         {0.98, 1.02}, 0.4);
}

// Reads, narrower where only the warps of a block share lines than where distant blocks do: what
// nine of ten measured launches needed (tests/data).
void fill_caches(Collected& collected, const Plan& plan, const CacheTraffic& caches,
                 double load_sectors, double doubt) {
    const auto fill = [&](Counter counter, double value, Spread measured) {
        const Spread spread = measured.widened(doubt);
        collected.fill(counter, value, value * spread.low, value * spread.high);
    };
    const bool is_near = caches.is_near;
    // Distant warps that load the same by chance find up to this share of all sectors, even where
    // none was to be expected.
    const double by_chance = is_near ? 0 : doubt * 0.025 * load_sectors;
    const Spread hits = (is_near ? Spread{0.97, 1.05} : Spread{0.48, 1.9}).widened(doubt);
    const double most_hits = caches.l1_hit_sectors * hits.high + by_chance;
    collected.fill(Counter::l1_hit_sectors, caches.l1_hit_sectors, caches.l1_hit_sectors * hits.low,
                   doubt > 1 ? std::min(most_hits, load_sectors) : most_hits);
    fill(Counter::l2_read_requests, caches.l2_read_requests,
         is_near ? Spread{0.8, 1.21} : Spread{0.8, 1.12});
    // Accesses that bypass L1 and merge there are more than requests.
    fill(Counter::l2_read_sectors, caches.l2_read_sectors,
         is_near && !bypasses_l1(plan) ? Spread{0.95, 1.03} : Spread{0.87, 1.15});
}

// The dirty bytes that stay in L2 when a launch ends are known to a share of 1/28 of its size;
// other work's lines in L2 are written and read beside the launch.
void fill_dram(Collected& collected, const DramTraffic& dram, const Board& board, double doubt) {
    const double l2_bytes = static_cast<double>(board.l2_bytes.value_or(0));
    const double beside = doubt * (96 << 10);
    const bool is_reused = dram.reused_bytes > 0.05 * (dram.read.bytes + dram.write.bytes);
    const Spread spread = (is_reused ? Spread{0.7, 1.4} : Spread{0.99, 1.03}).widened(doubt);
    collected.fill(Counter::dram_read_bytes, dram.read.bytes, dram.read.bytes * spread.low - beside,
                   dram.read.bytes * spread.high + beside);
    const double of_l2 = doubt * l2_bytes / 28;
    collected.fill(Counter::dram_write_bytes, dram.write.bytes,
                   dram.write.bytes * spread.low - std::min(dram.write.bytes, of_l2),
                   dram.write.bytes * spread.high + of_l2);
}

// The time of device memory alone, where the traffic and that rate are known but the other rates
// are not. Such launches were never measured: the interval reaches to three times that.
std::optional<Estimates> estimate_by_traffic(const Plan& plan, Readings& readings) {
    const Reading& bandwidth = readings[Counter::bandwidth_bytes_per_second];
    if (!is_number(bandwidth) || !(number_in(bandwidth) > 0)) return std::nullopt;
    constexpr Spread spread{0.9, 3};
    const double useful = static_cast<double>(plan.program.useful_bytes);
    const double most = number_in(bandwidth);
    const double seconds = useful / most;
    Collected collected(readings);
    collected.set(Counter::duration_seconds, seconds, seconds * spread.low, seconds * spread.high);
    collected.set(Counter::bandwidth_bytes_per_second, most, most / spread.high, most / spread.low);
    collected.estimates().limits = {Limit::dram};
    return collected.estimates();
}

bool is_modelled(const Machine& machine, const Plan& plan) {
    return machine.rules->global == GlobalRule::sectors_by_warp &&
           plan.allocation != Allocation::host && plan.path != LoadPath::tex;
}

using UserIndex = std::shared_ptr<const CustomFormula>;

// A random place for each thread, as in `scatter`.
bool is_drawn(const Instruction& one) {
    const UserIndex& index = std::get<UserIndex>(one.formula);
    ExpressionsSeen seen;
    const Computed computed = index->computed(seen);
    return computed.hashes > 0 && computed.operators == 0;
}

// In the order of threads, like the other array of a copy.
bool is_stream(const Instruction& one) {
    const std::optional<Period> period = period_of(one.formula);
    return period && period->threads == 1 && period->advance == 1;
}

// True if a launch is simulated; others go by curves that were fitted to launches (tests/data):
// those of the catalog and of formulas with one index, beside streams, in blocks of one row. For
// formulas with several indices or blocks with rows, 8 of 15 natural kernels (docs/accuracy.md),
// curves are off by 29 % at the median and by 2.4 times at worst, the simulation by 7 % and 1.19.
// On launches that the curves were fitted to, the simulation is worse: 10 and 21 % instead of 7 and
// 12 on an H200 and an H100, at worst 26 times; where threads choose random places, whole launches
// would have to be followed. Requests that merge between L1 and L2 are counted by the replay for
// all of them.
bool is_simulated(const Plan& plan) {
    const auto is_possible = [](const Instruction& one) {
        return one.space == Space::global && std::holds_alternative<UserIndex>(one.formula) &&
               !is_drawn(one);
    };
    const std::vector<Instruction>& all = plan.program.instructions;
    if (!std::ranges::all_of(all, is_possible)) return false;
    if (plan.shape.block_shape && !plan.shape.block_shape->is_flat()) return true;
    // A stream counts as an index if another load uses its array.
    const auto counts = [&](const Instruction& one) {
        return !is_stream(one) || std::ranges::any_of(all, [&](const Instruction& other) {
            return one.kind == AccessKind::load && other.kind == AccessKind::load &&
                   one.array == other.array && !is_same(one.formula, other.formula);
        });
    };
    const auto first = std::ranges::find_if(all, counts);
    return std::any_of(first, all.end(), [&](const Instruction& one) {
        return counts(one) && !is_same(one.formula, first->formula);
    });
}

// Lanes of an atomic on shared memory that use one word are serialized, and their number is not
// known.
bool has_unknown_passes(const Readings& readings) {
    return is_number(readings[Counter::shared_atomic_requests]) &&
           !is_number(readings[Counter::shared_atomic_wavefronts]);
}
void set_no_time(Readings& readings) {
    constexpr Unavailable turns{
        "lanes of an atomic on shared memory that meet on a word take turns: how long these take "
        "only a measurement tells"};
    readings[Counter::duration_seconds] = turns;
    readings[Counter::bandwidth_bytes_per_second] = turns;
}

}  // namespace

std::optional<Estimates> add_estimates(const Machine& machine, const Plan& plan, CacheState cache,
                                       Readings& readings) {
    const bool has_time = !has_unknown_passes(readings);
    const std::optional<Rates> rates = rates_of(machine);
    if (!rates || !is_modelled(machine, plan)) {
        if (has_time) return estimate_by_traffic(plan, readings);
        set_no_time(readings);
        return std::nullopt;
    }

    const LaunchEstimate launch =
        estimate_work(machine, plan, cache == CacheState::warm, *rates, readings);
    Collected collected(readings);
    fill_caches(collected, plan, launch.caches, number_or(readings[Counter::load_sectors], 0),
                rates->cache_doubt);
    if (has_time && is_simulated(plan)) {
        const Estimates more =
            add_plan_time(plan, machine, *rates, cache == CacheState::warm, readings);
        std::ranges::copy(more.intervals, std::back_inserter(collected.estimates().intervals));
        collected.estimates().limits = more.limits;
        return collected.estimates();
    }
    fill_writes(collected, launch.caches, rates->cache_doubt);
    fill_dram(collected, launch.work.dram, *machine.board, rates->cache_doubt);

    if (!has_time) {
        set_no_time(readings);
        if (collected.estimates().intervals.empty()) return std::nullopt;
        return collected.estimates();
    }
    const Duration duration = duration_of(launch.work, *rates);
    const auto [low, high] = range_of(duration, *rates);
    const double useful = static_cast<double>(plan.program.useful_bytes);
    collected.set(Counter::duration_seconds, duration.seconds, low, high);
    collected.set(Counter::bandwidth_bytes_per_second, useful / duration.seconds, useful / high,
                  useful / low);
    collected.estimates().limits = {duration.longest()};
    return collected.estimates();
}

}  // namespace coalprof
