#include "core/explain/explanation.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "core/count/launch_sum.h"
#include "core/count/obstacles.h"
#include "core/count/predict.h"
#include "core/count/transactions.h"
#include "core/explain/launch_sample.h"
#include "core/sim/estimate.h"
#include "core/sweep/patterns.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

void require_drawable(const Machine& machine) {
    if (machine.rules->global == GlobalRule::sectors_by_warp) return;
    throw UsageError(
        fmt::format("--machine {}: explain draws warps from compute capability 7.0 on",
                    machine.name),
        fmt::format("the transactions of this machine are counted: coalprof PATTERN --machine {}",
                    machine.name));
}

bool touch_alike(const WarpAccess& a, const WarpAccess& b) {
    if (a.space != b.space) return false;
    // Loads and stores of the same places have equal counts in global memory; elsewhere they may go
    // in other groups.
    if (a.kind != b.kind && a.space != Space::global) return false;
    if (a.active_lanes != b.active_lanes || a.width_bytes != b.width_bytes) return false;
    if (is_load_or_store(a.kind) != is_load_or_store(b.kind)) return false;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((a.active_lanes >> lane & 1) != 0 && a.addresses[lane] != b.addresses[lane])
            return false;
    return true;
}

ExplainedInstruction explained(const WarpAccess& access, std::string array,
                               const Machine& machine) {
    ExplainedInstruction instruction{access.kind, std::move(array), {}, {}};
    if (access.space == Space::global) instruction.counts = Coalescer(*machine.rules).count(access);
    Predictor(machine).predict_warp(access, instruction.readings);
    return instruction;
}

void finish(ExplainedAccess& explained, const Machine& machine) {
    const WarpAccess& access = explained.access;
    explained.shape = shape_of(access);
    switch (access.space) {
        case Space::global:
            explained.lines = touched_lines(access);
            explained.reasons = reasons_of(explained.shape, purpose_of(explained),
                                           explained.instructions.front().counts);
            break;
        case Space::shared:
            if (!is_load_or_store(access.kind)) {
                explained.reasons = shared_atomic_reasons_of(explained.shape);
                break;
            }
            explained.banks = bank_use_of(access, *machine.rules);
            explained.reasons = shared_reasons_of(explained.shape, *explained.banks);
            break;
        case Space::constant:
            explained.constant_passes = constant_passes_of(access, *machine.rules);
            explained.reasons =
                constant_reasons_of(explained.shape, explained.constant_passes.size(),
                                    machine.rules->constant.instructions(access.width_bytes));
            break;
        case Space::local:
            explained.lines = local_lines_of(access, *machine.rules);
            explained.reasons = local_reasons_of(explained.shape, explained.lines);
            break;
    }
}

bool is_plain_load(const ExplainedAccess& access) {
    return access.access.space == Space::global && purpose_of(access) == Purpose::load &&
           !access.instructions.front().array.empty();
}

// Bytes of the sectors of `access` that it uses, or that the warp's other loads of its array use
// with it.
std::uint64_t bytes_used_together(const ExplainedAccess& access,
                                  const std::vector<ExplainedAccess>& all) {
    std::map<std::uint64_t, std::array<std::uint32_t, sectors_per_line>> used;  // of each line
    for (const TouchedLine& line : access.lines) used[line.address];
    for (const ExplainedAccess& other : all) {
        if (!is_plain_load(other) ||
            other.instructions.front().array != access.instructions.front().array)
            continue;
        for (const TouchedLine& line : other.lines)
            if (const auto known = used.find(line.address); known != used.end())
                for (std::size_t i = 0; i < line.sectors.size(); ++i)
                    known->second[i] |= line.sectors[i].used_bytes;
    }
    std::uint64_t bytes = 0;
    for (const TouchedLine& line : access.lines)
        for (std::size_t i = 0; i < line.sectors.size(); ++i)
            if (line.sectors[i].lanes != 0)
                bytes += static_cast<std::uint64_t>(std::popcount(used[line.address][i]));
    return bytes;
}

// Sectors that one load uses in part may be used by another load of the array: then there is less
// to fix than one load alone shows.
void tell_what_loads_share(std::vector<ExplainedAccess>& accesses) {
    for (ExplainedAccess& access : accesses) {
        if (!is_plain_load(access)) continue;
        const std::uint64_t moved = std::uint64_t{access.shape.sectors} * sector_bytes;
        const std::uint64_t together = bytes_used_together(access, accesses);
        if (together <= access.shape.unique_bytes()) continue;
        const std::string& array = access.instructions.front().array;
        if (together == moved)
            access.reasons.mend = fmt::format(
                "Nothing is wasted: the warp's other loads of array {} use the rest of "
                "these sectors, as long as L1 holds them. One wider load per lane, or a tile in "
                "shared memory, takes fewer requests.",
                array);
        else
            access.reasons.mend += fmt::format(
                " With the warp's other loads of array {}, {} of the {} bytes are used, as long "
                "as L1 holds them.",
                array, together, moved);
    }
}

