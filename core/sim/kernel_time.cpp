#include "core/sim/kernel_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/count/occupancy.h"
#include "core/runtime/signal.h"
#include "core/runtime/work_limits.h"
#include "core/sim/slices.h"

namespace coalprof {
namespace {

struct BlockPlaces {
    std::uint32_t resident = 1;
    std::uint32_t l1_kib = 0;
};
BlockPlaces places_of(const Code& code, const KernelLaunch& launch, const Machine& machine) {
    const Occupancy found = occupancy(
        *machine.rules, {.block = launch.threads(),
                         .registers_per_thread = registers_of(code),
                         .shared_bytes = code.shared_bytes + launch.dynamic_shared_bytes});
    const std::uint32_t resident = std::max(1u, found.active_blocks);
    // The driver leaves L1 the memory that the resident blocks do not need.
    const std::uint64_t shared = resident * (code.shared_bytes + launch.dynamic_shared_bytes +
                                             machine.rules->occupancy.shared_reserved_bytes);
    for (const L1Split& split : machine.rules->l1.splits)
        if (split.shared_kib * std::uint64_t{1024} >= shared) return {resident, split.l1_kib};
    return {resident, found.l1_kib};
}

double slices_on(const LaunchModel& model) {
    // An H100's 50 MiB have 80, an H200's 60 MiB 96, by the rates of many lines to those of one.
    constexpr double slice_bytes = 640 << 10;
    return static_cast<double>(model.l2_bytes) / slice_bytes;
}

// A slice serves the packets of atomics one after the other, a sector at a time.
double seconds_of_atomics(const LaunchModel& model, const SimRates& rates) {
    double sectors = 0;
    for (std::size_t i = 0; i < model.kinds.size(); ++i)
        if (!is_load_or_store(model.kinds[i])) sectors += model.totals.sectors[i];
    const LineShares& shares = model.l2.atomics;
    if (shares.lines == 0) return 0;
    return sectors * std::max(shares.busiest, 1 / busy_slices(shares.lines, slices_on(model))) /
           rates.line_reductions_per_second;
}

MultiprocessorRates rates_of_one(const LaunchModel& model, const SimRates& rates) {
    const double busy =
        static_cast<double>(std::min<std::uint64_t>(model.blocks, model.multiprocessors));
    const auto share = [&](double per_second) { return rates.clock_hertz * busy / per_second; };
    MultiprocessorRates one{rates};
    one.block_start = share(rates.blocks_per_second);
    one.read_request = std::max(rates.least_request, share(rates.read_requests_per_second));
    one.sector = std::max(rates.least_sector, share(rates.sectors_per_second));
    one.write_request = std::max(rates.least_request, share(rates.write_requests_per_second));
    one.write_sector = share(rates.write_sectors_per_second);
    one.reduction = share(rates.reductions_per_second);
    const double slices = slices_on(model);
    one.slice_sector = share(rates.line_reductions_per_second) / slices;
    // docs/measurements/h200/met_lines.txt
    constexpr double turn_seconds = 18e-9, window_seconds = 103e-9;
    one.slice_turn = share(1 / turn_seconds) / slices;
    one.turn_window = rates.clock_hertz * window_seconds;
    one.sharers = busy;
    one.slices = slices;
    for (const LineShares& stores : model.l2.stores) {
        one.stored_lines.push_back(stores.lines);
        one.store_crowds.push_back(stores.lines > 0 ? slices / busy_slices(stores.lines, slices)
                                                    : 1);
    }
    one.dram_byte = share(rates.dram_read_bytes_per_second);
    one.dram_write_byte = share(rates.dram_write_bytes_per_second);
    // Rows of 34 floats, a thread each, all in 2,176 lines: read again, an H100 finds seven of
    // eight sectors beside 16 KiB of shared memory (docs/measurements/h100/own_rows.txt).
    constexpr std::uint32_t lines_of_kib = 9;
    one.l1_lines = model.l1_kib * lines_of_kib;
    one.resident_blocks = model.resident_blocks;
    return one;
}

std::vector<SiteTraffic> traffic_of_sites(const L2Traffic& l2) {
    std::vector<SiteTraffic> sites(l2.sectors_of_site.size());
    for (std::size_t i = 0; i < sites.size(); ++i)
        if (const double sectors = l2.sectors_of_site[i]; sectors > 0) {
            const double read = l2.read_bytes_of_site[i], written = l2.write_bytes_of_site[i];
            sites[i] = {.read_bytes = read / sectors, .write_bytes = written / sectors};
            if (read > 0) sites[i].read_times = l2.read_time_of_site[i] / read;
            if (written > 0) sites[i].write_times = l2.write_time_of_site[i] / written;
        }
    return sites;
}

// The launch's accesses of a site, relative to the followed ones. Atomics go in packets, of which
// several may be for one sector.
double times_followed(const LaunchModel& model, const L2Traffic& l2, std::size_t site) {
    const double all = model.totals.sectors[site];
    return is_load_or_store(model.kinds[site]) && all > 0 ? all / l2.sectors_of_site[site]
                                                          : model.totals.sampled;
}

// Device memory moves what it moves for the launch, though other blocks may do more than those that
// were traced: a full hash table is searched for longer than an empty one.
void share_among_traced(std::vector<SiteTraffic>& traffic, const LaunchModel& model,
                        const L2Traffic& l2) {
    if (model.traces.kept_share < 1) return;
    const std::vector<double> traced = sectors_of_sites(model.traces, traffic.size());
    const double blocks = static_cast<double>(model.traces.blocks.size()) * model.traced_work;
    for (std::size_t i = 0; i < traffic.size(); ++i) {
        if (traced[i] == 0 || l2.sectors_of_site[i] == 0) continue;
        const double all = l2.sectors_of_site[i] * times_followed(model, l2, i);
        const double times = all * blocks / (traced[i] * static_cast<double>(model.blocks));
        traffic[i].read_bytes *= times;
        traffic[i].write_bytes *= times;
    }
}

// By site: the share of repeated loads that L1 answered, those first that were loaded last. True if
// enough of them missed to change the traffic of L2.
bool lower_to_simulated(std::vector<Ages>& kept_by_l1, const L2Traffic& l2,
                        const SimResult& simulated) {
    constexpr double few = 0.03;
    double missed = 0, all = 0;
    for (std::size_t i = 0; i < kept_by_l1.size(); ++i) {
        all += l2.sectors_of_site[i];
        if (simulated.load_sectors[i] == 0) continue;
        double hits = simulated.hit_sectors[i] / simulated.load_sectors[i] * l2.sectors_of_site[i];
        for (std::size_t age = 0; age < Ages().size(); ++age) {
            const double repeats = l2.repeats_of_site[i][age];
            if (repeats == 0) continue;
            kept_by_l1[i][age] = std::min(1.0, hits / repeats);
            hits = std::max(0.0, hits - repeats);
            missed += repeats * (1 - kept_by_l1[i][age]);
        }
    }
    return missed > few * all;
}

// The share that misses of so many bytes that come again and again in the same order, where random
// lines are evicted: as many stay as do not miss.
double missing_of_rounds(double bytes, double cache_bytes) {
    double missing = 1;
    for (int i = 0; i < 50; ++i) missing = 1 - std::exp(-missing * bytes / cache_bytes);
    return missing;
}

// Accesses that come after those that L2 was followed for, in loops that are run again: where L1
// misses they move what those before them moved, but for what L2 still has of what a wave of blocks
// loads. True if there are some.
bool add_unfollowed(L2Traffic& l2, const LaunchModel& model, const SimResult& simulated,
                    double l2_bytes) {
    const auto asked_of_l2 = [&](std::size_t i) {
        const bool is_seen = !simulated.load_sectors.empty() && simulated.load_sectors[i] > 0;
        const double hits = is_seen ? simulated.hit_sectors[i] / simulated.load_sectors[i] : 0;
        return model.totals.sectors[i] * (1 - hits);
    };
    double followed = 0, bytes = 0, time = 0;
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        if (l2.sectors_of_site[i] == 0) continue;
        followed += asked_of_l2(i);
        bytes += l2.read_bytes_of_site[i] * times_followed(model, l2, i);
        time += l2.read_time_of_site[i] * times_followed(model, l2, i);
    }
    const double waves = std::max(
        1.0, static_cast<double>(model.blocks) / static_cast<double>(model.l2.blocks_at_once));
    bool is_some = false;
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        const double all = model.totals.sectors[i];
        if (all == 0 || followed == 0 || l2.sectors_of_site[i] > 0) continue;
        const bool is_store = model.kinds[i] == AccessKind::store;
        const double moved =
            asked_of_l2(i) / followed * (is_store ? 1 : missing_of_rounds(bytes / waves, l2_bytes));
        l2.sectors_of_site[i] = all;
        (is_store ? l2.write_bytes_of_site : l2.read_bytes_of_site)[i] = bytes * moved;
        (is_store ? l2.write_time_of_site : l2.read_time_of_site)[i] = time * moved;
        is_some = true;
    }
    return is_some;
}

