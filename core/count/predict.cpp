#include "core/count/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/count/bandwidth.h"
#include "core/count/launch_sum.h"
#include "core/count/load_path.h"
#include "core/count/near_memory.h"
#include "core/count/set_counts.h"
#include "core/count/transactions.h"
#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

constexpr std::string_view dram_reason =
    "DRAM traffic depends on what L2 holds and writes back; only a measurement tells";

struct L2Keys {
    Counter requests;
    Counter sectors;
};
constexpr L2Keys l2_keys(AccessKind kind) {
    constexpr std::array<L2Keys, access_kinds.size()> keys{
        {{Counter::l2_read_requests, Counter::l2_read_sectors},
         {Counter::l2_write_requests, Counter::l2_write_sectors},
         {Counter::l2_atomic_requests, Counter::l2_atomic_sectors},
         {Counter::l2_reduce_requests, Counter::l2_reduce_sectors}}};
    return keys[static_cast<std::size_t>(kind)];
}

void set_l2(Readings& readings, AccessKind kind, const GlobalCounts& counts) {
    readings[l2_keys(kind).requests] = count_or_doubt(counts.l2_requests, counts.traffic_doubts);
    readings[l2_keys(kind).sectors] = count_or_doubt(counts.l2_sectors, counts.traffic_doubts);
    if (kind == AccessKind::load) readings[Counter::l1_hit_sectors] = std::uint64_t{0};
}

// When several warps touch one line, what L1 and L2 do depends on which comes first. Where they
// share lines but no sector, there is no hit, and each sector goes to L2 once (measured: all of 206
// launches on an H200 and an H100, docs/how-it-works.md).
void set_shared_lines(Readings& readings, AccessKind kind, bool sectors_shared,
                      bool leaves_l1_aside) {
    constexpr std::string_view load_reason =
        "warps share lines: how many of their sectors hit L1 depends on the order in which they "
        "run";
    constexpr std::string_view bypass_reason =
        "warps share lines: how many of their L2 requests merge depends on the order in which they "
        "run";
    constexpr std::string_view store_reason =
        "warps share lines: how many of their stores merge on the way to L2 depends on the order "
        "in "
        "which they run";
    const std::string_view reason = kind == AccessKind::store ? store_reason
                                    : leaves_l1_aside         ? bypass_reason
                                                              : load_reason;
    readings[l2_keys(kind).requests] = Unavailable{reason};
    if (sectors_shared) readings[l2_keys(kind).sectors] = Unavailable{reason};
    if (kind != AccessKind::load) return;
    if (sectors_shared && !leaves_l1_aside) readings[Counter::l1_hit_sectors] = Unavailable{reason};
    // Hits and misses leave the tag stage equally, but not the data stage.
    readings[Counter::load_data_wavefronts] = Unavailable{
        "warps share lines: loads that hit L1 pass its data stage otherwise than those that miss"};
}

// Warp instructions with a lane to serve.
struct ActiveWarps {
    std::uint64_t warps = 0;
    void add(const ActiveWarps& more, std::uint64_t times = 1) { warps += more.warps * times; }
};

ActiveWarps is_active_warp(const WarpAccess& access) {
    return {access.active_lanes != 0 ? 1u : 0u};
}

bool is_texture_load(const Instruction& instruction) { return instruction.path == LoadPath::tex; }

// Loads through textures: the warp instructions are those of the program, the rest is counted by
// the texture units.
void set_texture(Readings& readings, std::uint64_t requests) {
    constexpr Unavailable unknown{
        "how the texture units split a fetch into sectors is not known; only a measurement tells"};
    readings[Counter::texture_requests] = requests;
    readings[Counter::texture_sectors] = unknown;
    readings[Counter::texture_hit_sectors] = unknown;
    readings[Counter::l2_read_requests] = unknown;
    readings[Counter::l2_read_sectors] = unknown;
}

