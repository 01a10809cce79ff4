#include "core/traffic/dram_traffic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "core/pattern/memory_settings.h"
#include "core/traffic/reach.h"
#include "core/traffic/touched_lines.h"
#include "core/traffic/work.h"

namespace coalprof {
namespace {

constexpr double line = static_cast<double>(line_bytes);
constexpr double sector = static_cast<double>(sector_bytes);
// The share of visits to a sector that is stored a part at a time after which it is written back
// before its next part comes. Fitted to naive transposes on both GPUs (tests/data).
constexpr double early_share = 0.62;

std::size_t index_of(std::uint64_t unit_bytes) {
    return static_cast<std::size_t>(std::countr_zero(unit_bytes / reach_unit_bytes.front()));
}

// The chance that a place is evicted before it is needed again, after `between` bytes of other
// lines, in shares of L2: regular patterns come back after the same time everywhere.
double gone_after(double between, double reuse, const L2Shares& shares) {
    return 1 - std::exp(-std::pow(between / reuse, shares.reuse_power));
}

// The same for random places: for `units` on `lines` lines, of which `kept` stay. The independent
// reference model: as many draws as touch `kept` lines decide.
double gone_at_random(double units, double lines, double kept) {
    if (kept >= lines || units <= 0) return 0;
    return std::exp(lines * std::log(1 - kept / lines) / units);
}

// All units of the array where a sample touched many of them: random samples miss some.
double touched_or_all(double touched, std::uint64_t array_bytes, double unit_bytes) {
    const double all = static_cast<double>(array_bytes) / unit_bytes;
    return touched > 0.3 * all ? std::max(touched, all) : touched;
}

class Model {
 public:
    Model(const std::vector<ArrayReach>& arrays, const DramInputs& inputs, const L2Shares& shares)
        : arrays_(arrays), inputs_(inputs), shares_(shares) {
        for (const ArrayReach& array : arrays) {
            footprint_bytes_ += array.lines() * line;
            random_lines_ += array.random_lines();
            if (array.is_stored || array.is_atomic)
                written_lines_ += array.lines();
            else if (!inputs.loads_leave_first)
                read_lines_ += array.lines();
        }
    }

    DramTraffic traffic() {
        for (const ArrayReach& array : arrays_) {
            if (array.is_loaded) add_fetches(array, array.loads, inputs_.l2_read_sectors);
            if (array.is_atomic) add_fetches(array, array.atomics, array.atomics.accesses);
            if (array.is_stored) add_stores(array, array.stores);
            if (array.is_atomic) add_stores(array, array.atomics);
        }
        finish(traffic_.read, read_once_);
        finish(traffic_.write, write_once_);
        return traffic_;
    }

 private:
    double in_l2(double bytes) const { return bytes / inputs_.l2_bytes; }

    // Bytes of lines that are touched while `reach` goes through one of its periods.
    double between(const ArrayReach& array, const Reach& reach) const {
        const double own = reach.of_period[2] * line;
        return own + std::max(0.0, footprint_bytes_ - array.lines() * line) / reach.periods;
    }