void mend(L2Traffic& l2, const std::vector<MendedShare>& mended) {
    for (std::size_t i = 0; i < mended.size(); ++i) {
        l2.sectors_of_site[i] *= mended[i].sectors;
        l2.read_bytes_of_site[i] *= mended[i].read_bytes;
        l2.write_bytes_of_site[i] *= mended[i].write_bytes;
        l2.read_time_of_site[i] *= mended[i].read_bytes;
        l2.write_time_of_site[i] *= mended[i].write_bytes;
    }
}

// Scales the traffic of the replayed accesses to the launch; subtracts lines that stay dirty when
// it ends.
void set_dram(SimulatedTime& time, const LaunchModel& model, L2Traffic& l2) {
    time.dram_of_site.resize(model.kinds.size());
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        if (l2.sectors_of_site[i] == 0) continue;
        const double times = times_followed(model, l2, i);
        SiteTraffic& of_site = time.dram_of_site[i];
        of_site.read_bytes = l2.read_bytes_of_site[i] * times;
        of_site.write_bytes = l2.write_bytes_of_site[i] * times;
        time.dram_read_bytes += of_site.read_bytes;
        time.dram_write_bytes += of_site.write_bytes;
    }
    const double leaves = std::max(0.0, time.dram_write_bytes - l2.dirty_bytes);
    for (auto* const of_site : {&l2.write_bytes_of_site, &l2.write_time_of_site})
        for (double& one : *of_site) one *= leaves / std::max(1.0, time.dram_write_bytes);
    time.dram_write_bytes = leaves;
}