// Measured on an H200: warps that run side by side take more tag wavefronts than they would one by
// one, and not the same number twice; the data stage does the same (misaligned stores: 2 to 7 %
// more).
void set_crowded_tag_stage(Readings& readings, AccessKind kind, const GlobalCounts& counts) {
    const Doubts other_doubts = counts.tag_doubts & ~static_cast<Doubts>(Doubt::hash_not_summed);
    if (other_doubts != 0 || counts.requests <= 1) return;
    readings[access_counter(kind, AccessField::tag_wavefronts)] = Unavailable{
        "warps that run side by side take more tag wavefronts than they would one by "
        "one, how many depends on timing"};
    readings[access_counter(kind, AccessField::data_wavefronts)] = Unavailable{
        "the data stage takes accesses by tag wavefronts, whose number depends on timing"};
}

bool reads_array_before(const Program& program, std::size_t position) {
    for (std::size_t i = 0; i < position; ++i)
        if (program.instructions[i].kind == AccessKind::load &&
            program.instructions[i].array == program.instructions[position].array)
            return true;
    return false;
}

// For one of several instructions; passes depend on the others.
void set_apart(Readings& readings, AccessKind kind, const GlobalCounts& counts) {
    set_l1(readings, kind, counts);
    readings[access_counter(kind, AccessField::tag_wavefronts)] = {};
    readings[access_counter(kind, AccessField::data_wavefronts)] = {};
}

// "load", "shared_store"
std::string op_of(const Instruction& instruction) {
    constexpr std::array<std::string_view, 4> spaces{"", "shared_", "constant_", "local_"};
    return std::string(spaces[static_cast<std::size_t>(instruction.space)])
        .append(name_of(instruction.kind));
}

// The program's instructions without counts.
std::vector<InstructionResult> described(const Program& program) {
    std::vector<InstructionResult> instructions;
    for (const Instruction& one : program.instructions) {
        InstructionResult& result =
            instructions.emplace_back(InstructionResult{.array = program.arrays[one.array].name,
                                                        .op = op_of(one),
                                                        .type = std::string(name_of(one.type)),
                                                        .index = {},
                                                        .access = {},
                                                        .predicted = {}});
        result.index = one.formula->index_text();
        result.access = one.formula->access_text();
    }
    return instructions;
}

// One kind's instructions of a launch, summed.
struct KindSum {
    bool present = false;
    bool lines_shared = false;
    bool sectors_shared = false;
    GlobalCounts counts;
};

}  // namespace

Predictor::Predictor(const Machine& machine)
    : machine_(machine), coalescer_(*machine.rules), shared_memory_(*machine.rules) {}

bool Predictor::counts_transactions() const {
    return machine_.rules->global != GlobalRule::sectors_by_warp;
}

void Predictor::predict_warp(const WarpAccess& access, Readings& readings) const {
    readings.clear();
    if (access.space == Space::shared) {
        if (is_load_or_store(access.kind))
            set_shared(readings, machine_.rules->shared, access.kind, shared_memory_.count(access));
        else
            set_shared_atomics(readings, *machine_.rules,
                               count_shared_atomic(access, SharedAtomic::unknown));
        derive_ratios(readings);
        return;
    }
    if (counts_transactions()) {
        const Transactions transactions(*machine_.rules, usual_load_modifier(*machine_.rules));
        set_transactions(readings, access.kind, transactions.unavailable(access.kind),
                         transactions.count(access));
        derive_ratios(readings);
        return;
    }
    const GlobalCounts counts = coalescer_.count(access);
    set_l1(readings, access.kind, counts);
    set_l2(readings, access.kind, counts);
    derive_ratios(readings);
}

