#include "core/traffic/launch_work.h"

#include <algorithm>
#include <vector>

#include "core/count/bandwidth.h"
#include "core/count/shared_memory.h"
#include "core/pattern/memory_settings.h"
#include "core/traffic/duration.h"
#include "core/traffic/issued.h"
#include "core/traffic/store_merge.h"

namespace coalprof {
namespace {

// Registers of a thread of `per_thread` elements as the kernels would need them, about: loaded
// values are held until all have come, or to the next barrier, and each element has an address.
// Compilers mostly keep to 32 and load in several rounds (docs/measurements/instructions.txt),
// which takes as long as waves of fewer blocks.
std::uint32_t registers_of(const Plan& plan, std::uint32_t per_thread) {
    std::uint32_t before_barrier = 0;
    std::uint32_t after_barrier = 0;
    for (const Instruction& one : plan.program.instructions)
        if (one.kind == AccessKind::load)
            (one.after_barrier ? after_barrier : before_barrier) +=
                std::max(2u, one.width_bytes / 4);
    const std::uint32_t loaded_words = std::max(before_barrier, after_barrier);
    return std::clamp(14 + per_thread * (loaded_words + 2), 16u, 255u);
}

std::uint64_t fetch_bytes(const Machine& machine, const CachePolicy& cache) {
    return std::clamp<std::uint64_t>(l2_fill_bytes(*machine.rules, cache), reach_unit_bytes.front(),
                                     reach_unit_bytes.back());
}

double load_turns(const Plan& plan) {
    constexpr double kept_registers = 32;
    const bool has_loads =
        std::ranges::any_of(plan.program.instructions,
                            [](const Instruction& one) { return one.kind == AccessKind::load; });
    const std::uint32_t registers =
        registers_of(plan, std::min(plan.shape.per_thread, measured_elements));
    return has_loads ? std::max(1.0, registers / kept_registers) : 1;
}

// The share of warps with a loading lane, over all elements.
double loading_share(const Program& program, const Work& work, const Readings& readings) {
    const auto loads =
        static_cast<double>(std::ranges::count_if(program.instructions, [](const Instruction& one) {
            return one.kind == AccessKind::load && one.space == Space::global;
        }));
    const double most = loads * work.warps * work.per_thread;
    return most > 0 ? std::min(1.0, number_or(readings[Counter::load_requests], most) / most) : 1;
}

void set_shape(const Plan& plan, std::uint32_t registers, const LaunchOrder& order,
               const Multiprocessor& one, Work& work) {
    const std::uint32_t of_block =
        (registers_of(plan, plan.shape.per_thread) + 7) / 8 * 8 * order.block_warps() * warp_lanes;
    const double fitting = static_cast<double>(registers) / std::max(of_block, 1u);
    const double resident = std::clamp(fitting, 1.0, static_cast<double>(one.resident_blocks));
    work.blocks = static_cast<double>(order.blocks);
    work.resident_blocks = resident;
    work.busy_share = std::min(1.0, work.blocks / one.count);
    work.waves = work.blocks / (static_cast<double>(one.count) * resident);
    work.warps = work.blocks * order.block_warps();
    work.issued = work.warps * issued_of_warp(plan.program, order.per_thread);
    work.hashes = work.warps * order.per_thread * hashes_of_element(plan.program);
    work.per_thread = order.per_thread;
    work.load_turns = load_turns(plan);
    for (const Instruction& one_of : plan.program.instructions) {
        // Pointers of several arrays come at the same time.
        if (is_pointer_load(plan.program, one_of)) work.dependent_loads = 1;
        if (one_of.kind == AccessKind::store && one_of.width_bytes < 4) work.stores_parts = true;
        if (one_of.kind == AccessKind::load && may_idle(one_of.formula)) work.has_branches = true;
        work.has_barrier = work.has_barrier || one_of.after_barrier;
    }
}

// The share of instructions that load global memory whose array is stored to.
double updating_share(const Program& program) {
    const auto has = [&](AccessKind kind, std::uint32_t array) {
        return std::ranges::any_of(program.instructions, [&](const Instruction& one) {
            return one.kind == kind && one.space == Space::global && one.array == array;
        });
    };
    double loads = 0;
    double updating = 0;
    for (const Instruction& one : program.instructions) {
        if (one.kind != AccessKind::load || one.space != Space::global) continue;
        loads += 1;
        updating += has(AccessKind::store, one.array) ? 1 : 0;
    }
    return loads > 0 ? updating / loads : 0;
}

// Passes of a warp's loads of one element, on average, through the banks of L1's data if L1 has all
// of it, as for shared memory (docs/how-it-works.md, "The data stage").
double passes_of_element(const Machine& machine, const Program& program) {
    constexpr std::uint64_t some = 16;  // warps, all over the launch
    const SharedMemory banks(*machine.rules);
    Placement placement;
    placement.base_addresses.resize(program.arrays.size());
    const std::uint64_t warps = std::max<std::uint64_t>(1, program.threads / warp_lanes);
    const auto lanes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(warp_lanes, program.threads));
    std::uint64_t passes = 0;
    for (const Instruction& one : program.instructions) {
        if (one.kind != AccessKind::load || one.space != Space::global) continue;
        for (std::uint64_t k = 0; k < some; ++k)
            passes += banks
                          .count(access_of_warp(program, placement, one,
                                                warps * k / some * warp_lanes, lanes))
                          .wavefronts;
    }
    return static_cast<double>(passes) / some;
}

// `share_in_flight`: of the launch's blocks, those resident at the same time; `gathered_lines`: see
// Replayed.
void set_stores(const std::vector<ArrayReach>& arrays, double writes, double share_in_flight,
                double gathered_lines, Work& work) {
    double lines = 0;
    double lines_in_flight = 0;
    double sectors_in_flight = 0;
    for (const ArrayReach& array : arrays) {
        if (!array.is_stored) continue;
        lines += array.stores.units[2];
        work.stores_at_random = work.stores_at_random || array.stores.at_random;
        // Random places have no common lines.
        lines_in_flight += array.stores.at_random ? array.stores.units[2]
                                                  : array.stores.lines_of_share(share_in_flight);
        sectors_in_flight += array.stores.at_random
                                 ? array.stores.units[0]
                                 : array.stores.sectors_of_share(share_in_flight);
    }
    if (lines == 0) return;
    if (work.updating_reads > 0)
        work.updates_at_once = writes * share_in_flight / sectors_in_flight;
    if (gathered_lines > 0) {
        work.stores_at_random = false;  // nobody waits in order: all wait for the same few lines
        work.stores_of_slice = writes / slices_of(gathered_lines);
        work.reads_of_slice = work.l2_read_requests / slices_of(gathered_lines);
        return;
    }
    work.stores_of_line = writes / lines;
    work.stores_of_busy_line = writes / lines_in_flight - work.stores_of_line;
    if (work.updating_reads > 0) work.updates_of_line = (writes + work.l2_read_requests) / lines;
}

void set_lines(const Program& program, const std::vector<ArrayReach>& arrays,
               const Readings& readings, const CacheTraffic& caches, double share_in_flight,
               Work& work) {
    work.load_lines = number_or(readings[Counter::load_lines], 0);
    for (const Counter counter :
         {Counter::shared_load_wavefronts, Counter::shared_store_wavefronts})
        work.shared_wavefronts += number_or(readings[counter], 0);
    work.constant_requests = number_or(readings[Counter::constant_requests], 0);
    work.store_lines = number_or(readings[Counter::store_lines], 0);
    work.l2_read_requests = number_or(readings[Counter::l2_read_requests], caches.l2_read_requests);
    work.l2_sectors = number_or(readings[Counter::l2_read_sectors], caches.l2_read_sectors) +
                      number_or(readings[Counter::l2_write_sectors], caches.l2_write_sectors);
    work.reductions = number_or(readings[Counter::reduce_sectors], 0) +
                      number_or(readings[Counter::atomic_sectors], 0);
    const double writes = number_or(readings[Counter::l2_write_requests], caches.l2_write_requests);
    work.leaving_store_lines = std::min(work.store_lines, writes);
    work.stores_same_lines = caches.stores_same_lines;
    double loaded_lines = 0;
    for (const ArrayReach& array : arrays) {
        if (array.is_atomic) work.reduced_lines += array.atomics.units[2];
        if (array.is_loaded) loaded_lines += array.loads.units[2];
    }
    work.updating_reads = work.l2_read_requests * updating_share(program);
    if (loaded_lines > 0)
        work.reads_of_line = (work.l2_read_requests - work.updating_reads) / loaded_lines;
    set_stores(arrays, writes, share_in_flight, caches.gathered_lines, work);
}

// `lines_of_load`: of a warp's load.
void set_missing(const std::vector<ArrayReach>& arrays, double read_sectors, double lines_of_load,
                 double share_in_flight, Work& work) {
    const double bursts = work.dram.read.bytes / burst_bytes;
    if (read_sectors > 0) work.missing = std::min(1.0, bursts / read_sectors);
    double sectors = 0;
    double lines = 0;
    double lines_in_flight = 0;
    for (const ArrayReach& array : arrays) {
        if (!array.is_loaded) continue;
        sectors += array.loads.units[0];
        lines += array.loads.units[2];
        // Random places may be anywhere.
        lines_in_flight += array.loads.at_random ? array.loads.units[2]
                                                 : array.loads.lines_of_share(share_in_flight);
    }
    if (lines == 0) return;
    // A load of one line holds up no others.
    const double others = 1 - 1 / std::max(1.0, lines_of_load);
    work.reads_of_busy_line =
        others * (work.l2_read_requests - work.updating_reads) * (1 / lines_in_flight - 1 / lines);
    const double fresh = std::min(1.0, lines / (lines_in_flight * std::max(1.0, work.waves)));
    work.arriving = fresh * bursts / sectors;
}

}  // namespace