std::vector<ExplainedAccess> accesses_of(const Program& program, const LaunchWarp& warp,
                                         const Machine& machine) {
    std::vector<ExplainedAccess> accesses;
    // Data that go through several memories are followed step by step.
    const bool has_steps = std::any_of(
        program.instructions.begin(), program.instructions.end(),
        [&](const Instruction& one) { return one.space != program.instructions.front().space; });
    for (const Instruction& instruction : program.instructions) {
        const WarpAccess access =
            access_of_warp(program, {}, instruction, warp.first_thread, warp.lanes);
        const auto same_places = [&](const ExplainedAccess& other) {
            return !has_steps && touch_alike(other.access, access);
        };
        auto home = std::find_if(accesses.begin(), accesses.end(), same_places);
        if (home == accesses.end()) {
            require_drawable(machine);
            home = accesses.emplace(accesses.end());
            home->access = access;
            home->element_bytes = access.width_bytes;
        }
        home->instructions.push_back(
            explained(access, program.arrays[instruction.array].name, machine));
    }
    for (ExplainedAccess& access : accesses) finish(access, machine);
    tell_what_loads_share(accesses);
    return accesses;
}

// The general advice is to pad, so this replaces it.
void tell_that_rows_are_padded(std::vector<ExplainedAccess>& accesses, std::uint64_t pitch) {
    for (ExplainedAccess& access : accesses)
        if (access.reasons.cause == Cause::bank_conflict)
            access.reasons.mend = fmt::format(
                "The rows are padded to {} elements already, which does not part these lanes: "
                "exchange columns from row to row instead (--variant swizzled).",
                pitch);
}

std::string as_in_titles(std::string_view key, const Value& value) {
    if (key == "block") return fmt::format("blocks of {}", text_of(value));
    if (key == "per_thread") return fmt::format("{} elements per thread", text_of(value));
    return fmt::format("{} {}", key, text_of(value));
}

// The options of the pattern and of the launch that are not at their default.
NamedValues chosen_options(const Plan& plan, const Rules& rules) {
    const PatternInfo* pattern = known_pattern(plan.pattern);
    if (!pattern) return {};
    const PatternOptions& options = plan.options;
    const PatternOptions usual;
    const LaunchShape shape;
    NamedValues chosen;
    const auto add_own = [&](std::string_view key, const Value& value, bool is_chosen) {
        if (is_chosen && pattern->takes(fmt::format("--{}", key))) chosen.emplace_back(key, value);
    };
    add_own("variant", options.variant, options.variant != usual.variant);
    add_own("tile", tile_columns(plan.pattern, options, plan.type).value_or(0),
            options.variant != usual.variant || options.tile.has_value());
    add_own("order", options.order, options.order != usual.order);
    add_own("seed", options.seed, options.seed != usual.seed);
    add_own("member", options.member, options.member != usual.member);
    add_own("pitch", options.pitch, options.pitch != usual.pitch);
    if (plan.shape.grid) chosen.emplace_back("grid", text_of(*plan.shape.grid));
    if (plan.shape.block_shape)
        chosen.emplace_back("block", text_of(*plan.shape.block_shape));
    else if (plan.shape.block != shape.block)
        chosen.emplace_back("block", plan.shape.block);
    if (plan.shape.per_thread != shape.per_thread && options.variant == usual.variant)
        chosen.emplace_back("per_thread", plan.shape.per_thread);
    if (plan.cache.dlcm != usual_load_modifier(rules))
        chosen.emplace_back("dlcm", name_of(plan.cache.dlcm));
    return chosen;
}

}  // namespace

Purpose purpose_of(const ExplainedAccess& access) {
    bool loads = false;
    bool stores = false;
    for (const ExplainedInstruction& instruction : access.instructions) {
        if (!is_load_or_store(instruction.kind)) return Purpose::atomic;
        (instruction.kind == AccessKind::load ? loads : stores) = true;
    }
    if (loads && stores) return Purpose::load_and_store;
    return loads ? Purpose::load : Purpose::store;
}

