#include "core/sim/plan_time.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/count/bandwidth.h"
#include "core/count/near_memory.h"
#include "core/count/occupancy.h"
#include "core/sim/kernel_time.h"
#include "core/sim/known_times.h"
#include "core/sim/launch_order.h"
#include "core/sim/random.h"

namespace coalprof {
namespace {

// One instruction's access for one element of a thread, in every warp.
struct PlannedAccess {
    std::uint32_t site = 0;
    std::uint32_t element = 0;
    std::uint32_t waits_for = 0;  // as TraceEvent
    bool is_behind_barrier = false;
};

// Registers of a thread that loads this many elements at a time, about.
std::uint32_t registers_for(const Program& program, std::uint32_t elements) {
    constexpr std::uint32_t others = 16, most = 255;
    std::uint32_t words = 0;
    for (const Instruction& one : program.instructions)
        if (one.kind == AccessKind::load) words += std::max(1u, one.width_bytes / 4);
    return std::min(most, others + elements * words);
}

// True if the place of an access is an element that an earlier instruction loads: a row's pointer,
// or a random number, which replaces it.
bool needs_loaded(const Program& program, const Instruction& one) {
    return hashes_of(one.formula) > 0 ||
           std::ranges::any_of(program.arrays, [&](const Array& array) {
               return array.rows_of && array.rows_of->array == one.array;
           });
}

// As many elements at a time as registers hold, up to a barrier all of them: their loads before the
// instructions that wait for them.
std::vector<PlannedAccess> accesses_of_warp(const Program& program, std::uint32_t elements) {
    constexpr std::uint32_t kept_registers = 32;  // compilers rarely use more
    const std::vector<Instruction>& all = program.instructions;
    std::uint32_t at_once = 1;
    while (at_once < elements &&
           (has_barrier(program) || registers_for(program, at_once + 1) <= kept_registers))
        ++at_once;
    std::vector<PlannedAccess> order;
    std::uint32_t last_load = 0;
    const auto add = [&](std::uint32_t site, std::uint32_t element, bool meets) {
        const bool is_load = all[site].kind == AccessKind::load;
        const bool waits = !is_load || needs_loaded(program, all[site]);
        order.push_back({site, element, waits ? last_load : 0, meets});
        if (is_load) last_load = static_cast<std::uint32_t>(order.size());
    };
    for (std::uint32_t first = 0; first < elements; first += at_once)
        for (std::uint32_t begin = 0, end = 0; begin < all.size(); begin = end) {
            while (++end < all.size() && !all[end].after_barrier) {
            }
            bool meets = all[begin].after_barrier;
            for (const bool loads : {true, false})
                for (std::uint32_t site = begin; site < end; ++site)
                    for (std::uint32_t e = first; e < std::min(elements, first + at_once); ++e)
                        if ((all[site].kind == AccessKind::load) == loads)
                            add(site, e, std::exchange(meets, false));
        }
    return order;
}

// Of all formulas, for one element; what instructions have in common once. Divisions are by numbers
// that a pattern's text does not spell out: as many as NVRTC 13.0 issues for 9.0
// (docs/measurements/instructions.txt). A thread finds all its elements of a tile at once.
Computed computed_of(const Program& program) {
    Computed sum;
    ExpressionsSeen seen;
    if (has_barrier(program)) return sum;
    for (auto one = program.instructions.begin(); one != program.instructions.end(); ++one) {
        if (std::any_of(program.instructions.begin(), one, [&](const Instruction& other) {
                return is_same(other.formula, one->formula);
            }))
            continue;
        const Computed more = one->formula->computed(seen);
        sum.operators += more.operators;
        sum.divisions += more.divisions;
        sum.conditions += more.conditions;
        sum.hashes += more.hashes;
    }
    return sum;
}

// The distance of blocks whose accesses are shifted copies; 0: none.
std::uint64_t block_step(const Instruction& one, const LaunchOrder& order) {
    constexpr std::uint64_t most_threads = std::uint64_t{1} << 40, most_blocks = 64;
    const std::optional<Period> period = one.formula->period();
    if (!period) return 0;
    const std::uint64_t threads =
        std::uint64_t{order.block} * (order.blocks_in_turn > 1 ? 1 : order.per_thread);
    for (const std::uint64_t repeats : {period->threads, period->inner_threads}) {
        if (repeats == 0 || repeats > most_threads) continue;
        const std::uint64_t blocks = std::lcm(repeats, threads) / threads;
        if (blocks <= most_blocks) return blocks;
    }
    return 1;
}

// The distance of each lane of one access from that of the other; none where lanes differ.
std::optional<std::uint64_t> moved_by(const WarpAccess& from, const WarpAccess& to) {
    if (from.active_lanes != to.active_lanes || from.width_bytes != to.width_bytes ||
        from.space != to.space)
        return std::nullopt;
    std::optional<std::uint64_t> all;
    for (std::uint32_t rest = from.active_lanes; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
        const std::uint64_t by = to.addresses[lane] - from.addresses[lane];
        if (all.value_or(by) != by) return std::nullopt;
        all = by;
    }
    return all.value_or(0);
}

// Blocks whose accesses are those of the block before, a fixed number of bytes further on.
struct BlockRun {
    WarpAccess access;  // of the first one
    std::uint64_t bytes = 0;
    BlockBox box;
};

// The lines of an access and its passes; those of accesses that are whole lines further on.
struct AccessShape {
    WarpAccess access;
    std::vector<LineTouch> lines;
    L1Passes passes;
    std::uint64_t digest = 0;  // of the lines, from the first one on
};

// Warps drawn from the whole launch.
struct SiteSample {
    double sectors = 0, lines = 0;
    // All of them accessed the same as at another site, an earlier one, at this distance.
    std::uint32_t like = 0;
    std::uint64_t away = 0;
};

class PlanFeed {
 public:
    PlanFeed(const Plan& plan, const Machine& machine, const Readings& readings)
        : plan_(plan),
          machine_(machine),
          readings_(readings),
          order_(order_of(plan)),
          processor_(multiprocessor_of(machine, plan)),
          coalescer_(*machine.rules) {
        place_arrays();
        const Occupancy fits = occupancy(
            *machine.rules,
            {.block = order_.block, .registers_per_thread = registers_for(plan.program, 1)});
        resident_ = std::clamp(fits.active_blocks, 1u, processor_.resident_blocks);
        shapes_.resize(plan.program.instructions.size());
        draw_warps();
    }
    // Equal for launches that are simulated equally; none with other memories than global.
    std::optional<KnownTimes::Key> key(const Rates& rates, bool is_warm) const {
        Digest all = drawn_lines_;
        const auto add_all = [&](const auto&... numbers) {
            (all.add(static_cast<std::uint64_t>(numbers)), ...);
        };
        for (const double rate :
             std::bit_cast<std::array<double, sizeof(SimRates) / sizeof(double)>>(rates.sim))
            all.add(rate);
        add_all(is_warm, processor_.l1_bytes, processor_.count, processor_.keeps_loads, resident_,
                machine_.board->l2_bytes.value_or(0), l2_fill_bytes(*machine_.rules, plan_.cache),
                order_.threads, order_.blocks, order_.block, order_.per_thread,
                order_.blocks_in_turn);
        const IssueCost cost = cost_of(1);
        all.add(double{cost.issued});
        all.add(double{cost.integer});
        for (const Instruction& one : plan_.program.instructions) {
            if (one.space != Space::global) return std::nullopt;
            add_all(one.kind, one.width_bytes, one.array, one.after_barrier,
                    needs_loaded(plan_.program, one), block_step(one, order_));
        }
        readings_.each([&](Counter counter, const Reading& reading) {
            all.add(static_cast<std::uint64_t>(counter));
            all.add(number_or(reading, -1));
        });
        return all.key();
    }
    LaunchModel model(const Rates& rates, bool is_warm) {
        LaunchModel model;
        model.multiprocessors = processor_.count;
        model.l2_bytes = machine_.board->l2_bytes.value_or(0);
        model.blocks = order_.blocks;
        model.resident_blocks = resident_;
        model.l1_kib = static_cast<std::uint32_t>(processor_.l1_bytes / 1024);
        model.fetch_bytes = std::clamp(l2_fill_bytes(*machine_.rules, plan_.cache), 32u, 128u);
        model.is_warm = is_warm;
        // An empty launch has a block, too.
        const SimRates& sim = rates.sim;
        model.start_seconds = sim.launch_seconds + (is_warm ? 0 : sim.flush_seconds) -
                              sim.first_block_latency / sim.clock_hertz;
        model.totals = totals();
        for (const Instruction& one : plan_.program.instructions) model.kinds.push_back(one.kind);
        model.traces = traces();
        model.l2 = l2_sample();
        return model;
    }