    // The degree to which lines have to go because L2 is full, 0 to 1.
    double full_share() const {
        return share_of_odds(shares_.warm_slope * (in_l2(footprint_bytes_) - shares_.warm_reads));
    }
    // Units that are fetched again because loads that are evicted first (ld.cs) brought them in:
    // their lines make room for those that fill L2 before a cold launch, and for those that the
    // launch stores to; once they are stored to themselves they stay as others do. `alone`,
    // `beside`: the number fetched again if such lines have the shares leaving_alone and leaving of
    // L2.
    double made_room(const ArrayReach& array, const Reach& reach, std::size_t k, double alone,
                     double beside) const {
        if (!inputs_.loads_leave_first || array.is_stored || array.is_atomic) return 0;
        const double pushed = std::min(beside, pushed_out(reach, k));
        return inputs_.is_warm ? full_share() * pushed : std::max(alone, pushed);
    }
    // Units that stores evict at most: each of their lines replaces an evict-first one. Among
    // random places it is one of the same set, if there is one; fetched again, it evicts another
    // one.
    double pushed_out(const Reach& reach, std::size_t k) const {
        if (reach.units[2] == 0) return 0;
        const double units = written_lines_ * reach.units[k] / reach.units[2];
        if (!reach.at_random || units == 0) return units;
        constexpr double lines_of_set = 16;  // assumed; it fits copies from 256 KiB to 4 MiB
        const double of_set = lines_of_set * in_l2(random_lines_ * line);
        return units * (reach.units[2] / std::max(reach.units[2], random_lines_)) *
               std::expm1(of_set);
    }
    // The chance that a random place was evicted by others of its kind; without stores between them
    // that happens later, and more at once. The shapes are fitted.
    static double gone_alone(double crowd) {
        return 1 - std::pow(1 + std::pow(crowd, 3), -1.0 / 3);
    }
    static double gone_beside(double crowd) {
        return crowd > 0 ? 1 + std::expm1(-crowd) / crowd : 0;
    }

    // Lines that come to L2 between a warp's load and its store to the same place. Among random
    // places only those that L2 does not hold.
    double come_meanwhile(const ArrayReach& array) const {
        const Reach& loads = array.loads;
        if (!loads.at_random || loads.units[2] == 0)
            return loads.units[2] * inputs_.share_in_flight;
        const double fetched =
            fetched_again(array, loads, inputs_.l2_read_sectors) + units_of_fetch(loads);
        const double come = std::min(loads.accesses, fetched) * inputs_.share_in_flight;
        return loads.units[2] * (1 - std::exp(-come / loads.units[2]));
    }

    // Times that units of `k` are fetched again after eviction; `kept`: the share of L2 that random
    // places have.
    double comes_again(const ArrayReach& array, const Reach& reach, std::size_t k, double accesses,
                       double kept) const {
        // L2 always has places that are close in time: each unit of a period or a sample counts
        // once.
        const double often = std::min(accesses, reach.of_period[k] * reach.periods);
        const double again = std::max(0.0, often - reach.units[k]);
        if (!reach.at_random) {
            const auto gone = [&](double share) {
                return gone_after(in_l2(between(array, reach)), share, shares_);
            };
            return std::max(again * gone(shares_.reuse),
                            made_room(array, reach, k, again * gone(shares_.leaving_alone),
                                      again * gone(shares_.leaving)));
        }
        const double units =
            touched_or_all(reach.units[k], array.bytes, static_cast<double>(reach_unit_bytes[k]));
        const double lines = touched_or_all(reach.units[2], array.bytes, line);
        // Arrays all of whose places are random share L2 by their size.
        const double own = lines / std::max(lines, random_lines_);
        const double gone = gone_at_random(units, lines, own * kept * inputs_.l2_bytes / line);
        const double leaving = in_l2(random_lines_ * line);
        return std::max(again * gone, made_room(array, reach, k,
                                                again * gone_alone(leaving / shares_.leaving_alone),
                                                again * gone_beside(leaving / shares_.leaving)));
    }

    // Units that L2 has lost when a load that follows another one comes to them. Its first places
    // were not touched before.
    double followers_miss(const ArrayReach& array, const Reach& reach, std::size_t k) const {
        if (array.lags.empty() || &reach != &array.loads) return 0;
        const double each = reach.units[k] / (inputs_.threads + array.longest_lag());
        const auto missed = [&](double share) {
            double units = 0;
            for (const double lag : array.lags) {
                const double between = footprint_bytes_ * lag / inputs_.threads;
                units +=
                    each * (inputs_.threads - lag) * gone_after(in_l2(between), share, shares_);
            }
            return units;
        };
        return std::max(
            missed(shares_.reuse),
            made_room(array, reach, k, missed(shares_.leaving_alone), missed(shares_.leaving)));
    }