// Scales the traced blocks' counts to the launch.
void set_l1(SimulatedTime& time, const LaunchModel& model, const SimResult& simulated,
            double l1_pass) {
    time.l1_passes = simulated.busy[static_cast<std::size_t>(SimUnit::l1)] / l1_pass *
                     static_cast<double>(model.blocks) /
                     (static_cast<double>(std::max<std::size_t>(1, model.traces.blocks.size())) *
                      model.traces.kept_share * model.traced_work);
    time.l1_hits_of_site.resize(model.kinds.size());
    time.load_passes_of_site.resize(model.kinds.size());
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        const double sectors = model.totals.sectors[i];
        if (model.kinds[i] == AccessKind::store) {
            const double lines = model.totals.lines[i], seen = simulated.stored_lines[i];
            time.l2_write_sectors += seen > 0 ? lines * simulated.write_sectors[i] / seen : sectors;
            time.l2_write_requests += seen > 0 ? lines * simulated.write_requests[i] / seen : lines;
        }
        if (model.kinds[i] != AccessKind::load || sectors == 0) continue;
        const double seen = simulated.load_sectors[i];
        const double hit = seen > 0 ? simulated.hit_sectors[i] / seen : 0;
        time.l1_hits_of_site[i] = hit;
        if (seen > 0)
            time.load_passes_of_site[i] =
                sectors * simulated.cycles_of_site[i].l1_data / l1_pass / seen;
        time.l1_hit_sectors += sectors * hit;
        time.l2_read_sectors += sectors * (1 - hit);
        time.l2_read_requests +=
            seen > 0 ? sectors * simulated.read_requests[i] / seen : model.totals.lines[i];
    }
}

// Rounds that are left out may differ from those that are kept, as if fewer lanes work in them.
double traced_share_of_sectors(const LaunchModel& model) {
    if (model.traces.kept_share >= 1) return 1;
    const std::vector<double> traced = sectors_of_sites(model.traces, model.kinds.size());
    const double blocks = static_cast<double>(model.traces.blocks.size()) * model.traced_work;
    const double all = std::reduce(model.totals.sectors.begin(), model.totals.sectors.end()) *
                       blocks / static_cast<double>(model.blocks);
    const double share = all > 0 ? std::reduce(traced.begin(), traced.end()) / all : 0;
    return std::clamp(share, model.traces.kept_share, 1.0);
}

// The share of the blocks' time that was simulated: what L2 or device memory serves takes
// longer by the sectors that are left out, the rest by the events.
double simulated_share(const LaunchModel& model, const SimResult& simulated, double of_sectors) {
    double busy = 0;
    for (const SimUnit unit : {SimUnit::l2, SimUnit::dram})
        busy = std::max(busy, simulated.busy[static_cast<std::size_t>(unit)]);
    busy = std::min(1.0, busy / std::max(simulated.cycles, 1.0));
    return 1 / (busy / of_sectors + (1 - busy) / model.traces.kept_share);
}