 private:
    WarpAccess access(std::uint32_t site, std::uint64_t block, std::uint32_t element,
                      std::uint32_t warp) const {
        const std::uint32_t lanes = order_.lanes_of(block, element, warp);
        if (lanes == 0) return {};
        return access_of_warp(plan_.program, placement_, plan_.program.instructions[site],
                              order_.first_index(block, element) + std::uint64_t{warp} * warp_lanes,
                              lanes);
    }

    // Arrays never share a line; each begins where the launch first accesses it.
    void place_arrays() {
        for (std::size_t i = 0; i < plan_.program.arrays.size(); ++i)
            placement_.base_addresses.push_back((i + 1) << 44);
        std::vector<bool> is_placed(plan_.program.arrays.size());
        for (std::uint32_t site = 0; site < plan_.program.instructions.size(); ++site) {
            const std::uint32_t array = plan_.program.instructions[site].array;
            const WarpAccess first = access(site, 0, 0, 0);
            if (is_placed[array] || first.active_lanes == 0 || first.space != Space::global)
                continue;
            std::uint64_t& base = placement_.base_addresses[array];
            const std::uint64_t address =
                first.addresses[static_cast<std::size_t>(std::countr_zero(first.active_lanes))];
            base -= (address - base) / line_bytes * line_bytes;
            is_placed[array] = true;
        }
    }