    bool leaves_first() const {
        return inputs_.is_warm && inputs_.loads_leave_first && written_lines_ == 0;
    }
    // The share that a launch before this one did not leave in L2.
    double share_missing() const {
        if (!inputs_.is_warm) return 1;
        const double footprint = in_l2(footprint_bytes_);
        if (leaves_first()) return share_left_first(footprint);
        return full_share();
    }
    // The share for evict-first loads: they evict each other, and older lines stay, until there are
    // so many that the launch before this one has evicted its own beginning.
    double share_left_first(double footprint) const {
        const double kept =
            shares_.kept_behind * std::exp(-std::pow(footprint / shares_.most_behind, 6));
        return 1 - std::min(1.0, kept / footprint);
    }

    double units_of_fetch(const Reach& reach) const {
        return reach.units[index_of(inputs_.fetch_bytes)];
    }
    double fetched_again(const ArrayReach& array, const Reach& reach, double accesses) const {
        const std::size_t k = index_of(inputs_.fetch_bytes);
        return comes_again(array, reach, k, accesses, shares_.random_reads) +
               followers_miss(array, reach, k);
    }

    void add_fetches(const ArrayReach& array, const Reach& reach, double accesses) {
        const auto unit = static_cast<double>(inputs_.fetch_bytes);
        const double once = units_of_fetch(reach) * unit;
        const double again = fetched_again(array, reach, accesses) * unit;
        const double bytes = once * share_missing() + again;
        // Fetching one sector takes a burst_bytes, as two of them do.
        const double of_burst = std::min(unit, burst_bytes);
        double bursts_each =
            unit >= burst_bytes || reach.units[0] == 0
                ? 1
                : std::clamp(reach.units[1] / reach.units[0] * (bytes / std::max(once, 1.0)), 0.5,
                             1.0);
        Units fetched = reach.units;
        if (inputs_.fetch_bytes == line_bytes) fetched[1] = 2 * fetched[2];
        double density = density_of(array, fetched);
        if (unit < burst_bytes) join_lone_sectors(array, reach, bursts_each, density);
        // Lines that evict-first loads left in L2 come at once, all of them before the missing
        // ones: the launch takes as long as if they were read too.
        const double timed = leaves_first() ? once + again : bytes;
        add(traffic_.read, bytes, timed / of_burst * bursts_each, density);
        read_once_ += once;
        traffic_.reused_bytes += again + (once - once * share_missing());
    }

    // Dirty bytes that stay in L2 when the launch ends: fewer where other lines come in, and fewer
    // again where device memory has time to take them early.
    double left_bytes(bool is_partial, double dirty_bytes, double lines) const {
        constexpr double least_busy = 0.7;
        constexpr double most_busy = 0.9;
        const double read = read_lines_ / std::max(written_lines_, 1.0);
        const double idle =
            std::clamp((most_busy - inputs_.busy_share) / (most_busy - least_busy), 0.0, 1.0);
        const double streams =
            std::lerp(shares_.streams, shares_.idle_streams, idle * std::min(1.0, read));
        const double most = is_partial ? shares_.dirty_partial : shares_.dirty;
        const double share =
            std::pow(std::pow(most, -4) + std::pow((1 + read) / streams, 4), -0.25);
        const double of_line = dirty_bytes / std::max(lines * line, 1.0);
        return std::min(dirty_bytes, share * inputs_.l2_bytes * of_line *
                                         (lines / std::max(written_lines_, 1.0)));
    }