// Cycles of all blocks of the multiprocessor: those that were simulated, then more at the pace of
// the middle ones, while as many are resident as fit.
double cycles_of_all(const LaunchModel& model, const SimResult& simulated, double block_start,
                     double share) {
    const double count = static_cast<double>(simulated.ends.size());
    const double started =
        static_cast<double>(model.blocks) / static_cast<double>(model.multiprocessors);
    const double cycles = simulated.cycles / share;
    const std::size_t third = simulated.ends.size() / 3;
    if (started <= count || third == 0) return cycles;
    // Blocks with the launch's work, if all are like the simulated ones. The others only start,
    // while these run.
    const double all = started / model.traced_work, starts = started * block_start;
    if (all <= count) return std::max(cycles, starts);
    const SimResult::End &from = simulated.ends[third - 1], &to = simulated.ends[2 * third - 1];
    const double pace = (to.at - from.at) / static_cast<double>(third) / share;
    // No part is busy longer than the launch takes, stores that still wait for device memory among
    // its work. The first stores to few lines join less than later ones.
    std::array<double, sim_units> busy = simulated.busy;
    for (double& one : busy) one *= all / count;
    constexpr auto l2 = static_cast<std::size_t>(SimUnit::l2);
    const double late = simulated.busy[l2] - to.l2_busy;
    const double of_late = static_cast<double>(simulated.ends.size() - 2 * third);
    busy[l2] = std::min(busy[l2], simulated.busy[l2] + (all - count) * late / of_late);
    const double busiest = *std::ranges::max_element(busy);
    return std::max({cycles + (all - count) * pace, busiest / share, starts});
}

// The end of the longest block, which starts when a place is free and in the end runs alone.
double longest_cycles(LaunchModel& model, const SimRates& rates,
                      const std::vector<SiteTraffic>& traffic, double cycles) {
    if (model.longest.blocks.empty()) return 0;
    const std::uint64_t blocks = model.blocks;
    model.blocks = 1;
    const SimResult alone =
        simulate_multiprocessor(model.longest, rates_of_one(model, rates), traffic);
    model.blocks = blocks;
    const double begin =
        cycles * static_cast<double>(model.l2.longest_block) / static_cast<double>(blocks);
    return begin + alone.cycles / model.longest.kept_share;
}

Limit limit_of(SimUnit unit) {
    switch (unit) {
        case SimUnit::blocks: return Limit::blocks;
        case SimUnit::l1: return Limit::l1;
        case SimUnit::l2: return Limit::l2;
        case SimUnit::dram: return Limit::dram;
        default: return Limit::instructions;
    }
}

void set_limits(SimulatedTime& time, double start, double line, bool stores_meet) {
    const double inside = time.seconds - start;
    const auto busiest = std::ranges::max_element(time.busy_seconds);
    const auto unit = static_cast<SimUnit>(busiest - time.busy_seconds.begin());
    constexpr double busy_enough = 0.5;
    if (start > inside)
        time.limits = {Limit::start};
    else if (line > busy_enough * inside)
        time.limits = {Limit::atomics};
    else if (*busiest > busy_enough * inside)
        time.limits = {unit == SimUnit::l2 && stores_meet ? Limit::same_line : limit_of(unit)};
    else
        time.limits = {Limit::latency};
}

double cycles_at(const SiteCycles& cycles, AccessKind kind, Limit limit) {
    switch (limit) {
        case Limit::l1: return cycles.l1;
        case Limit::dram: return cycles.dram;
        case Limit::latency: return cycles.waits;
        case Limit::same_line: return kind == AccessKind::store ? cycles.l2 : 0;
        case Limit::atomics:
            return kind == AccessKind::atomic || kind == AccessKind::reduce ? cycles.l2 : 0;
        case Limit::l2: return cycles.l2;
        default: return 0;
    }
}

void set_costs(SimulatedTime& time, const LaunchModel& model, const SimResult& simulated) {
    double all = 0;
    for (std::size_t i = 0; i < model.kinds.size(); ++i) {
        time.cost_of_site.push_back(
            cycles_at(simulated.cycles_of_site[i], model.kinds[i], time.limits.front()));
        all += time.cost_of_site.back();
    }
    if (all == 0) time.cost_of_site.clear();
    for (double& one : time.cost_of_site) one /= all;
}

