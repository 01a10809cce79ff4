#include "core/pattern/near_memories.h"

#include <fmt/format.h>

#include "core/pattern/builder.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// On every GPU. Source: CUDA Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::uint64_t constant_bytes = 64 << 10;

void require_between(const Plan& plan, std::uint64_t least, std::uint64_t most, const char* what) {
    if (plan.value < least || plan.value > most)
        throw UsageError(
            fmt::format("{} {}: {} are {} to {}", plan.pattern, plan.value, what, least, most));
}

void require_fits(const Plan& plan, std::uint64_t elements, std::uint64_t most_bytes,
                  const char* memory) {
    const std::uint64_t bytes = checked_product(elements, bytes_of(plan.type), "the array");
    if (bytes > most_bytes)
        throw UsageError(fmt::format("{} {}: takes {} bytes of {} memory, which has {}",
                                     plan.pattern, plan.value, bytes, memory, most_bytes));
}

Program lane_program(const Plan& plan, Space space, const LaneGrid& grid, std::uint64_t elements) {
    const std::uint64_t n = element_count(plan);
    return program_of(
        plan,
        {.formula = grid, .elements = elements, .threads = n, .active_threads = n, .space = space});
}

}  // namespace

Program make_shared_stride(const Plan& plan) {
    const std::uint64_t elements =
        checked_sum(checked_product(warp_lanes - 1, plan.value, "the tile"), 1, "the tile");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return lane_program(plan, Space::shared, {.rows = warp_lanes, .pitch = plan.value, .step = 0},
                        elements);
}

std::uint64_t shared_pad_tile(const PatternOptions& options) {
    const std::uint64_t columns = options.tile.value_or(32);
    if (columns != 16 && columns != 32)
        throw UsageError(fmt::format("--tile {}: a tile has 16 or 32 columns", columns));
    return columns;
}

Program make_shared_pad(const Plan& plan) {
    const std::uint64_t columns = shared_pad_tile(plan.options);
    const std::uint64_t pitch = checked_sum(columns, plan.value, "a row");
    const std::uint64_t elements = checked_product(columns, pitch, "the tile");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return lane_program(plan, Space::shared, {.rows = columns, .pitch = pitch, .step = 1},
                        elements);
}

Program make_shared_broadcast(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "groups of lanes");
    return lane_program(plan, Space::shared, {.rows = plan.value, .pitch = 0, .step = 1},
                        (warp_lanes - 1) / plan.value + 1);
}

Program make_shared_random(const Plan& plan) {
    const std::uint64_t n = element_count(plan);
    const std::uint64_t elements = elements_in(plan, plan.value, "a region");
    require_fits(plan, elements, shared_bytes_of_block, "shared");
    return program_of(plan, {.formula = Scatter{elements, plan.options.seed},
                             .elements = elements,
                             .threads = n,
                             .active_threads = n,
                             .space = Space::shared});
}

Program make_constant(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "addresses of a warp");
    require_fits(plan, plan.value, constant_bytes, "constant");
    return lane_program(plan, Space::constant, {.rows = plan.value, .pitch = 1, .step = 0},
                        plan.value);
}

Program make_local(const Plan& plan) {
    require_between(plan, 1, warp_lanes, "indices of a warp");
    return lane_program(plan, Space::local, {.rows = plan.value, .pitch = 1, .step = 0},
                        plan.value);
}

}  // namespace coalprof