    void add_stores(const ArrayReach& array, const Reach& reach) {
        const double dirty = reach.units[0] * sector;
        const bool is_partial = array.is_partial(reach);
        const bool is_filled = array.is_loaded || array.is_atomic;  // before it is written
        const double accesses = array.is_atomic ? reach.accesses : inputs_.l2_write_sectors;
        const double again = comes_again(array, reach, 0, accesses, shares_.random_writes) * sector;
        const double left = left_bytes(is_partial && !is_filled, dirty, reach.units[2]);
        double written = std::max(0.0, dirty - left) + again;
        if (inputs_.is_warm)
            written =
                (dirty + again) * std::clamp((in_l2(footprint_bytes_) - shares_.warm_writes) /
                                                 (shares_.warm_all_writes - shares_.warm_writes),
                                             0.0, 1.0);
        // Sectors stored in several parts are partial at each visit to L2.
        const double visits = std::min(accesses, reach.of_period[0] * reach.periods);
        const bool is_split = !reach.at_random && !is_filled && !is_partial &&
                              visits > reach.units[0] &&
                              reach.accesses * array.width_bytes < 0.9 * sector * visits;
        const double parts = is_split ? visits / reach.units[0] : 1;
        const double gone = is_split ? again / sector / (visits - reach.units[0]) : 0;
        // Sectors whose next part comes late are sometimes written back too early.
        const bool is_open = is_split && reach.of_period[2] > warp_lanes;
        const double early = is_open ? early_share * (1 - gone) / parts * written : 0;
        written += early;
        const double over = (dirty + again) / std::max(dirty, 1.0);
        double bursts_each =
            reach.units[0] == 0 ? 1 : std::clamp(reach.units[1] / reach.units[0] * over, 0.5, 1.0);
        double density = density_of(array, reach.units);
        // Whole sectors do not wait for the completion of their neighbours.
        const double whole = is_partial && !is_filled ? array.whole_share : 0;
        bursts_each = std::min(1.0, bursts_each / std::max(whole, 1 - whole));
        if (is_open) {
            // Neither the other half of a burst nor its neighbours have come by then.
            bursts_each = std::max(bursts_each, 1 - 1 / parts);
            density = std::lerp(density_of(array, reach.of_period), density, gone);
        } else {
            join_lone_sectors(array, reach, bursts_each, density);
        }
        add(traffic_.write, written, written / sector * bursts_each,
            array.draws_stores ? written_at_random(array, density) : density);
        write_once_ += dirty;
        traffic_.reused_bytes += again + early;

        double filled = 0;
        if (is_split) {
            filled = again * visits / (visits - reach.units[0]) + early;
        } else if (is_partial && !is_filled) {
            // Sectors are completed when about half of the time to their write-back is over.
            const double fills = comes_again(array, reach, 0, accesses, 1.07) * sector;
            const double at_first = inputs_.is_warm ? 0 : left / 2;
            filled = (1 - whole) * std::min(std::max(0.0, dirty - at_first + fills), 1.3 * written);
        } else if (is_partial && array.is_loaded) {
            // Loaded, but evicted before its store came, each time that it was written back before.
            // Until that store it is evict-first, alone or not.
            const double meanwhile = in_l2(come_meanwhile(array) * line);
            const double leaving = inputs_.loads_leave_first ? full_share() : 0;
            filled = (dirty + again) * std::lerp(gone_after(meanwhile, shares_.reuse, shares_),
                                                 gone_after(meanwhile, shares_.leaving, shares_),
                                                 leaving);
            traffic_.reused_bytes += filled;
        }
        add(traffic_.read, filled, filled / sector * bursts_each, density);
        const double open = (1 - whole) * reach.units[0];  // sectors
        if (whole > 0)
            traffic_.mixed_lines += filled / sector * std::min(1.0, reach.units[2] / open);
        read_once_ += filled;
    }

    // L2 writes back lines to make room: among random places now one here, now one there, however
    // dense they are in the end. From stores to 64, 128 and 256 MiB on both GPUs (tests/data); 32
    // MiB, which L2 keeps nearly all of, are written as others are.
    double written_at_random(const ArrayReach& array, double density) const {
        constexpr double at_random = 0.25;
        const double beyond = std::clamp(4 * in_l2(array.lines() * line) - 3, 0.0, 1.0);
        return std::lerp(density, std::min(density, at_random), beyond);
    }