// Measured divided by predicted times: about nine of ten of all natural launches (tests/natural) on
// an H100 are within; no rate was fitted to half of them. On an H200 132 of 144 are.
struct Hold {
    double low = 1;
    double high = 1;
};
constexpr Hold l1_passes{0.9, 1.22}, dram_reads{0.88, 1.1}, dram_writes{0.9, 1.2};
// Likewise of 379 launches of patterns and formulas (docs/accuracy.md): wider than natural ones, as
// more of their warps share lines.
constexpr Hold hits{0.75, 1.12}, read_requests{0.53, 1.35}, read_sectors{0.67, 1.22},
    write_requests{0.43, 2.3}, write_sectors{0.43, 2.2};
// By limit.
constexpr std::array<Hold, limit_count> times{{{0.78, 1.25},  // start
                                               {0.7, 1.3},    // blocks
                                               {0.75, 1.25},  // instructions
                                               {0.68, 1.3},   // latency
                                               {0.7, 2.45},   // l1
                                               {0.6, 2.4},    // l2
                                               {0.78, 1.45},  // dram
                                               {0.6, 1.7},    // same_line
                                               {0.6, 1.7}}};  // atomics

constexpr double fewest_waves = 3;

}  // namespace

double waves_of(double accesses, double lines) {
    constexpr double most_accesses = 12'000, most_lines = 80'000;
    const double affordable =
        std::min(most_accesses / std::max(1.0, accesses), most_lines / std::max(1.0, lines));
    return std::clamp(affordable, fewest_waves, 12.0);
}

std::vector<std::uint64_t> traced_blocks(std::uint64_t blocks, std::uint32_t multiprocessors,
                                         std::uint32_t resident, double waves,
                                         const WorkShape& work, double working) {
    const std::uint64_t all = (blocks + multiprocessors - 1) / multiprocessors;
    constexpr double fewest = 1.0 / 16;          // so that a trace is not spread over too many
    const double spare = working < 1 ? 1.5 : 1;  // they do not alternate
    const std::uint64_t count = std::min(
        all,
        static_cast<std::uint64_t>(waves * resident * spare / std::clamp(working, fewest, 1.0)));
    const auto middle = static_cast<std::uint64_t>(work.middle() * static_cast<double>(blocks));
    const std::uint64_t before = std::min(middle / multiprocessors, count / 2);
    const std::uint64_t first = std::min(middle / multiprocessors - before, all - count);
    // Blocks are assigned as places become free: neither every other one nor those of one column.
    constexpr std::uint64_t step = 53;  // divides no GPU's number of multiprocessors
    std::vector<std::uint64_t> traced;
    for (std::uint64_t turn = first; turn < first + count; ++turn) {
        const std::uint64_t steps =
            turn + multiprocessors - middle / multiprocessors % multiprocessors;
        const std::uint64_t which =
            all > count || working < 1 ? (middle + steps * step) % multiprocessors : 0;
        if (const std::uint64_t one = turn * multiprocessors + which; one < blocks)
            traced.push_back(one);
    }
    return traced;
}

Estimates estimates_from(const SimulatedTime& time, double sampled, const Rates& rates,
                         Readings& readings, bool is_plan) {
    Estimates estimates;
    // Random blocks of the whole launch share less than neighbours do.
    const double widened = sampled > 1 ? 4 : 1;
    const auto set = [&](Counter counter, double value, Hold hold, double doubt, double beside,
                         double least = 0, double most = std::numeric_limits<double>::infinity()) {
        const bool is_there = is_present(std::as_const(readings)[counter]);
        const bool is_wanted = counter == Counter::duration_seconds || !is_plan || is_there;
        if (!is_wanted || is_number(readings[counter])) return;
        if (info(counter).is_integer)
            readings[counter] = static_cast<std::uint64_t>(std::llround(value));
        else
            readings[counter] = value;
        double low = std::max(least, value * std::pow(hold.low, doubt) - beside);
        double high = std::min(std::max(value, most), value * std::pow(hold.high, doubt) + beside);
        if (info(counter).is_integer) low = std::floor(low), high = std::ceil(high);
        estimates.intervals.push_back({counter, low, high});
    };
    const double doubt = rates.cache_doubt;
    // L2 is sent no more than warps ask for.
    constexpr double unknown = std::numeric_limits<double>::infinity();
    const auto sent = [&](Counter counter, double otherwise) {
        return number_or(std::as_const(readings)[counter], otherwise);
    };
    const double loaded = sent(Counter::load_sectors, unknown) + sent(Counter::atomic_sectors, 0);
    const double stored = sent(Counter::store_sectors, unknown);
    set(Counter::l1_passes, time.l1_passes, l1_passes, doubt, 0);
    set(Counter::l1_hit_sectors, time.l1_hit_sectors, hits, doubt, 0, 0, loaded);
    set(Counter::l2_read_requests, time.l2_read_requests, read_requests, doubt, 0, 0, loaded);
    set(Counter::l2_read_sectors, time.l2_read_sectors, read_sectors, doubt, 0, 0, loaded);
    set(Counter::l2_write_requests, time.l2_write_requests, write_requests, doubt, 0, 0,
        std::min(stored, sent(Counter::store_lines, unknown)));
    set(Counter::l2_write_sectors, time.l2_write_sectors, write_sectors, doubt, 0, 0, stored);
    // Data that other work leaves in L2 is read and written beside the launch.
    constexpr double other_work = 96 << 10;
    set(Counter::dram_read_bytes, time.dram_read_bytes, dram_reads, doubt * widened, other_work);
    set(Counter::dram_write_bytes, time.dram_write_bytes, dram_writes, doubt * widened,
        time.dirty_bytes);
    // Hosts differ in the start of launches; an empty one takes as long.
    const double start =
        is_plan && rates.starts ? rates.starts->most_seconds - rates.starts->least_seconds : 0;
    set(Counter::duration_seconds, time.seconds,
        times[static_cast<std::size_t>(time.limits.front())], rates.doubt, start,
        std::min(time.seconds, rates.sim.start_seconds));
    estimates.limits = time.limits;
    return estimates;
}

