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
// Key, name, compute capability, multiprocessors, peak bytes per second, L2, memory, source, boost
// clock in MHz, other names.
// clang-format off
constexpr std::array boards{
    Board{"h100", "H100 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, 80 * gib, sheet, 1980, "h100-sxm,h100-sxm5,h100 80gb hbm3"},
    Board{"h100-pcie", "H100 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, 80 * gib, sheet, 1755},
    Board{"h100-nvl", "H100 NVL", {9, 0}, 132, peak(2620, 6016), unknown, 94 * gib, database_nvl, 1785},
    Board{"h800", "H800 SXM", {9, 0}, 132, peak(2619, 5120), 50 * mib, 80 * gib, database, 1755, "h800-sxm"},
    Board{"h20", "H20", {9, 0}, 78, 4e12, unknown, 141 * gib, h20_reports},
    Board{"gh200", "GH200 96 GB", {9, 0}, unknown_count, 4e12, unknown, 96 * gib, gh200_news, unknown, "gh200-96,gh200 480gb"},
    Board{"h200", "NVIDIA H200", {9, 0}, 132, peak(3201, 6016), 60 * mib, 141 * gib, queried_h200, 1980, "h200-sxm"},
    Board{"h800-pcie", "H800 PCIe", {9, 0}, 114, peak(1593, 5120), 50 * mib, 80 * gib, listed, 1755},
};
// clang-format on

// "natural": fitted to the shown half of tests/natural on an
// H100, all of them together (sectors_per_second also on an H200); the rest was measured separately
// or is documented. An H200 has the same but for its memory. Steps of 15 % up or down change the
// mean square error by less than 5 %.
constexpr SimRates simulated() {
    SimRates sim;
    sim.clock_hertz = 1.95e9;                 // natural; calibrate reads 1.98e9 (docs/machines.md)
    sim.start_seconds = 2.4e-6;               // natural
    sim.launch_seconds = 3.07e-6;             // below; the shortest launch takes 0.2 us more
    sim.flush_seconds = 0.4e-6;               // docs/measurements/h200/calibrate/twice.txt
    sim.blocks_per_second = 1.7e9;            // calibrate's reading
    sim.read_requests_per_second = 2.04e11;   // a fit of whole launches (tests/data/h100)
    sim.sectors_per_second = 2.5e11;          // natural
    sim.write_requests_per_second = 6.25e10;  // a fit of whole launches (tests/data/h100)
    sim.write_sectors_per_second = 1.04e11;   // docs/measurements/h200/stores.txt
    // docs/measurements/h100/slices.txt: sums at random places; of one slice between 1.36e9 (one
    // word) and 1.7e9 (whole lines).
    sim.reductions_per_second = 9.0e10;
    sim.line_reductions_per_second = 1.42e9;
    sim.dram_read_bytes_per_second = 3.2e12;   // calibrate's reading
    sim.dram_write_bytes_per_second = 3.2e12;  // calibrate's reading
    // docs/measurements/h100/dram_rows.txt: one in 4.1 ns for each of 160 channels
    sim.dram_rows_per_second = 3.9e10;
    // docs/measurements/h100/writeback.txt: lines written back among reads
    sim.dram_turns_per_second = 4.3e10;
    sim.first_block_latency = 655;      // natural
    sim.block_latency = 229;            // calibrate's reading
    sim.dependent_issue = 4;            // where each instruction waits for the one before
    sim.l1_pass = sim.shared_pass = 1;  // core/count; docs/how-it-works.md
    sim.shared_latency = 25;            // about: less the time in queues and passes
    sim.l1_latency = 35;                // about: likewise
    sim.l2_latency = 271.3;             // calibrate's reading
    sim.dram_latency = 415;             // calibrate's reading
    sim.crowd = 70;                     // docs/measurements/h200/busy_memory.txt
    sim.write_crowd = 430;              // likewise
    sim.l1_queue = 33;                  // natural
    sim.l2_queue = 500;                 // natural
    // docs/measurements/h100/joins.txt
    sim.join_cycles = 13;
    sim.between_schedulers = 15;
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
    read.write_sectors_per_second = 1.046e11;
    read.reductions_per_second = 1.045e11;
    read.line_reductions_per_second = 1.364e9;  // slices.txt
    read.dram_rows_per_second = 3.45e10;
    read.dram_turns_per_second = 1.69e10;  // measured while loads run
    read.dependent_issue = 4.153;
    read.shared_latency = 18;
    read.l1_latency = 27.34;
    read.least_request = 1.02;
    read.least_sector = 0.3;
    return read;
}

constexpr Rates h100() {
    Rates rates;
    rates.sim = simulated();
    rates.sim_read = read_on_gh100();
    // The start of a launch differs from host to host by more than from GPU to GPU. By fits of
    // whole launches: 3.3 and 4.6 us on two with an H200, 3.5, 4.1 and 5.0 us on three with an
    // H100; by `coalprof calibrate`, timed as sweeps are, 3.19 to 3.29 us on seven H200s and 3.25
    // to 3.39 on four H100s (2026-11-22 to 24).
    rates.starts = StartRange{.least_seconds = 3.21e-6, .most_seconds = 5.01e-6};
    return rates;
}

constexpr Rates h200() {
    Rates rates = h100();
    rates.sim.dram_read_bytes_per_second *= 4814.0 / 3352.0;  // their peaks
    rates.sim.write_sectors_per_second = 1.5e11;              // docs/measurements/h200/stores.txt
    // docs/measurements/h200/calibrate/twice.txt
    rates.sim_read.write_sectors_per_second = 1.603e11;
    for (SimRates* const one : {&rates.sim, &rates.sim_read}) {
        one->dram_write_bytes_per_second *= 4814.0 / 3352.0;
        one->dram_rows_per_second *= 6.0 / 5.0;  // their stacks
        one->dram_turns_per_second *= 6.0 / 5.0;
    }
    return rates;
}

// The first one, scaled, is used for boards that were not measured.
constexpr std::array measured{MeasuredBoard{"h200", h200()}, MeasuredBoard{"h100", h100()}};

Generation generation() { return {rules, boards, measured}; }

}  // namespace coalprof::chips::hopper