LaunchEstimate estimate_work(const Machine& machine, const Plan& plan, bool is_warm,
                             const Rates& rates, const Readings& readings) {
    const LaunchOrder order = order_of(plan);
    const Multiprocessor multiprocessor = multiprocessor_of(machine, plan);
    LaunchEstimate launch;
    const Replayed replayed = replay_blocks(plan.program, order, multiprocessor);
    const std::vector<ArrayReach> arrays = reaches_of(plan.program);
    launch.caches = cache_traffic(readings, replayed, order,
                                  {.keeps_loads = multiprocessor.keeps_loads,
                                   .is_warm = is_warm,
                                   .sectors_once = loaded_once(arrays)});

    set_shape(plan, machine.rules->occupancy.registers, order, multiprocessor, launch.work);
    launch.work.is_flushed = !is_warm;
    launch.work.loading_share = loading_share(plan.program, launch.work, readings);
    const double share_in_flight =
        std::min(1.0, launch.work.resident_blocks * multiprocessor.count / launch.work.blocks);
    set_lines(plan.program, arrays, readings, launch.caches, share_in_flight, launch.work);
    if (multiprocessor.keeps_loads) {
        const double loaded = number_or(readings[Counter::load_sectors], 0);
        const double hits =
            number_or(readings[Counter::l1_hit_sectors], launch.caches.l1_hit_sectors);
        if (hits > 0 && loaded > 0)
            launch.work.hit_passes = launch.work.warps * order.per_thread * hits / loaded *
                                     passes_of_element(machine, plan.program);
        launch.work.l1_fills = launch.work.l2_read_requests /
                               (launch.work.busy_share * multiprocessor.count *
                                static_cast<double>(multiprocessor.l1_bytes / line_bytes));
    }
    const double read_sectors =
        number_or(readings[Counter::l2_read_sectors], launch.caches.l2_read_sectors);
    DramInputs inputs{.threads = static_cast<double>(order.threads),
                      .l2_bytes = static_cast<double>(machine.board->l2_bytes.value_or(0)),
                      .fetch_bytes = fetch_bytes(machine, plan.cache),
                      .is_warm = is_warm,
                      .loads_leave_first = plan.cache.dlcm == LoadModifier::cs,
                      .l2_read_sectors = read_sectors,
                      .l2_write_sectors = number_or(readings[Counter::l2_write_sectors],
                                                    launch.caches.l2_write_sectors),
                      .share_in_flight = share_in_flight};
    launch.work.dram = dram_traffic(arrays, inputs, rates.l2);
    const Duration first = duration_of(launch.work, rates);
    inputs.busy_share = first.term_seconds[static_cast<std::size_t>(Limit::dram)] / first.seconds;
    launch.work.dram = dram_traffic(arrays, inputs, rates.l2);
    const double lines_of_load =
        launch.work.load_lines / std::max(1.0, number_or(readings[Counter::load_requests], 0));
    set_missing(arrays, read_sectors, lines_of_load, share_in_flight, launch.work);
    return launch;
}

}  // namespace coalprof