Estimates estimates_of(const SimulatedLaunch& launch, const Machine& machine, Readings& readings) {
    return estimates_from(launch.time, launch.model.totals.sampled, *rates_of(machine), readings);
}

void add_passes(const SimulatedTime& time, const std::vector<std::uint32_t>& sites,
                const Machine& machine, Point& point) {
    double passes = 0;
    for (const std::uint32_t site : sites) passes += time.load_passes_of_site[site];
    if (passes == 0) return;
    point.predicted[Counter::load_data_wavefronts] =
        static_cast<std::uint64_t>(std::llround(passes));
    if (!point.estimates) point.estimates.emplace();
    const double doubt = rates_of(machine)->cache_doubt;
    point.estimates->intervals.push_back({Counter::load_data_wavefronts,
                                          passes * std::pow(l1_passes.low, doubt),
                                          passes * std::pow(l1_passes.high, doubt)});
}

void add_cost(const SimulatedTime& time, const std::vector<std::uint32_t>& sites,
              const Machine& machine, Point& point) {
    const Limit limit = time.limits.front();
    if (time.cost_of_site.empty()) {
        point.predicted[Counter::cost_share] = Unavailable{keep_reason(
            fmt::format("the kernel is limited by {}, not by its accesses", phrase_of(limit)))};
        return;
    }
    double share = 0;
    for (const std::uint32_t site : sites) share += time.cost_of_site[site];
    share = std::min(share, 1.0);
    point.predicted[Counter::cost_share] = share;
    // As certain as what it is a share of.
    const Hold hold = limit == Limit::latency ? times[static_cast<std::size_t>(limit)]
                      : limit == Limit::dram  ? dram_reads
                                              : l1_passes;
    const double doubt = rates_of(machine)->cache_doubt;
    const auto if_times = [&](double factor) {
        return share * factor / (share * factor + (1 - share));
    };
    if (!point.estimates) point.estimates.emplace();
    point.estimates->intervals.push_back({Counter::cost_share, if_times(std::pow(hold.low, doubt)),
                                          if_times(std::pow(hold.high, doubt))});
}

