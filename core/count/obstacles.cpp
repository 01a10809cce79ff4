#include "core/count/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/count/occupancy.h"
#include "core/count/transactions.h"
#include "core/pattern/memory_settings.h"

namespace coalprof {
namespace {

std::string missing(const Abilities& abilities, const Instruction& instruction) {
    const ElementType type = instruction.type;
    const bool is_double =
        type == ElementType::f64 || type == ElementType::f64x2 || type == ElementType::f64x4;
    if (is_double && !abilities.doubles) return "it has no f64 arithmetic";
    if (instruction.width_bytes > abilities.widest_access_bytes)
        return fmt::format("its accesses have {} bytes at most, and those of 32 came with 10.0",
                           abilities.widest_access_bytes);
    if (!is_atomic(instruction)) return {};
    if (instruction.space == Space::shared)
        return abilities.shared_atomics ? "" : "it has no atomics on shared memory";
    if (abilities.atomic_bytes == 0) return "it has no atomics on global memory";
    if (type == ElementType::f32 && !abilities.float_atomics)
        return "it has no atomic addition of f32 numbers";
    if (type == ElementType::f64 && !abilities.double_atomics)
        return "it has no atomic addition of f64 numbers";
    if (instruction.width_bytes > abilities.atomic_bytes)
        return fmt::format("its atomics have {} bytes at most", abilities.atomic_bytes);
    return {};
}

std::string too_large(const Abilities& abilities, const Dimensions& grid) {
    const std::array<std::uint64_t, 3> blocks{grid.x, grid.y, grid.z};
    for (std::size_t axis = 0; axis < blocks.size(); ++axis)
        if (blocks[axis] > abilities.grid_blocks[axis])
            return fmt::format(
                "a grid has {} blocks along {}, the most is {} (spread them over the other "
                "dimensions, or take larger blocks)",
                blocks[axis], "xyz"[axis], abilities.grid_blocks[axis]);
    return {};
}

Warning impossible(const Machine& machine, const std::string& clause) {
    return {
        "W-IMPOSSIBLE", {}, fmt::format("{} could not run this launch: {}", machine.name, clause)};
}

}  // namespace

std::vector<std::string> launch_obstacles(const Rules& rules, std::uint32_t block_threads,
                                          std::uint64_t shared_bytes,
                                          const std::optional<Dimensions>& grid) {
    std::vector<std::string> found;
    const auto obstacle = [&](std::uint64_t bytes) {
        return occupancy(rules, {.block = block_threads, .shared_bytes = bytes}).impossible;
    };
    if (const std::string of_block = obstacle(shared_bytes); !of_block.empty())
        found.push_back(of_block +
                        (obstacle(0).empty()
                             ? " (a smaller --shared may do, or --block where it decides that)"
                             : " (a smaller --block may do)"));
    if (grid)
        if (const std::string of_grid = too_large(rules.abilities, *grid); !of_grid.empty())
            found.push_back(of_grid);
    return found;
}

std::vector<std::string> obstacles(const Rules& rules, const Plan& plan) {
    std::vector<std::string> found =
        launch_obstacles(rules, plan.shape.block, shared_bytes_of(plan.program), plan.shape.grid);
    const auto add = [&](const std::string& clause) {
        const bool is_new = std::find(found.begin(), found.end(), clause) == found.end();
        if (!clause.empty() && is_new) found.push_back(clause);
    };
    for (const Instruction& instruction : plan.program.instructions)
        add(missing(rules.abilities, instruction));
    if (plan.allocation == Allocation::managed && !rules.abilities.managed_memory)
        found.emplace_back("it has no managed memory");
    return found;
}

std::string idle_lanes(std::uint64_t block_threads) {
    const std::uint64_t last = block_threads % warp_lanes;
    if (last == 0) return {};
    return fmt::format(
        "the last warp of each block of {} threads has {} idle lanes: a multiple of {} has none",
        block_threads, warp_lanes - last, warp_lanes);
}

std::optional<Warning> memory_warning(const Machine& machine, std::uint64_t bytes) {
    if (!machine.board || bytes <= machine.board->memory_bytes.value_or(bytes)) return std::nullopt;
    return impossible(
        machine, fmt::format("its arrays take {}, and the board has {} at most", bytes_text(bytes),
                             bytes_text(*machine.board->memory_bytes)));
}

std::vector<Warning> launch_warnings(const Machine& machine, const Plan& plan) {
    std::vector<Warning> warnings;
    const Rules& rules = *machine.rules;
    for (const std::string& clause : obstacles(rules, plan))
        warnings.push_back(impossible(machine, clause));
    std::uint64_t bytes = 0;  // of the board's memory, which managed and host memory exceed
    for (std::uint32_t array = 0; array < plan.program.arrays.size(); ++array)
        if (space_of(plan.program, array) == Space::global &&
            (plan.allocation == Allocation::device || plan.allocation == Allocation::static_array))
            bytes += plan.program.arrays[array].bytes();
    if (auto warning = memory_warning(machine, bytes)) warnings.push_back(std::move(*warning));
    if (std::string idle = idle_lanes(plan.shape.block); !idle.empty())
        warnings.push_back({"W-LAUNCH", {}, std::move(idle)});
    const CachePolicy& cache = plan.cache;
    const bool keeps_loads = rules.l1_loads.keeps_ca || rules.l1_loads.keeps_cs;
    for (const auto& [option, has_no_effect] :
         {std::pair("--l2-fetch", cache.l2_fetch_bytes && !rules.memory.fill_settable),
          std::pair("--carveout", cache.carveout && rules.l1.splits.size() < 2),
          std::pair("--dlcm", cache.dlcm != usual_load_modifier(rules) && !keeps_loads)})
        if (has_no_effect)
            warnings.push_back(
                {"W-LAUNCH", {}, fmt::format("{} changes nothing on {}", option, machine.name)});
    return warnings;
}

}  // namespace coalprof
