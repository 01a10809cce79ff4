// Hopper, 2022: compute capability 9.0, GH100. The only chip whose rules, caches and rates were
// measured with this program: an H200 and an H100 SXM.
#include "core/machine/generation.h"

namespace coalprof::chips::hopper {

constexpr Rules of_90() {
    constexpr std::string_view warps =
        "single-warp launches on an NVIDIA H200 (driver 580.159, CUDA 13.0, Nsight Compute "
        "2025.3.1, 2026-11-20)";
    Rules rules =
        sectored({9, 0}, "Hopper", split_hopper, with_barriers(occupancy_8x_on(2048, 32, 228), 64));
    rules.evidence = Evidence::measured;
    rules.source = warps;
    rules.tag_banks = TagBanks{0x5EF7AB5, 0x6BAD5DA, 34};
    rules.shared.evidence = Evidence::measured;
    rules.shared.source = warps;
    rules.memory.fill_bytes = 64;
    rules.memory.evidence = Evidence::measured;
    rules.memory.source =
        "kernels on an NVIDIA H200 (driver 580.159, CUDA 13.0, Nsight Compute 2025.3.1, "
        "2026-11-20)";
    // By the DRAM traffic of the next launch on 4, 24 and 48 MiB of arrays (H200, 2026-11-22):
    // after reading its size once, up to 29 % of them still hit, and loads found up to 32 % still
    // to be written back; after one and a half times, 1.5 % and 3 %; after twice, none and 0.1 %,
    // and hardly less after four times.
    rules.memory.flush_reads = 2;
    rules.memory.sustained_fraction = 0.884;
    rules.memory.sustained_source =
        "NVIDIA H200, 4255 of 4814 GB/s in a device-to-device copy (driver 580.159, 2026-11-20)";
    return rules;
}

constexpr std::array rules{of_90()};

constexpr std::string_view database_nvl =
    "TechPowerUp GPU Database (2025-12); its size of L2 is that of boards with less memory";
constexpr std::string_view h20_reports =
    "reports of its data sheet and of a Geekbench run (bandwidth, multiprocessors)";
constexpr std::string_view gh200_news = "NVIDIA's announcement of 2023-08 (bandwidth)";
constexpr std::string_view queried_h200 =
    "multiprocessors, memory clock, bus and L2 as an H200 reports them; clock: TechPowerUp GPU "
    "Database (2025-12)";
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, source, boost clock in
// MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"h100", "H100 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, sheet, 1980, "h100-sxm,h100-sxm5,h100 80gb hbm3"},
    Board{"h100-pcie", "H100 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, sheet, 1755},
    Board{"h100-nvl", "H100 NVL", {9, 0}, 132, peak(2620, 6016), unknown, database_nvl, 1785},
    Board{"h800", "H800 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, database, 1755, "h800-sxm"},
    Board{"h20", "H20", {9, 0}, 78, 4e12, unknown, h20_reports},
    Board{"gh200", "GH200 96 GB", {9, 0}, unknown_count, 4e12, unknown, gh200_news, unknown, "gh200-96,gh200 480gb"},
    Board{"h200", "NVIDIA H200", {9, 0}, 132, peak(3201, 6016), 60 * mib, queried_h200, 1980, "h200-sxm"},
    Board{"h800-pcie", "H800 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, listed, 1755},
};
// clang-format on

// Rates of kernels as people write them. "natural": fitted to the shown half of tests/natural on an
// H100, all of them together (sectors_per_second also on an H200); the rest was measured separately
// or is documented. An H200 has the same but for its memory. Steps of 15 % up or down change the
// mean square error by less than 5 %.
constexpr SimRates simulated() {
    SimRates sim;
    sim.clock_hertz = 1.95e9;                  // natural; calibrate reads 1.98e9 (docs/machines.md)
    sim.start_seconds = 2.4e-6;                // natural
    sim.blocks_per_second = 1.7e9;             // as below
    sim.read_requests_per_second = 2.04e11;    // as below
    sim.sectors_per_second = 2.5e11;           // natural
    sim.write_requests_per_second = 6.25e10;   // as below
    sim.partial_writes_per_second = 1.4e11;    // natural
    sim.reductions_per_second = 1.0e11;        // as below, between the values of two GPUs
    sim.line_reductions_per_second = 5.25e8;   // natural
    sim.dram_read_bytes_per_second = 3.2e12;   // as calibrate reads
    sim.dram_write_bytes_per_second = 3.2e12;  // as calibrate reads
    // docs/measurements/h100/dram_rows.txt: one in 4.1 ns for each of 160 channels
    sim.dram_rows_per_second = 3.9e10;
    // docs/measurements/h100/writeback.txt: lines written back among reads
    sim.dram_turns_per_second = 4.3e10;
    sim.first_block_latency = 655;      // natural
    sim.block_latency = 229;            // as calibrate reads
    sim.dependent_issue = 4;            // where each instruction waits for the one before
    sim.l1_pass = sim.shared_pass = 1;  // core/count; docs/how-it-works.md
    sim.shared_latency = 25;            // about: less the time in queues and passes
    sim.l1_latency = 35;                // about: likewise
    sim.l2_latency = 271.3;             // as calibrate reads
    sim.dram_latency = 415;             // as calibrate reads
    sim.crowd = 140;                    // natural
    sim.l1_queue = 33;                  // natural
    sim.l2_queue = 500;                 // natural
    // docs/measurements/h100/joins.txt: all go together within 4 cycles, none after 40.
    sim.join_cycles = 34;
    sim.least_request = 2.2;  // natural
    sim.least_sector = 0.5;   // 64 bytes a cycle
    sim.l2_share = 0.65;      // natural, by DRAM traffic
    // By DRAM traffic: 28 MiB of an H200's 60 stay dirty of whole lines (`stride --range 2,4,8`), 7
    // of lines with one dirty sector (32); 24 of an H100's 50.
    sim.dirty_share = 0.47;
    // An H100 leaves 50,000 sectors unread at the end of 2^20 stores of words to random places in
    // 64 MiB.
    sim.partial_share = 0.14;
    return sim;
}

// Readings of `coalprof calibrate` on an H100 (docs/measurements/h100/calibrate/simulation.txt)
// that differ from the rates above: one kind of work alone, in a stream, is faster or slower than
// within a kernel.
constexpr SimRates read_on_gh100() {
    SimRates read;
    read.clock_hertz = 1.979e9;
    read.read_requests_per_second = 1.437e11;
    read.sectors_per_second = 2.637e11;
    read.write_requests_per_second = 7.60e10;
    read.partial_writes_per_second = 1.046e11;
    read.line_reductions_per_second = 4.28e8;
    read.dram_rows_per_second = 3.45e10;
    read.dram_turns_per_second = 1.69e10;  // with the loads
    read.dependent_issue = 4.153;
    read.shared_latency = 18;
    read.l1_latency = 27.34;
    read.least_request = 1.02;
    read.least_sector = 0.3;
    return read;
}

// All multiprocessors together, at 1.98 GHz.
constexpr double clocks_per_second = 132 * 1.98e9;

// Values that both boards share.
constexpr Rates gh100() {
    Rates rates;
    // Four schedulers issue one a clock each. Other boards scale it by their multiprocessors, as
    // all rates.
    rates.issued_per_second = 4 * clocks_per_second;
    // Lines looked up in L1: a fit. `lane*31 + i/32 --per-thread 4` takes 97 us with its start for
    // 65 million (H100), where it is 2.7 a clock; even factors, whose lines meet in the tags,
    // fewer.
    rates.l1_lines_per_second = 2.6 * clocks_per_second;
    // Reads of one line: from `scatter --range 4096B --op load --dlcm cv` on an H200, 82,000 of
    // each line in 118 us after the start. Sectors of reductions: from `scatter --range 4096B --op
    // reduce` on both GPUs, 29,800 of each line in 87 us after it (tests/data,
    // docs/measurements/calibrated_h100.json).
    rates.line_reads_per_second = 7e8;
    rates.line_reductions_per_second = 3.5e8;
    // Loads of many lines each that use few lines: `lane*71 + i/32` and others past L1
    // (tests/data).
    rates.busy_line_reads_per_second = 2.6e8;
    // Whole lines: a sector each 0.7 ns. From stores to random places in 128 B to 2 KiB on an H100
    // (tests/data/h100/gathered.jsonl.gz): 3.4e8 to 3.9e8 of each slice. Reads of stored lines take
    // 1.6 times as long (updates of 512 B to 4 KiB, ibid.).
    rates.slice_stores_per_second = 3.55e8;
    rates.slice_reads_per_second = 2.2e8;
    // From `a[i] if lane < K`, K=9 to 31, on both GPUs (tests/data/h200/alike.jsonl.gz,
    // tests/data/h100/alike.jsonl.gz): 7.6e9 to 9.7e9.
    rates.mixed_lines_per_second = 8.5e9;
    // For each burst an L2 sector. From transposes by tiles of 16 and 32 on an H100, an element a
    // thread (docs/measurements/h100/transpose_tiles.txt); in L2 they wait no longer than others.
    rates.barrier_latency_seconds = 1e-6;
    // Fitted to launches that take hardly longer than an empty one, on both GPUs (tests/data).
    rates.word_latency_seconds = 0.45e-6;
    rates.overlap = 6;
    // Fitted to launches of both GPUs (tests/data).
    rates.l2 = {.reuse = 1.08,
                .reuse_power = 2.4,
                .random_reads = 0.68,
                .random_writes = 0.56,
                .leaving = 0.1,
                .leaving_alone = 0.17,
                .dirty = 0.475,
                .dirty_partial = 0.28,
                .streams = 1.1,
                .idle_streams = 0.68,
                .warm_reads = 0.71,
                .warm_slope = 25,
                .kept_behind = 0.44,
                .most_behind = 2.5,
                .warm_writes = 0.2,
                .warm_all_writes = 0.85};
    // The start of a launch differs from host to host by more than from GPU to GPU. From fits of
    // whole launches: 3.3 and 4.6 us on two with an H200, 3.5, 4.1 and 5.0 us on three with an
    // H100; by `coalprof calibrate`, timed as sweeps are, 3.19 to 3.29 us on seven H200s and 3.25
    // to 3.39 on four H100s (2026-11-22 to 24).
    rates.starts = StartRange{.least_seconds = 3.21e-6, .most_seconds = 5.01e-6};
    return rates;
}

// The rates in which they differ. Those of the H200 were fitted to 308 launches (tests/data/h200,
// 2026-11-22); most then moved half the way, as powers, to the values that `coalprof calibrate`
// found on another one (docs/measurements/calibrated_h200.json), as each alone predicts the other's
// launches worse. The latencies of loads were moved less and stores to L2 not at all, or launches
// in tests would be off. Those of the H100 were fitted to 204 launches of an H100 SXM
// (tests/data/h100, 2026-11-22) and to the 125 of `coalprof calibrate` on another one
// (docs/measurements/calibrated_h100.json), which starts launches 0.95 us sooner.
struct RateOfBoth {
    double Rates::*rate;
    double of_h200;
    double of_h100;
};
constexpr RateOfBoth of_both[] = {
    {&Rates::start_seconds, 3.28e-6, 5.01e-6},
    {&Rates::flushed_start_seconds, 3.82e-6, 5.409e-6},
    {&Rates::blocks_per_second, 1.69e9, 1.70e9},
    {&Rates::hashes_per_second, 7.24e9, 7.09e9},
    {&Rates::latency_seconds, 0.261e-6, 0.268e-6},
    {&Rates::dram_latency_seconds, 0.585e-6, 0.395e-6},
    {&Rates::branch_latency_seconds, 0.191e-6, 0.239e-6},
    {&Rates::store_latency_seconds, 0.202e-6, 0.258e-6},
    {&Rates::dependent_latency_seconds, 0.625e-6, 0.515e-6},
    {&Rates::serial_share, 0.45, 0.618},
    {&Rates::exposed_latency, 1.21, 1.54},
    // From the sweeps of an H200 in tests/data/h200/near_memories.csv: random elements of shared
    // memory take as long whatever their conflicts, and 32 constants of a warp 32 times 2.25
    // clocks.
    {&Rates::shared_wavefronts_per_second, clocks_per_second, 2.38e11},
    {&Rates::constant_requests_per_second, clocks_per_second / 2.25, 1.11e11},
    {&Rates::l2_read_requests_per_second, 2.35e11, 2.04e11},
    {&Rates::l2_write_requests_per_second, 6.82e10, 6.25e10},
    {&Rates::l2_sectors_per_second, 4.11e11, 3.55e11},
    {&Rates::dram_read_bursts_per_second, 7.05e10, 5.00e10},
    {&Rates::dram_write_bursts_per_second, 5.61e10, 4.33e10},
    {&Rates::read_sparseness, 0.226, 0.184},
    {&Rates::write_sparseness, 0.434, 0.363},
    {&Rates::scattered, 0.519, 0.476},
    {&Rates::line_stores_per_second, 9.79e7, 1.09e8},
    {&Rates::line_updates_per_second, 2.95e7, 2.83e7},
    {&Rates::reductions_per_second, 1.11e11, 9.22e10},
    {&Rates::slice_imbalance, 2.04, 1.68},
};

constexpr Rates with(double RateOfBoth::*of_board) {
    Rates rates = gh100();
    rates.sim = simulated();
    rates.sim_read = read_on_gh100();
    for (const RateOfBoth& one : of_both) rates.*one.rate = one.*of_board;
    return rates;
}

constexpr Rates h200() {
    Rates rates = with(&RateOfBoth::of_h200);
    rates.sim.dram_read_bytes_per_second *= 4814.0 / 3352.0;  // their peaks
    for (SimRates* const one : {&rates.sim, &rates.sim_read}) {
        one->dram_write_bytes_per_second *= 4814.0 / 3352.0;
        one->dram_rows_per_second *= 6.0 / 5.0;  // their stacks
        one->dram_turns_per_second *= 6.0 / 5.0;
    }
    return rates;
}

// The first one, scaled, is used for boards that were not measured.
constexpr std::array measured{MeasuredBoard{"h200", h200()},
                              MeasuredBoard{"h100", with(&RateOfBoth::of_h100)}};

Generation generation() { return {rules, boards, measured}; }

}  // namespace coalprof::chips::hopper