SimulatedTime time_of(LaunchModel& model, const SimRates& rates) {
    L2Sizes sizes{.bytes = rates.l2_share * static_cast<double>(model.l2_bytes),
                  .most_dirty_bytes = rates.dirty_share * static_cast<double>(model.l2_bytes),
                  .most_partial_bytes = rates.partial_share * static_cast<double>(model.l2_bytes),
                  .fetch_bytes = model.fetch_bytes,
                  .read_row_bytes = rates.dram_read_bytes_per_second / rates.dram_rows_per_second,
                  .write_row_bytes = rates.dram_write_bytes_per_second / rates.dram_rows_per_second,
                  .turn_bytes = rates.dram_write_bytes_per_second / rates.dram_turns_per_second,
                  .is_warm = model.is_warm,
                  .multiprocessors = model.multiprocessors,
                  .kept_by_l1 = model.kept_by_l1};
    Ages all_kept;
    all_kept.fill(1);
    if (model.kept_by_l1.empty()) sizes.kept_by_l1.resize(model.kinds.size(), all_kept);
    const MultiprocessorRates of_one = rates_of_one(model, rates);
    SimulatedTime time;
    std::vector<SiteTraffic> traffic;
    SimResult simulated;
    bool has_unfollowed = false;
    const auto simulate = [&] {
        L2Traffic l2 = replay_l2(model.l2, sizes, model.kinds.size());
        has_unfollowed = add_unfollowed(l2, model, simulated, sizes.bytes);
        mend(l2, model.mended);
        time = {};
        set_dram(time, model, l2);
        traffic = traffic_of_sites(l2);
        share_among_traced(traffic, model, l2);
        simulated = simulate_multiprocessor(model.traces, of_one, traffic);
        return l2;
    };
    // Once more where L1 has kept less than it could: L2 sees the rest.
    const L2Traffic l2 = simulate();
    const bool is_first = model.kept_by_l1.empty();
    if ((is_first && lower_to_simulated(sizes.kept_by_l1, l2, simulated)) || has_unfollowed)
        simulate();
    model.kept_by_l1 = sizes.kept_by_l1;
    time.dirty_bytes = sizes.most_dirty_bytes / 2;
    set_l1(time, model, simulated, of_one.l1_pass);
    const double cycles =
        cycles_of_all(model, simulated, of_one.block_start,
                      simulated_share(model, simulated, traced_share_of_sectors(model)));
    const double line = seconds_of_atomics(model, rates);
    const double scale = cycles / std::max(simulated.cycles, 1.0);
    for (std::size_t i = 0; i < sim_units; ++i)
        time.busy_seconds[i] = simulated.busy[i] * scale / rates.clock_hertz;
    const double last = longest_cycles(model, rates, traffic, cycles);
    time.seconds = model.start_seconds + std::max(std::max(cycles, last) / rates.clock_hertz, line);
    set_limits(
        time, model.start_seconds, line,
        std::ranges::any_of(of_one.store_crowds, [](double times) { return times > crowded; }));
    set_costs(time, model, simulated);
    return time;
}

bool is_simulated_on(const Machine& machine) {
    return rates_of(machine) && machine.rules->global == GlobalRule::sectors_by_warp;
}

std::uint64_t blocks_at_once(const Code& code, const KernelLaunch& launch, const Machine& machine) {
    return std::uint64_t{places_of(code, launch, machine).resident} *
           (machine.board ? machine.board->multiprocessors : 132);
}

namespace {

bool has_access(const std::vector<WarpEvents>& block) {
    const auto is_access = [](const TraceEvent& event) {
        return event.unit != TraceUnit::none && event.unit != TraceUnit::barrier;
    };
    return std::ranges::any_of(
        block, [&](const WarpEvents& warp) { return std::ranges::any_of(warp.events, is_access); });
}

bool is_in(const BlockBox& box, const KernelLaunch& launch, std::uint64_t block) {
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint64_t at = block % launch.grid[d], first = box.first[d];
        const std::uint64_t stride = std::max(1u, box.stride[d]);
        block /= launch.grid[d];
        if (at < first || (at - first) % stride != 0 || (at - first) / stride >= box.count[d])
            return false;
    }
    return true;
}

// Each of these blocks, or the next one that works and is not among them.
void move_to_working(std::vector<std::uint64_t>& numbers, const std::vector<BlockBox>& boxes,
                     const KernelLaunch& launch) {
    constexpr std::uint64_t most_steps = 1024;
    std::vector<std::uint64_t> moved;
    for (const std::uint64_t number : numbers)
        for (std::uint64_t i = 0; i < most_steps; ++i) {
            const std::uint64_t block = (number + i) % launch.blocks();
            const bool is_free = std::ranges::find(moved, block) == moved.end();
            if (!is_free || std::ranges::none_of(boxes, [&](const BlockBox& box) {
                    return is_in(box, launch, block);
                }))
                continue;
            moved.push_back(block);
            break;
        }
    if (!moved.empty()) numbers = std::move(moved);
}

// True if nearly all of the launch's accesses are of instructions that the trace comes to.
bool reaches_all_sites(const LaunchModel& model) {
    constexpr double few = 0.05;
    const std::vector<double> traced = sectors_of_sites(model.traces, model.totals.sectors.size());
    double missed = 0, all = 0;
    for (std::size_t i = 0; i < traced.size(); ++i) {
        all += model.totals.sectors[i];
        if (traced[i] == 0) missed += model.totals.sectors[i];
    }
    return missed <= few * all;
}