    const AccessShape& shape_of(std::uint32_t site, const WarpAccess& access) {
        AccessShape& shape = shapes_[site];
        if (const auto by = moved_by(shape.access, access);
            by && *by % line_bytes == 0 && access.active_lanes != 0)
            return shape;
        const LinesOfWarp lines(access);
        shape.access = access;
        shape.lines.assign(lines.begin(), lines.end());
        shape.passes = passes_of_lines(coalescer_, access, lines.size());
        Digest digest;
        // Neighbours complete a sector wherever it is divided.
        std::uint64_t part_bytes = 0;
        for (const LineTouch& one : shape.lines) {
            digest.add((one.line - shape.lines.front().line) << 8 |
                       std::uint64_t{one.sectors} << 4 | one.whole);
            part_bytes +=
                one.part_bytes * static_cast<std::uint64_t>(sector_count(one.sectors & ~one.whole));
        }
        digest.add(part_bytes);
        shape.digest = digest.key().first;
        return shape;
    }
    // How many lines further on than its shape an access is.
    static std::uint64_t lines_from(const AccessShape& shape, const WarpAccess& access) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(access.active_lanes));
        return static_cast<std::uint64_t>(
            static_cast<std::int64_t>(access.addresses[lane] - shape.access.addresses[lane]) /
            static_cast<std::int64_t>(line_bytes));
    }