Readings Predictor::predict_launch(const Plan& plan, const Placement& placement,
                                   std::vector<InstructionResult>* apart) const {
    Readings readings;
    // A lone instruction has the counts of its launch.
    std::vector<InstructionResult> instructions;
    if (apart && plan.program.instructions.size() > 1) instructions = described(plan.program);
    if (touches_global_memory(plan.program)) {
        readings = counts_transactions() ? predict_transactions(plan, placement, instructions)
                                         : predict_sectors(plan, placement, instructions);
        add_texture_loads(plan.program, placement, readings, instructions);
        readings[Counter::dram_read_bytes] = Unavailable{dram_reason};
        readings[Counter::dram_write_bytes] = Unavailable{dram_reason};
        set_beyond_device_memory(plan.allocation, readings);
    }
    add_near_memories(plan.program, placement, readings, instructions);
    for (InstructionResult& one : instructions) derive_ratios(one.predicted);
    if (apart) *apart = std::move(instructions);
    readings[Counter::useful_bytes] = plan.program.useful_bytes;
    derive_ratios(readings);
    if (!touches_global_memory(plan.program)) return readings;
    const auto reason = why_bandwidth_unknown(*machine_.rules, plan);
    readings[Counter::bandwidth_bytes_per_second] =
        reason ? Reading{Unavailable{*reason}}
               : predict_bandwidth(machine_, plan.program, plan.cache);
    return readings;
}

void Predictor::add_texture_loads(const Program& program, const Placement& placement,
                                  Readings& readings, Apart& apart) const {
    std::optional<std::uint64_t> requests;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        if (!is_texture_load(instruction)) continue;
        const auto counts = sum_over_launch<ActiveWarps>(program, placement, instruction,
                                                         Sensitivity{}, is_active_warp);
        requests = requests.value_or(0) + counts.warps;
        if (!apart.empty()) apart[i].predicted[Counter::texture_requests] = counts.warps;
    }
    if (requests) set_texture(readings, *requests);
}

void Predictor::add_near_memories(const Program& program, const Placement& placement,
                                  Readings& readings, Apart& apart) const {
    std::array<SharedCounts, 2> shared;
    std::array<LocalCounts, 2> local;
    ConstantCounts constant;
    SharedCounts shared_atomics;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        const std::size_t kind = instruction.kind == AccessKind::load ? 0 : 1;
        Readings* const own = apart.empty() ? nullptr : &apart[i].predicted;
        const auto sum = [&](const auto& count) {
            using Counts = std::decay_t<decltype(count(WarpAccess{}))>;
            return sum_over_launch<Counts>(program, placement, instruction, Sensitivity{}, count);
        };
        // Adds to the sum of its kind, and sets the counters of both.
        const auto add = [&](auto& all, const auto& model, const auto& set) {
            const auto counts = sum([&](const WarpAccess& access) { return model.count(access); });
            all.add(counts);
            set(readings, all);
            if (own) set(*own, counts);
        };
        switch (instruction.space) {
            case Space::global: break;
            case Space::shared:
                if (is_atomic(instruction)) {
                    const SharedCounts counts{.requests = sum(is_active_warp).warps, .more = 1};
                    shared_atomics.add(counts);
                    set_shared_atomics(readings, *machine_.rules, shared_atomics);
                    if (own) set_shared_atomics(*own, *machine_.rules, counts);
                    break;
                }
                add(shared[kind], shared_memory_, [&](Readings& into, const SharedCounts& counts) {
                    set_shared(into, machine_.rules->shared, instruction.kind, counts);
                });
                break;
            case Space::constant:
                add(constant, ConstantMemory(*machine_.rules),
                    [](Readings& into, const ConstantCounts& counts) {
                        into[Counter::constant_requests] = counts.requests;
                    });
                break;
            case Space::local:
                add(local[kind], LocalMemory(*machine_.rules),
                    [&](Readings& into, const LocalCounts& counts) {
                        set_local(into, instruction.kind, counts);
                    });
                break;
        }
    }
}