// Traces blocks that work: those that leave at once only take their start.
void trace_working(LaunchModel& model, const Code& code, const KernelLaunch& launch,
                   const LaunchMemory& memory, const Machine& machine) {
    const auto all = static_cast<double>(launch.blocks());
    const WorkShape& working = model.l2.working;
    const double executed = all / model.totals.sampled;
    const double of_launch = working.all() > 0 ? std::min(1.0, working.all() / executed) : 1;
    const double here = of_launch * working.density(model.l2.work.middle());
    const double warps = (launch.threads() + warp_lanes - 1) / warp_lanes;
    const double lines = std::reduce(model.totals.lines.begin(), model.totals.lines.end()) / all;
    const double times = model.resident_blocks * model.l2.longest / of_launch;
    const double waves = waves_of(times * warps * model.l2.accesses_of_warp, times * lines);
    std::vector<std::uint64_t> numbers;
    std::size_t most = 0;
    const auto trace = [&](double times_resident) {
        numbers = traced_blocks(launch.blocks(), model.multiprocessors, model.resident_blocks,
                                times_resident, model.l2.work, here);
        const double of_one = std::ceil(of_launch * all / model.multiprocessors);
        most = static_cast<std::size_t>(std::min(of_one, times_resident * model.resident_blocks));
        if (of_launch < 1 && !model.l2.working_boxes.empty()) {
            move_to_working(numbers, model.l2.working_boxes, launch);
            const std::size_t rest = numbers.size() - std::min(numbers.size(), most);
            numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(rest / 2));
            numbers.resize(numbers.size() - (rest - rest / 2));
        }
        model.traces = trace_blocks(code, launch, memory, machine, numbers, {}, model.traced_share);
    };
    trace(waves);
    if (model.traces.kept_share < 1 && waves > fewest_waves) trace(fewest_waves);
    // Of warps that are not alike the long ones get the room that the short ones leave.
    constexpr double most_of_all = 250'000;
    const double of_traced = lines * static_cast<double>(numbers.size());
    if (model.traces.kept_share < 1 && of_traced < most_of_all &&
        static_cast<double>(model.traces.events) / model.traces.kept_share < most_of_all) {
        model.traced_share = without_limit;
        trace(fewest_waves);
    }
    // Some hundredths of a second.
    constexpr double most_events = 2'000'000;
    if (static_cast<double>(model.traces.events) / model.traces.kept_share < most_events &&
        !reaches_all_sites(model)) {
        model.traced_share = model.traces.kept_share;
        if (model.traced_share < 1) trace(fewest_waves);
    }
    std::vector<std::vector<WarpEvents>> kept;
    double work = 0;
    for (std::size_t i = 0; i < numbers.size() && kept.size() < most; ++i) {
        if (!has_access(model.traces.blocks[i])) continue;
        const double place = (static_cast<double>(numbers[i]) + 0.5) / all;
        if (working.density(place) > 0)
            work += model.l2.work.density(place) / working.density(place);
        kept.push_back(std::move(model.traces.blocks[i]));
        model.traced_blocks.push_back(numbers[i]);
    }
    if (kept.empty()) {
        model.traced_blocks = numbers;
        return;
    }
    model.traces.blocks = std::move(kept);
    if (work > 0)
        model.traced_work = work / static_cast<double>(model.traced_blocks.size()) / of_launch;
}

}  // namespace

std::optional<SimulatedLaunch> simulate_launch(const Code& code, const KernelLaunch& launch,
                                               const LaunchMemory& memory, const Machine& machine,
                                               L2Stream& stream, const LaunchTotals& totals) {
    if (!is_simulated_on(machine)) return std::nullopt;
    const CountedWork simulating("simulating its time");
    const std::optional<Rates> rates = rates_of(machine);
    const BlockPlaces places = places_of(code, launch, machine);
    SimulatedLaunch all;
    LaunchModel& model = all.model;
    model.multiprocessors = machine.board->multiprocessors;
    model.l2_bytes = machine.board->l2_bytes.value_or(0);
    model.l2 = stream.sample();
    model.resident_blocks = places.resident;
    model.totals = totals;
    trace_working(model, code, launch, memory, machine);
    constexpr double much_longer = 2;
    if (model.l2.longest > much_longer)
        model.longest = trace_blocks(code, launch, memory, machine, {model.l2.longest_block});
    model.blocks = launch.blocks();
    model.l1_kib = places.l1_kib;
    model.start_seconds = rates->sim.start_seconds;
    for (const PtxSite& site : code.sites) model.kinds.push_back(site.kind);
    stop_if_asked();  // not in time_of(): a measured point keeps its prediction
    all.time = time_of(model, rates->sim);
    return all;
}

}  // namespace coalprof