    // The share of an array that bursts cover. Two on one line count as the line: whole lines are
    // equally fast at any distance.
    static double density_of(const ArrayReach& array, const Units& units) {
        return std::lerp(cover(array, units[1]), 1.0, paired(units));
    }
    static double cover(const ArrayReach& array, double bursts) {
        return std::min(1.0, bursts * burst_bytes / static_cast<double>(array.bytes));
    }
    // The share of lines with two bursts.
    static double paired(const Units& units) {
        return units[2] > 0 ? std::clamp(units[1] / units[2] - 1, 0.0, 1.0) : 0;
    }

    // Bursts of one sector each: two on a line take as long as one.
    static void join_lone_sectors(const ArrayReach& array, const Reach& reach, double& bursts_each,
                                  double& density) {
        if (reach.at_random) return;
        const double lone = std::max(0.0, 2 * bursts_each - 1);
        bursts_each /= 1 + paired(reach.units) * lone;
        density = std::lerp(density, cover(array, reach.units[2]), lone);
    }

    static void add(DramFlow& flow, double bytes, double bursts, double density) {
        if (bytes <= 0) return;
        // Weighted by bursts.
        const double before = flow.bursts;
        flow.bytes += bytes;
        flow.bursts += bursts;
        flow.density =
            before == 0 ? density : (flow.density * before + density * bursts) / flow.bursts;
    }

    static void finish(DramFlow& flow, double once) {
        if (once > 0) flow.again = std::clamp((flow.bytes / once - 1.1) / 0.7, 0.0, 1.0);
    }

    const std::vector<ArrayReach>& arrays_;
    const DramInputs& inputs_;
    const L2Shares& shares_;
    double footprint_bytes_ = 0;
    double random_lines_ = 0;
    double written_lines_ = 0;
    double read_lines_ = 0;
    double read_once_ = 0;
    double write_once_ = 0;
    DramTraffic traffic_;
};

// The bytes of each sector that lanes of one warp store, one bit each, by their sectors.
using StoredBytes = std::map<std::uint64_t, std::uint32_t>;
StoredBytes bytes_stored(const WarpAccess& access) {
    StoredBytes stored;
    const std::uint32_t element = access.width_bytes >= 32 ? ~0u : (1u << access.width_bytes) - 1;
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t at =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))];
        stored[at / sector_bytes] |= element << at % sector_bytes;
    }
    return stored;
}

// The share of stored sectors of which a warp stores every byte.
double share_of_whole(const Program& program, std::span<const Instruction* const> stores) {
    // A random one of each 64: evenly spread ones would all be the same warp of their blocks.
    constexpr std::uint64_t some = 64;
    const std::uint64_t warps = (program.threads + warp_lanes - 1) / warp_lanes;
    Placement placement;
    placement.base_addresses.resize(program.arrays.size());
    double sectors = 0;
    double whole = 0;
    for (const Instruction* one : stores)
        for (std::uint64_t k = 0; k < some; ++k) {
            const std::uint64_t from = warps * k / some;
            const std::uint64_t of = std::max<std::uint64_t>(1, warps * (k + 1) / some - from);
            const std::uint64_t first =
                std::min(from + (hash_of(k + 1) >> 32) % of, warps - 1) * warp_lanes;
            const auto lanes = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(warp_lanes, program.threads - first));
            for (const auto& [at, bytes] :
                 bytes_stored(access_of_warp(program, placement, *one, first, lanes))) {
                sectors += 1;
                whole += bytes == ~0u ? 1 : 0;
            }
        }
    return sectors > 0 ? whole / sectors : 0;
}

// The share of the stored sectors' bytes from which on hardly any stay open: those at the ends of
// rows are few beside the others.
constexpr double nearly_all_stored = 0.9;
double share_stored(const Reach& stored, double width_bytes) {
    const double elements = stored.at_random ? stored.units[0] : stored.accesses;
    return elements * width_bytes / (stored.units[0] * sector);
}