Explanation explanation_of(const Plan& plan, const Machine& machine,
                           std::optional<std::uint64_t> warp) {
    const LaunchWarp drawn = warp ? warp_at(plan.program, *warp) : first_whole_warp(plan.program);

    Explanation explanation;
    explanation.machine = machine.name;
    explanation.evidence = text_of(machine.rules->evidence);
    explanation.warp = drawn.index;
    explanation.warps = warp_count(plan.program);
    explanation.first_thread = drawn.first_thread;
    const NamedValues chosen = chosen_options(plan, *machine.rules);
    for (const auto& [key, value] : chosen) explanation.settings += as_in_titles(key, value) + ", ";
    const auto pitch = padded_row_elements(plan);
    if (pitch)
        explanation.settings +=
            fmt::format("row pitch {} elements ({} bytes), ", *pitch, *pitch * bytes_of(plan.type));
    explanation.settings += fmt::format("op {}, type {}", name_of(plan.op), name_of(plan.type));
    explanation.sweep = {{"pattern", plan.pattern}};
    if (const PatternInfo* pattern = known_pattern(plan.pattern)) {
        explanation.name = fmt::format("{}={}", pattern->parameter, plan.value);
        if (pattern->parameter != pattern->name)
            explanation.name = fmt::format("{} {}", pattern->name, explanation.name);
        explanation.formula = pattern->formula;
        explanation.sweep.emplace_back("parameter", pattern->parameter);
        explanation.sweep.emplace_back("value", plan.value);
        if (pattern->takes("--variant"))
            explanation.sweep.emplace_back("variant", plan.options.variant);
        for (const auto& [key, value] : chosen)
            if (key != "variant") explanation.sweep.emplace_back(key, value);
        if (pitch) explanation.sweep.emplace_back("row_pitch_elements", *pitch);
    } else {
        explanation.name = plan.pattern;
        explanation.formula = shown(plan.program.instructions.front().formula->text());
    }
    explanation.sweep.emplace_back("op", name_of(plan.op));
    explanation.sweep.emplace_back("type", name_of(plan.type));
    explanation.accesses = accesses_of(plan.program, drawn, machine);
    if (pitch) tell_that_rows_are_padded(explanation.accesses, *pitch);
    explanation.warnings = launch_warnings(machine, plan);
    return explanation;
}

Explanation explanation_of(const std::string& name, const std::vector<NamedWarp>& warps,
                           const Machine& machine) {
    Explanation explanation;
    explanation.name = shown(name);
    explanation.machine = machine.name;
    explanation.evidence = text_of(machine.rules->evidence);
    for (const NamedWarp& warp : warps) {
        require_drawable(machine);
        ExplainedAccess& one = explanation.accesses.emplace_back();
        one.instructions.push_back(explained(warp.access, warp.array, machine));
        one.access = warp.access;
        const std::uint64_t low = extent_of(warp.access).low;
        one.origin_address = warp.first_address.value_or(low - low % line_bytes);
        if (warp.first_address) one.element_bytes = warp.element_bytes;
        for (auto& address : one.access.addresses) address -= one.origin_address;
        finish(one, machine);
        one.findings = warp.findings;
    }
    return explanation;
}

Explanation explanation_of(const std::string& name, const WarpAccess& access,
                           const Machine& machine) {
    return explanation_of(name, std::vector<NamedWarp>{{.access = access}}, machine);
}

namespace {

// "op load" where --op decides the operation of some access.
bool depends_on_op(const FormulaSweep& sweep) {
    const ParsedFormula parsed = tree_of(sweep);
    return std::any_of(parsed.accesses.begin(), parsed.accesses.end(),
                       [](const FormulaAccess& access) { return !access.kind; });
}

std::string settings_of(const FormulaSweep& sweep, const Plan& plan) {
    std::string text = fmt::format("type {}", types_of(sweep));
    if (depends_on_op(sweep)) text = fmt::format("op {}, {}", name_of(plan.op), text);
    if (plan.shape.grid) text += fmt::format(", grid {}", text_of(*plan.shape.grid));
    if (plan.shape.block_shape)
        text += fmt::format(", blocks of {}", text_of(*plan.shape.block_shape));
    else if (plan.shape.block != LaunchShape{}.block)
        text += fmt::format(", blocks of {}", plan.shape.block);
    if (plan.shape.per_thread != 1)
        text += fmt::format(", {} elements per thread", plan.shape.per_thread);
    return text;
}

}  // namespace

Explanation explanation_of(const FormulaSweep& sweep, const PlannedPoint& point,
                           const Machine& machine, std::optional<std::uint64_t> warp) {
    Explanation explanation = explanation_of(point.plan, machine, warp);
    if (!point.parameters.empty()) explanation.name = fmt::format("formula {}", point.name);
    std::string text = sweep.text;
    std::ranges::replace(text, '\n', ' ');
    explanation.formula = printable(text);
    explanation.settings = settings_of(sweep, point.plan);
    explanation.sweep = values_of(describe_sweep(sweep));
    explanation.sweep.insert(explanation.sweep.end(), point.parameters.begin(),
                             point.parameters.end());
    return explanation;
}

TimedLaunch timed(const Plan& plan, const Machine& machine) {
    const std::uint64_t warps = warps_walked(plan.program);
    if (warps > most_timed_warps)
        return {.omitted = Warning{
                    "W-SAMPLED", "",
                    fmt::format("{} warps of the launch repeat no other, so its time is not "
                                "computed for a drawing; the same pattern without 'explain' "
                                "predicts it",
                                grouped(warps))}};
    Readings readings = Predictor(machine).predict_launch(plan, {});
    const auto estimates = add_estimates(machine, plan, CacheState::cold, readings);
    const Interval* interval = estimates ? estimates->of(Counter::duration_seconds) : nullptr;
    if (!interval || estimates->limits.empty()) return {};
    return {.time = LaunchTime{
                {interval->low, number_in(readings[Counter::duration_seconds]), interval->high},
                estimates->limits.front()}};
}

}  // namespace coalprof