Readings Predictor::predict_transactions(const Plan& plan, const Placement& placement,
                                         Apart& apart) const {
    const Transactions transactions(*machine_.rules, plan.cache.dlcm);
    std::array<std::optional<TransactionCounts>, access_kinds.size()> sums;
    const auto loads_reason = why_loads_unknown(*machine_.rules, plan.path);
    for (std::size_t i = 0; i < plan.program.instructions.size(); ++i) {
        const Instruction& instruction = plan.program.instructions[i];
        if (instruction.space != Space::global || is_texture_load(instruction)) continue;
        auto& sum = sums[static_cast<std::size_t>(instruction.kind)];
        if (!sum) sum.emplace();
        const auto counts = sum_over_launch<TransactionCounts>(
            plan.program, placement, instruction, Sensitivity{},
            [&](const WarpAccess& access) { return transactions.count(access); });
        sum->add(counts);
        if (apart.empty()) continue;
        const bool is_load = instruction.kind == AccessKind::load;
        set_transactions(
            apart[i].predicted, instruction.kind,
            is_load && loads_reason ? loads_reason : transactions.unavailable(instruction.kind),
            counts);
    }
    Readings readings;
    for (const AccessKind kind : access_kinds)
        if (const auto& sum = sums[static_cast<std::size_t>(kind)])
            set_transactions(readings, kind, transactions.unavailable(kind), *sum);
    const auto& loads = sums[static_cast<std::size_t>(AccessKind::load)];
    if (loads_reason && loads) set_transactions(readings, AccessKind::load, loads_reason, *loads);
    return readings;
}

GlobalCounts Predictor::sum_sectors(const Program& program, const Placement& placement,
                                    const Instruction& instruction) const {
    const auto sum_with = [&](const Coalescer& coalescer) {
        return sum_over_launch<GlobalCounts>(
            program, placement, instruction, {.hashes_lines = coalescer.hashes_lines()},
            [&](const WarpAccess& access) { return coalescer.count(access); });
    };
    if (!coalescer_.hashes_lines()) return sum_with(coalescer_);
    // The packets of an atomic depend on the hash. The cost of loads and stores depends on it only
    // for a lone warp (set_crowded_tag_stage()).
    if (is_atomic(instruction)) {
        const Sensitivity sensitivity{.hashes_lines = true};
        return costs_too_much(program, placement, instruction, sensitivity)
                   ? sum_with(coalescer_.without_hash())
                   : sum_with(coalescer_);
    }
    const GlobalCounts counts = sum_with(coalescer_.without_hash());
    return counts.requests > 1 ? counts : sum_with(coalescer_);
}

Readings Predictor::predict_sectors(const Plan& plan, const Placement& placement,
                                    Apart& apart) const {
    const Program& program = plan.program;
    std::array<KindSum, access_kinds.size()> sums;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const Instruction& instruction = program.instructions[i];
        if (instruction.space != Space::global || is_texture_load(instruction)) continue;
        // Loops may have thousands of them; the few of a measured point are counted even when the
        // run is to stop.
        if (i % 64 == 63) stop_if_asked();
        KindSum& sum = sums[static_cast<std::size_t>(instruction.kind)];
        sum.present = true;
        const GlobalCounts counts = sum_sectors(program, placement, instruction);
        sum.counts.add(counts);
        if (!apart.empty()) set_apart(apart[i].predicted, instruction.kind, counts);
        const bool reread = instruction.kind == AccessKind::load && reads_array_before(program, i);
        const bool shares_lines = reread || !warps_share_no_line(program, placement, instruction);
        sum.lines_shared = sum.lines_shared || shares_lines;
        sum.sectors_shared =
            sum.sectors_shared || reread ||
            (shares_lines && !warps_share_no_sector(program, placement, instruction));
    }

    Readings readings;
    for (const AccessKind kind : access_kinds) {
        const KindSum& sum = sums[static_cast<std::size_t>(kind)];
        if (!sum.present) continue;
        set_l1(readings, kind, sum.counts);
        set_l2(readings, kind, sum.counts);
        set_crowded_tag_stage(readings, kind, sum.counts);
        const bool is_atomic = kind == AccessKind::atomic || kind == AccessKind::reduce;
        if (sum.lines_shared && !is_atomic)
            set_shared_lines(readings, kind, sum.sectors_shared, bypasses_l1(plan));
    }
    return readings;
}

}  // namespace coalprof