// ArrayReach::whole_share. Where nearly all bytes are stored, each open sector lacks at least one
// element; that a warp leaves it open says nothing, unless most others are stored whole.
double whole_share_of(const Program& program, std::span<const Instruction* const> stores,
                      const Reach& stored, double width_bytes) {
    constexpr double all = 0.999;
    const double bytes = share_stored(stored, width_bytes);
    if (bytes < nearly_all_stored) return share_of_whole(program, stores);
    if (bytes > all || stored.at_random) return 0;
    const double whole = share_of_whole(program, stores);
    return whole < 0.5 ? 0 : std::max(whole, 1 - (1 - bytes) * sector / width_bytes);
}

// Loads that follow others add only their first places.
void set_loads(const Program& program, const std::vector<const Instruction*>& loads,
               ArrayReach& array) {
    const std::vector<std::optional<std::uint64_t>> lags = lags_of(program, loads);
    std::vector<const Instruction*> leading;
    for (std::size_t k = 0; k < loads.size(); ++k)
        if (lags[k])
            array.lags.push_back(static_cast<double>(*lags[k]));
        else
            leading.push_back(loads[k]);
    array.loads = reach_of(program, leading);
    const double threads = static_cast<double>(program.threads);
    for (std::size_t k = 0; k < reach_unit_bytes.size(); ++k) {
        const double all =
            std::ceil(static_cast<double>(array.bytes) / static_cast<double>(reach_unit_bytes[k]));
        array.loads.units[k] =
            std::min(all, array.loads.units[k] * (1 + array.longest_lag() / threads));
    }
}

}  // namespace

bool ArrayReach::is_partial(const Reach& stored) const {
    return share_stored(stored, width_bytes) < nearly_all_stored ||
           (whole_share > 0 && whole_share < 1);
}

double ArrayReach::longest_lag() const { return lags.empty() ? 0 : std::ranges::max(lags); }

double ArrayReach::lines() const {
    return std::max({loads.units[2], stores.units[2], atomics.units[2]});
}

double ArrayReach::random_lines() const {
    double most = 0;
    for (const Reach* reach : {&loads, &stores, &atomics})
        if (reach->at_random) most = std::max(most, touched_or_all(reach->units[2], bytes, line));
    return most;
}

std::vector<ArrayReach> reaches_of(const Program& program) {
    std::vector<ArrayReach> reaches;
    for (std::uint32_t array = 0; array < program.arrays.size(); ++array) {
        ArrayReach reach;
        reach.array = array;
        reach.bytes = program.arrays[array].bytes();
        std::vector<const Instruction*> loads, stores, atomics;
        for (const Instruction& one : program.instructions) {
            if (one.array != array || one.space != Space::global) continue;
            if (one.kind != AccessKind::load) reach.width_bytes += one.width_bytes;
            (is_atomic(one)                 ? atomics
             : one.kind == AccessKind::load ? loads
                                            : stores)
                .push_back(&one);
        }
        reach.width_bytes /=
            static_cast<double>(std::max<std::size_t>(1, stores.size() + atomics.size()));
        reach.is_loaded = !loads.empty();
        reach.is_stored = !stores.empty();
        reach.is_atomic = !atomics.empty();
        if (reach.is_loaded) set_loads(program, loads, reach);
        if (reach.is_stored) {
            reach.stores = reach_of(program, stores);
            reach.draws_stores = std::ranges::any_of(
                stores, [](const Instruction* one) { return hashes_of(one->formula) > 0; });
            reach.whole_share = whole_share_of(program, stores, reach.stores, reach.width_bytes);
        }
        if (reach.is_atomic) reach.atomics = reach_of(program, atomics);
        if (reach.is_loaded || reach.is_stored || reach.is_atomic) reaches.push_back(reach);
    }
    return reaches;
}

double loaded_once(const std::vector<ArrayReach>& arrays) {
    double sectors = 0;
    for (const ArrayReach& array : arrays)
        if (array.is_loaded) sectors += array.loads.units[0];
    return sectors;
}

DramTraffic dram_traffic(const std::vector<ArrayReach>& arrays, const DramInputs& inputs,
                         const L2Shares& shares) {
    return Model(arrays, inputs, shares).traffic();
}

}  // namespace coalprof
