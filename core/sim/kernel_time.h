// The time of a kernel and the traffic of its caches, from mechanisms: the blocks of one
// multiprocessor simulated with its share of the rest (multiprocessor.h), L2 over the whole launch
// (l2_stream.h).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/machine/machine.h"
#include "core/machine/rates.h"
#include "core/machine/sim_rates.h"
#include "core/result/reading.h"
#include "core/result/result.h"
#include "core/sim/block_trace.h"
#include "core/sim/l2_replay.h"
#include "core/sim/l2_stream.h"
#include "core/sim/multiprocessor.h"

namespace coalprof {

// The exact counts of the launch.
struct LaunchTotals {
    std::vector<double> sectors;  // by Code::sites: of global memory
    std::vector<double> lines;    // likewise: requests to L2, if L1 kept nothing
    double sampled = 1;           // more than 1: one of this many blocks was executed
};

// The shares of a site's accesses that are left when they are fixed.
struct MendedShare {
    double sectors = 1;
    double read_bytes = 1;  // of device memory
    double write_bytes = 1;
};

// The input of the model of time.
struct LaunchModel {
    std::vector<std::uint64_t> traced_blocks;
    BlockTraces traces;
    BlockTraces longest;  // the block that takes longest; empty: all take as long
    L2Sample l2;
    LaunchTotals totals;
    double traced_share = 1;  // of the rounds of their loops
    double traced_work = 1;   // of a traced block, relative to the average
    std::uint64_t blocks = 0;
    std::uint32_t resident_blocks = 1;  // on a multiprocessor
    std::uint32_t l1_kib = 0;
    std::uint32_t multiprocessors = 1;
    std::uint64_t l2_bytes = 0;
    std::uint32_t fetch_bytes = 64;        // at once from device memory
    bool is_warm = false;                  // L2 holds the lines that the same launch left there
    double start_seconds = 0;              // of an empty launch
    std::vector<AccessKind> kinds;         // by site
    std::vector<MendedShare> mended = {};  // by site; empty: nothing is fixed
    // By site, as L2Sizes has it: found when the launch was first simulated; empty: not yet.
    std::vector<Ages> kept_by_l1 = {};
};
struct SimulatedTime {
    double seconds = 0;
    std::vector<SiteTraffic> dram_of_site;    // bytes of the launch
    std::vector<double> l1_hits_of_site;      // a share of the sectors that loads ask for
    std::vector<double> load_passes_of_site;  // through L1
    // A share of the limiting unit's work, or of the time that warps wait; empty: accesses cause
    // neither.
    std::vector<double> cost_of_site;
    double l1_passes = 0;  // those through shared memory among them
    double l1_hit_sectors = 0, l2_read_requests = 0, l2_read_sectors = 0;
    double l2_write_requests = 0, l2_write_sectors = 0;
    double dram_read_bytes = 0, dram_write_bytes = 0;
    double dirty_bytes = 0;  // uncertainty of the dirty bytes that stay in L2
    std::vector<Limit> limits;
    std::array<double, sim_units> busy_seconds{};
};
SimulatedTime time_of(LaunchModel& model, const SimRates& rates);

// How many times the blocks that are resident together are traced, given their accesses and lines:
// three times, or more if these are few. Short blocks run at different times only after some.
double waves_of(double accesses, double lines);
// Blocks of one multiprocessor from the middle of the launch's work, some of them consecutive: the
// first ones of a small launch. As many as resident ones `waves` times over, if a share `working`
// of them works.
std::vector<std::uint64_t> traced_blocks(std::uint64_t blocks, std::uint32_t multiprocessors,
                                         std::uint32_t resident, double waves = 3,
                                         const WorkShape& work = {}, double working = 1);
// Adds counters that `readings` lack, with intervals; for a plan those that they mark as
// unavailable.
Estimates estimates_from(const SimulatedTime& time, double sampled, const Rates& rates,
                         Readings& readings, bool is_plan = false);

// True if its rates are known, so that kernels have times on it.
bool is_simulated_on(const Machine& machine);

// The number of blocks that run at once on the whole GPU.
std::uint64_t blocks_at_once(const Code& code, const KernelLaunch& launch, const Machine& machine);

struct SimulatedLaunch {
    LaunchModel model;
    SimulatedTime time;
};
// None without the machine's rates.
std::optional<SimulatedLaunch> simulate_launch(const Code& code, const KernelLaunch& launch,
                                               const LaunchMemory& memory, const Machine& machine,
                                               L2Stream& stream, const LaunchTotals& totals);

// Adds the passes of the sites' loads through L1 to their point.
void add_passes(const SimulatedTime& time, const std::vector<std::uint32_t>& sites,
                const Machine& machine, Point& point);
// Adds the cost of a line, that of its sites, to its point.
void add_cost(const SimulatedTime& time, const std::vector<std::uint32_t>& sites,
              const Machine& machine, Point& point);

// Adds counters that `readings` lack: hits of L1, traffic, the duration.
Estimates estimates_of(const SimulatedLaunch& launch, const Machine& machine, Readings& readings);

}  // namespace coalprof