    void draw_warps() {
        const auto sites = static_cast<std::uint32_t>(plan_.program.instructions.size());
        samples_.resize(sites);
        const std::uint64_t of_block = std::uint64_t{order_.per_thread} * order_.block_warps();
        const std::uint64_t all = order_.blocks * of_block;
        drawn_ = std::min(all, std::max<std::uint64_t>(128, 512 / sites));
        std::vector<WarpAccess> found(sites);
        Random random;
        for (std::uint64_t k = 0; k < drawn_; ++k) {
            const std::uint64_t number = drawn_ == all ? k : (random.word() >> 11) % all;
            const auto rest = static_cast<std::uint32_t>(number % of_block);
            for (std::uint32_t site = 0; site < sites; ++site) {
                found[site] = access(site, number / of_block, rest / order_.block_warps(),
                                     rest % order_.block_warps());
                draw(site, found[site]);
                compare(site, found, k == 0);
            }
        }
        scale_ = static_cast<double>(all) / static_cast<double>(drawn_);
    }
    // Compares with the first site that it may equal.
    void compare(std::uint32_t site, const std::vector<WarpAccess>& found, bool is_first) {
        SiteSample& sample = samples_[site];
        const auto is_like = [&](std::uint32_t other) {
            const auto away = moved_by(found[other], found[site]);
            if (!away || samples_[other].like != other) return false;
            if (is_first) sample.away = *away;
            return found[site].active_lanes == 0 || sample.away == *away;
        };
        if (is_first)
            for (sample.like = 0; !(sample.like == site || is_like(sample.like));) ++sample.like;
        else if (sample.like != site && !is_like(sample.like))
            sample.like = site;
    }
    void draw(std::uint32_t site, const WarpAccess& access) {
        if (access.space != Space::global || access.active_lanes == 0) return;
        SiteSample& sample = samples_[site];
        const AccessShape& shape = shape_of(site, access);
        for (const LineTouch& one : shape.lines) sample.sectors += sector_count(one.sectors);
        sample.lines += static_cast<double>(shape.lines.size());
        drawn_lines_.add(shape.digest);
        drawn_lines_.add(shape.lines.front().line + lines_from(shape, access));
    }
    // The total of the drawn warps, scaled to the kind's exact sum where there is one.
    double total(Counter counter, AccessKind kind, std::uint32_t site,
                 double SiteSample::*what) const {
        double of_kind = 0;
        for (std::uint32_t i = 0; i < samples_.size(); ++i)
            if (plan_.program.instructions[i].kind == kind) of_kind += samples_[i].*what;
        if (of_kind == 0) return 0;
        const double sum = number_or(readings_[counter], of_kind * scale_);
        return sum * (samples_[site].*what) / of_kind;
    }
    LaunchTotals totals() const {
        constexpr std::array sectors{Counter::load_sectors, Counter::store_sectors,
                                     Counter::atomic_sectors, Counter::reduce_sectors};
        LaunchTotals all;
        for (std::uint32_t site = 0; site < samples_.size(); ++site) {
            const AccessKind kind = plan_.program.instructions[site].kind;
            const auto at = static_cast<std::size_t>(kind);
            all.sectors.push_back(total(sectors[at], kind, site, &SiteSample::sectors));
            all.lines.push_back(
                total(kind == AccessKind::load ? Counter::load_lines : Counter::store_lines, kind,
                      site, &SiteSample::lines));
        }
        return all;
    }

    // Lines of a warp's element: of all instructions.
    double lines_of_element() const {
        double lines = 0;
        for (const SiteSample& one : samples_) lines += one.lines / static_cast<double>(drawn_);
        return lines;
    }

