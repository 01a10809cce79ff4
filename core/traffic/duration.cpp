#include "core/traffic/duration.h"

#include <algorithm>
#include <cmath>

namespace coalprof {
namespace {

// Measured durations divided by predicted ones.
struct DurationSpread {
    double low = 1;
    double high = 1;
};

// Nine of ten measured / predicted lie between, for the launches of tests/data (but newest.jsonl.gz
// and blind.jsonl.gz) on both GPUs, by limit; wider where few were measured (l1, same_line), and so
// that nine of ten of others do, on a GPU of the calibrated kind as well.
constexpr std::array<DurationSpread, limit_count> spreads{{
    {0.84, 1.28},  // start
    {0.87, 1.15},  // blocks
    {0.75, 1.4},   // instructions
    {0.75, 1.33},  // latency
    {0.56, 1.6},   // l1
    {0.79, 1.58},  // l2
    {0.82, 1.3},   // dram
    {0.62, 1.8},   // same_line
    {0.92, 1.09},  // atomics
}};

double burst_seconds(const DramFlow& flow, double rate, double sparseness, double scattered) {
    constexpr double least_density = 0.02;
    return flow.bursts / rate * std::pow(std::max(flow.density, least_density), -sparseness) *
           (1 + scattered * flow.again);
}

double atomic_seconds(const Work& work, const Rates& rates) {
    if (work.reductions == 0) return 0;
    return work.reductions / rates.reductions_per_second *
           (1 + rates.slice_imbalance * std::sqrt(l2_slices / std::max(work.reduced_lines, 1.0)));
}

// The share of blocks after the first wave, whose loads wait for stores. The first ones have loaded
// all before anything is stored.
double behind_others(const Work& work) { return std::max(0.0, 1 - 1 / work.waves); }

// The degree to which updates of one line wait for each other. Those of random places do so within
// a wave, too, once it fills the multiprocessors; from places in 16 KiB on an H100
// (tests/data/h100/gathered.jsonl.gz).
double waiting_updates(const Work& work) {
    if (!work.stores_at_random) return behind_others(work);
    return 0.75 * std::clamp((work.waves * std::sqrt(work.per_thread) - 0.5) / 0.7, 0.0, 1.0);
}

double request_seconds(const Work& work, const Rates& rates) {
    // A multiprocessor's most is this multiple of its share of L2's rate; for stored lines, which
    // cost L2 three times as much, more. From launches of up to 64 blocks on both GPUs
    // (tests/data).
    constexpr double most_of_share = 1.5;
    constexpr double most_of_stores = 2.4;
    // Reads of lines that are being stored to take as long as stores.
    const double plain_reads = work.l2_read_requests - work.updating_reads;
    // A store that merges with another one in flight costs half as much. From launches of both GPUs
    // whose stores merge (tests/data).
    constexpr double merged_cost = 0.5;
    // Almost nothing where neighbours store to the same lines, an element a thread: 11 million
    // stores that become 0.6 take no longer than their blocks take to start (`lane*20 + i/32`,
    // tests/data/h200/alike.jsonl.gz).
    constexpr double merged_cost_of_same_lines = 0.1;
    const bool is_cheap = work.stores_same_lines && work.per_thread == 1;
    const double stores = std::lerp(work.leaving_store_lines, work.store_lines,
                                    is_cheap ? merged_cost_of_same_lines : merged_cost);
    // Where more than a dozen updates of a sector are in flight, they wait for each other: about
    // twice as long. From columns and lanes at large distances, updated, on both GPUs (tests/data).
    constexpr double few = 12;
    constexpr double waiting = 1.1;
    constexpr double doublings = 0.6;  // from `few` on until all of them wait
    const double crowd = std::log2(std::max(work.updates_at_once / few, 1.0)) / doublings;
    const double updates =
        (stores + work.updating_reads) * (1 + waiting * behind_others(work) * std::min(crowd, 1.0));
    return (plain_reads / rates.l2_read_requests_per_second +
            work.l2_sectors / rates.l2_sectors_per_second) /
               std::min(1.0, most_of_share * work.busy_share) +
           updates / rates.l2_write_requests_per_second /
               std::min(1.0, most_of_stores * work.busy_share);
}

// Where neighbours store to the same lines and many requests leave, all of them come to these lines
// at the same time: how much longer they take, most of all where threads store several parts of
// words. From `lane*K + i/32` on both GPUs (tests/data/h200/alike.jsonl.gz,
// tests/data/h100/alike.jsonl.gz).
double crowding_of(const Work& work) {
    if (!work.stores_same_lines || work.store_lines == 0) return 1;
    const double elements = work.stores_parts ? std::log2(work.per_thread) : 0;
    return 1 + 0.35 * (1 + elements) * work.leaving_store_lines / work.store_lines;
}

// The time of work on one line, at any place.
double line_seconds(const Work& work, const Rates& rates) {
    return work.stores_of_slice / rates.slice_stores_per_second +
           work.reads_of_slice / rates.slice_reads_per_second +
           crowding_of(work) *
               (work.stores_of_line / rates.line_stores_per_second +
                waiting_updates(work) * work.updates_of_line / rates.line_updates_per_second) +
           work.reads_of_line / rates.line_reads_per_second +
           work.reductions / std::max(work.reduced_lines, 1.0) / rates.line_reductions_per_second;
}

// Where lines are random, a request that waits for one of them holds up those after it, whose lines
// are idle: the time of L2 and that of a line add up. 2.9e10 stores a second to 512 lines are
// measured, where L2 alone takes 6.8e10 and the lines 4.6e10 (both GPUs, tests/data).
void wait_in_turn(const Work& work, const Rates& rates, double& l2_seconds, double& line_seconds) {
    if (!work.stores_at_random) return;
    const double requests =
        (work.leaving_store_lines + work.updating_reads) / rates.l2_write_requests_per_second;
    const double both = line_seconds + std::min(l2_seconds, requests);
    double& longer = l2_seconds > line_seconds ? l2_seconds : line_seconds;
    longer = std::max(longer, both);
}

// Bursts of device memory that a wave of loads waits for.
struct WaveMisses {
    double mean = 0;  // for each L2 sector of the launch
    double wave = 0;  // with those in flight when a load comes to them
};
WaveMisses misses_of(const Work& work) {
    // A burst of a plain stream brings two sectors. A warp that misses all of its sectors waits no
    // longer than one that misses half of them.
    constexpr double most_missing = 0.5;
    // A later load waits for the rest of the latency. From loads of one place by many warps on both
    // GPUs (tests/data).
    constexpr double rest = 0.7;
    const double mean = std::min(work.missing, most_missing);
    const double arriving = std::min(work.arriving, most_missing);
    return {.mean = mean, .wave = mean + rest * std::max(0.0, arriving - mean)};
}

// For loads of which some hit L2 and some do not.
double latency_of(const Work& work, const Rates& rates) {
    // Shared, constant and local memory answer at once, and a store waits for nothing.
    const bool waits = work.l2_read_requests + work.reductions > 0;
    return (waits ? rates.latency_seconds : 0) + rates.dram_latency_seconds * misses_of(work).wave;
}

// For a block that loads nothing. From loads after `i % K == 0` on both GPUs (tests/data).
double loading_of(const Work& work) {
    constexpr double idle_latency = 0.4;
    return std::lerp(idle_latency, 1.0, work.loading_share);
}

// Latencies that the elements of a thread take which wait for each other.
double serial_latencies(const Rates& rates, double per_thread) {
    return 1 + rates.serial_share * (per_thread - 1);
}

// A launch of less than a wave still waits for one chain: for pointers, for the rounds in which its
// threads load, for random words. Fitted to launches that take hardly longer than an empty one, on
// both GPUs (tests/data); more elements than these had are counted as so many.
double chain_seconds(const Work& work, const Rates& rates) {
    constexpr double exposed = 0.75;
    const double serial =
        serial_latencies(rates, std::min<double>(work.per_thread, measured_elements));
    const double turns = (work.has_branches ? serial : 1) + work.load_turns - 2;
    const double chain = rates.dependent_latency_seconds * work.dependent_loads * serial +
                         latency_of(work, rates) * turns +
                         rates.word_latency_seconds * (work.hashes > 0);
    return exposed * std::max(0.0, 1 - work.waves) * loading_of(work) * chain;
}

}  // namespace

Limit Duration::longest() const {
    return static_cast<Limit>(std::ranges::max_element(term_seconds) - term_seconds.begin());
}

Duration duration_of(const Work& work, const Rates& rates) {
    Duration duration;
    const auto term = [&](Limit which) -> double& {
        return duration.term_seconds[static_cast<std::size_t>(which)];
    };
    const bool waits = work.l2_read_requests + work.reductions > 0;
    term(Limit::start) =
        work.is_flushed && waits ? rates.flushed_start_seconds : rates.start_seconds;
    term(Limit::blocks) = work.blocks / rates.blocks_per_second;
    term(Limit::instructions) =
        work.issued / rates.issued_per_second + work.hashes / rates.hashes_per_second;
    const double serial = serial_latencies(rates, work.per_thread);
    const double far_latency = waits ? rates.latency_seconds : 0;
    const WaveMisses misses = misses_of(work);
    const double latency = latency_of(work, rates);
    const double slowest = rates.barrier_latency_seconds * misses.wave;
    const double of_waves =
        work.waves * loading_of(work) *
        (latency * (work.has_branches ? serial : 1) +
         rates.dependent_latency_seconds * work.dependent_loads * serial +
         (work.has_branches ? rates.branch_latency_seconds : 0) + (work.has_barrier ? slowest : 0) +
         (work.store_lines > 0 ? rates.store_latency_seconds : 0));
    // A line that is waited for occupies its place in L1 already: a small one holds up further
    // loads.
    const double of_line = far_latency + rates.dram_latency_seconds * misses.mean;
    term(Limit::latency) = std::max(of_waves, work.l1_fills * of_line);
    // Lanes on one bank of several lines wait for each other as in shared memory. `lane*32 + i/32`
    // of f64 on an H100: 37.2 us for 8.4 million passes (tests/data).
    term(Limit::l1) = std::max(work.load_lines / rates.l1_lines_per_second,
                               work.hit_passes / rates.shared_wavefronts_per_second) +
                      work.shared_wavefronts / rates.shared_wavefronts_per_second +
                      work.constant_requests / rates.constant_requests_per_second;
    // Where blocks that run together store to few lines, these and later others, some slices of L2
    // wait for one line each while others are idle. The same holds for many lines that each get
    // many loads, at a third of the time.
    term(Limit::l2) =
        std::hypot(request_seconds(work, rates),
                   crowding_of(work) * work.stores_of_busy_line / rates.line_stores_per_second,
                   work.reads_of_busy_line / rates.busy_line_reads_per_second);
    term(Limit::dram) =
        std::max(burst_seconds(work.dram.read, rates.dram_read_bursts_per_second,
                               rates.read_sparseness, rates.scattered) +
                     burst_seconds(work.dram.write, rates.dram_write_bursts_per_second,
                                   rates.write_sparseness, rates.scattered),
                 work.dram.mixed_lines / rates.mixed_lines_per_second);
    term(Limit::same_line) = line_seconds(work, rates);
    wait_in_turn(work, rates, term(Limit::l2), term(Limit::same_line));
    term(Limit::atomics) = atomic_seconds(work, rates);

    double sum = 0;
    for (std::size_t k = 1; k < limit_count; ++k)
        sum += std::pow(duration.term_seconds[k] * 1e6, rates.overlap);
    const double exposed = rates.exposed_latency * work.waves / work.resident_blocks * far_latency;
    const double chain = chain_seconds(work, rates);
    duration.seconds =
        term(Limit::start) + exposed + chain + std::pow(sum, 1 / rates.overlap) * 1e-6;
    // It overlaps with nothing, but is the same latency that launches of many waves have.
    term(Limit::latency) += chain;
    return duration;
}

DurationRange range_of(const Duration& duration, const Rates& rates) {
    const DurationSpread spread = spreads[static_cast<std::size_t>(duration.longest())];
    // Hosts differ in the start of launches.
    const StartRange starts =
        rates.starts.value_or(StartRange{rates.start_seconds, rates.start_seconds});
    const double sooner = std::max(0.0, rates.start_seconds - starts.least_seconds);
    const double later = std::max(0.0, starts.most_seconds - rates.start_seconds);
    const double below = duration.seconds * (1 - std::pow(spread.low, rates.doubt));
    const double above = duration.seconds * (std::pow(spread.high, rates.doubt) - 1);
    return {.low_seconds = duration.seconds - std::hypot(below, sooner),
            .high_seconds = duration.seconds + std::hypot(above, later)};
}

}  // namespace coalprof