    BlockTraces traces() {
        const double at_once =
            static_cast<double>(resident_) * order_.per_thread * order_.block_warps();
        const std::vector<std::uint64_t> blocks = traced_blocks(
            order_.blocks, processor_.count, resident_,
            waves_of(at_once * static_cast<double>(samples_.size()), at_once * lines_of_element()));
        constexpr double most_lines = 120'000, most_events = 60'000;
        const double warps = static_cast<double>(blocks.size()) * order_.block_warps();
        const double affordable = std::min(most_lines / std::max(1.0, lines_of_element()),
                                           most_events / static_cast<double>(samples_.size())) /
                                  warps;
        const auto elements = static_cast<std::uint32_t>(
            std::clamp(affordable, 1.0, static_cast<double>(order_.per_thread)));
        const std::vector<PlannedAccess> planned = accesses_of_warp(plan_.program, elements);
        BlockTraces traces;
        traces.kept_share = static_cast<double>(elements) / order_.per_thread;
        const IssueCost cost =
            cost_of(elements).times(1.0f / static_cast<float>(planned.size() + 1));
        for (const std::uint64_t block : blocks) {
            auto& of_block = traces.blocks.emplace_back(order_.block_warps());
            for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp) {
                of_block[warp] = events_of(planned, block, warp, cost, traces);
                traces.events += of_block[warp].events.size();
            }
        }
        return traces;
    }
    // A thread executes as many instructions as NVRTC 13.0 makes of the measured kernel for 9.0;
    // those of the units for integers take two cycles each. Nine of ten kernels are within 20 %
    // (docs/measurements/instructions.txt).
    IssueCost cost_of(std::uint32_t elements) const {
        const Computed index = computed_of(plan_.program);
        const bool is_tiled = has_barrier(plan_.program);
        double issued = 0, integer = 0;
        const auto add = [&](double times, double all, double of_integers) {
            issued += times * all;
            integer += times * of_integers;
        };
        for (const Instruction& one : plan_.program.instructions) {
            const double more_words =
                std::max(1u, plan_.program.arrays[one.array].element_bytes / 4) - 1.0;
            if (is_tiled) {
                add(1, 3, 1);  // most addresses of a tile are constants apart
            } else if (one.kind == AccessKind::load) {
                add(1, 13.1, 6.6);  // a loaded value is checked
                add(more_words, 1.6, 1);
            } else if (one.kind == AccessKind::store) {
                add(1, 7.7, 4.6);
                add(more_words, 3.1, 1.7);
            } else {
                add(1, 7.9, 4.2);
            }
        }
        add(index.operators, 1.7, 1.3);
        add(index.divisions, 8.8, 2.3);
        add(index.conditions, 3.2, 2.1);
        add(index.hashes, 88.6, 65);  // with a remainder of 64 bits; products of 64 take longer
        const double once = is_tiled ? 104 : 10.5;
        return {.issued = static_cast<float>(once + elements * issued),
                .integer = static_cast<float>(2 * elements * integer)};
    }

    WarpEvents events_of(const std::vector<PlannedAccess>& planned, std::uint64_t block,
                         std::uint32_t warp, const IssueCost& cost, BlockTraces& traces) {
        WarpEvents events;
        std::uint32_t number = 0, last_load = 0;
        for (const PlannedAccess& one : planned) {
            if (one.is_behind_barrier) events.events.push_back({.unit = TraceUnit::barrier});
            TraceEvent event{
                .site = one.site, .number = number++, .waits_for = one.waits_for, .cost = cost};
            set_access(access(one.site, block, one.element, warp), event, traces);
            events.events.push_back(event);
            if (plan_.program.instructions[one.site].kind == AccessKind::load) last_load = number;
        }
        // Waits for loaded values, which are used now.
        events.events.push_back({.number = number, .waits_for = last_load, .cost = cost});
        return events;
    }
    void set_access(const WarpAccess& access, TraceEvent& event, BlockTraces& traces) {
        if (access.active_lanes == 0) return;
        if (access.space != Space::global) return set_near_access(access, event);
        constexpr std::array units{TraceUnit::load, TraceUnit::store, TraceUnit::atomic,
                                   TraceUnit::reduce};
        event.unit = units[static_cast<std::size_t>(access.kind)];
        event.goes_past_l1 = !processor_.keeps_loads;
        const AccessShape& shape = shape_of(event.site, access);
        const std::uint64_t further = lines_from(shape, access);
        event.first_line = static_cast<std::uint32_t>(traces.lines.size());
        event.lines = static_cast<std::uint32_t>(shape.lines.size());
        for (LineTouch one : shape.lines) {
            one.line += further;
            traces.lines.push_back(one);
        }
        event.passes = shape.passes;
    }
    // Local memory is in L1, which has the banks of shared memory.
    void set_near_access(const WarpAccess& access, TraceEvent& event) const {
        event.unit = TraceUnit::shared;
        const Rules& rules = *machine_.rules;
        if (access.space == Space::constant) {
            // A scheduler's share of the unit that all have in common: an address of a warp each
            // 2.25 cycles (`constant 32` in tests/data/h200/near_memories.csv).
            constexpr float of_address = 9;
            event.cost.special +=
                of_address * static_cast<float>(ConstantMemory(rules).count(access).requests);
        } else if (access.space == Space::local) {
            const LocalMemory memory(rules);
            for (std::uint32_t word = 0; 4 * word < std::max(4u, access.width_bytes); ++word) {
                const WarpAccess words = memory.interleaved(access, word);
                const L1Passes passes =
                    passes_of_lines(coalescer_, words, LinesOfWarp(words).size());
                event.passes.data = static_cast<std::uint16_t>(event.passes.data +
                                                               std::max(passes.tags, passes.data));
            }
        } else {
            event.passes.data = static_cast<std::uint16_t>(
                is_load_or_store(access.kind)
                    ? SharedMemory(rules).count(access).wavefronts
                    : count_shared_atomic(access, SharedAtomic::by_lane).wavefronts);
        }
    }

    // Wave after wave of blocks, for a few milliseconds.
    L2Sample l2_sample() {
        constexpr double most_lines = 1'000'000;
        constexpr std::uint64_t most_evaluated = 20'000;
        const std::uint64_t at_once = std::uint64_t{processor_.count} * resident_;
        KernelLaunch launch;
        launch.grid[0] = static_cast<std::uint32_t>(std::min<std::uint64_t>(order_.blocks, ~0u));
        launch.block[0] = order_.block;
        const double lines_of_block = lines_of_element() * order_.per_thread * order_.block_warps();
        const double expected =
            std::min(most_lines, static_cast<double>(order_.blocks) * lines_of_block);
        // As good as 40,000 for times, to 2 %; twice as many lines as meet in no slice.
        constexpr std::size_t most_of_site = 4'000;
        L2Stream stream(launch, at_once, samples_.size(),
                        {.most_kept = most_of_site * samples_.size(),
                         .fewest_lines = 1'000,
                         .most_counted = 65'536,
                         .expected = expected});
        stream.cut(order_.blocks);
        const std::vector<PlannedAccess> planned =
            accesses_of_warp(plan_.program, order_.per_thread);
        std::uint64_t begin = 0;
        while (begin < order_.blocks && evaluated_ < most_evaluated &&
               static_cast<double>(begin) * lines_of_block < most_lines) {
            const std::uint64_t end = std::min(order_.blocks, begin + at_once);
            for (std::uint32_t site = 0; site < samples_.size(); ++site)
                if (samples_[site].like == site &&
                    plan_.program.instructions[site].space == Space::global)
                    feed(stream, planned, site, begin, end);
            begin = end;
        }
        stream.cut(begin);
        return stream.sample();
    }
    // Feeds the accesses of all sites that resemble this one.
    void feed(L2Stream& stream, const std::vector<PlannedAccess>& planned, std::uint32_t site,
              std::uint64_t begin, std::uint64_t end) {
        const std::uint64_t step = block_step(plan_.program.instructions[site], order_);
        std::vector<std::vector<std::uint32_t>> numbers(order_.per_thread);
        for (std::uint32_t i = 0; i < planned.size(); ++i)
            if (samples_[planned[i].site].like == site) numbers[planned[i].element].push_back(i);
        for (std::uint32_t element = 0; element < order_.per_thread; ++element)
            for (std::uint32_t warp = 0; warp < order_.block_warps(); ++warp)
                for (std::uint64_t from = begin;
                     from < std::min(end, begin + std::max<std::uint64_t>(1, step)); ++from) {
                    std::uint64_t length = 0;  // of the last run
                    for (std::uint64_t at = from; at < end;) {
                        const BlockRun run = run_from(site, element, warp, at, end, step, length);
                        take(stream, numbers[element], planned, run);
                        length = run.box.count[0];
                        at += length * std::max<std::uint64_t>(1, step);
                    }
                }
    }
    void take(L2Stream& stream, const std::vector<std::uint32_t>& numbers,
              const std::vector<PlannedAccess>& planned, const BlockRun& run) const {
        if (run.access.active_lanes == 0) return;
        std::map<std::uint64_t, std::vector<L2Stream::Asker>> askers;  // by their distance
        for (const std::uint32_t number : numbers) {
            const std::uint32_t site = planned[number].site;
            askers[samples_[site].away].push_back(
                {number, site, plan_.program.instructions[site].kind});
        }
        for (const auto& [away, those] : askers) {
            WarpAccess access = run.access;
            for (std::uint64_t& address : access.addresses) address += away;
            stream.take_at(those, access, {static_cast<std::int64_t>(run.bytes), 0, 0}, run.box);
        }
    }
    // As long as its first, middle and last block agree. `likely`: a probable length.
    BlockRun run_from(std::uint32_t site, std::uint32_t element, std::uint32_t warp,
                      std::uint64_t first, std::uint64_t end, std::uint64_t step,
                      std::uint64_t likely) {
        const auto at = [&](std::uint64_t number) {
            ++evaluated_;
            return access(site, first + number * step, element, warp);
        };
        BlockRun run{.access = at(0), .bytes = 0, .box = {}};
        run.box.first[0] = static_cast<std::uint32_t>(first);
        if (step == 0 || first + step >= end) return run;
        const std::uint64_t most = (end - first - 1) / step + 1;
        const auto by = moved_by(run.access, at(1));
        if (!by) return run;
        const auto goes_to = [&](std::uint64_t count) {
            return moved_by(run.access, at(count - 1)) == *by * (count - 1) &&
                   moved_by(run.access, at(count / 2)) == *by * (count / 2);
        };
        std::uint64_t low = 2, high = most + 1;  // the longest that holds, the shortest that fails
        const auto attempt = [&](std::uint64_t count) { (goes_to(count) ? low : high) = count; };
        if (likely > low && likely <= most) attempt(likely);
        if (low == likely && (low == most || !goes_to(low + 1)))
            high = low + 1;
        else if (low < most)
            attempt(most);
        while (high - low > 1) attempt(low + (high - low) / 2);
        run.bytes = *by;
        run.box.stride[0] = static_cast<std::uint32_t>(step);
        run.box.count[0] = static_cast<std::uint32_t>(low);
        return run;
    }

    const Plan& plan_;
    const Machine& machine_;
    const Readings& readings_;
    LaunchOrder order_;
    Multiprocessor processor_;
    std::uint32_t resident_ = 1;
    Coalescer coalescer_;
    Placement placement_;
    std::uint64_t evaluated_ = 0;
    std::vector<AccessShape> shapes_;  // by site: of its last access
    Digest drawn_lines_;
    std::vector<SiteSample> samples_;  // empty ones of other memories
    std::uint64_t drawn_ = 1;          // warps and elements
    double scale_ = 1;                 // from these to the launch
};

}  // namespace

Estimates add_plan_time(const Plan& plan, const Machine& machine, const Rates& rates, bool is_warm,
                        Readings& readings) {
    static KnownTimes known;
    PlanFeed feed(plan, machine, readings);
    const auto key = feed.key(rates, is_warm);
    std::optional<SimulatedTime> time = key ? known.find(*key) : std::nullopt;
    if (!time) {
        LaunchModel model = feed.model(rates, is_warm);
        time = time_of(model, rates.sim);
        if (key) known.keep(*key, *time);
    }
    return estimates_from(*time, 1, rates, readings, true);
}

}  // namespace coalprof
