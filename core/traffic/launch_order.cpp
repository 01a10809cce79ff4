#include "core/traffic/launch_order.h"

#include <numeric>

namespace coalprof {
namespace {

// Where every array is global and no tile belongs to a block, it does not matter which block
// touches what, and blocks may take their elements in turn. Without that each block would store to
// a stretch of memory of its own, and long ones slow an H200 down (docs/measurements.md).
std::uint32_t turns_of(const Program& program, const LaunchOrder& order) {
    constexpr std::uint64_t most = 32;
    const bool is_whole = order.threads % (std::uint64_t{order.block} * order.per_thread) == 0;
    const bool is_free = std::ranges::all_of(program.instructions, [](const Instruction& one) {
        return one.space == Space::global && !std::holds_alternative<Tiles>(one.formula);
    });
    if (!is_free || !is_whole || order.per_thread == 1) return 1;
    return static_cast<std::uint32_t>(std::gcd(order.blocks, most));
}

}  // namespace

std::uint64_t LaunchOrder::first_index(std::uint64_t which, std::uint32_t element) const {
    const std::uint64_t turn = std::uint64_t{block} * blocks_in_turn;
    return which / blocks_in_turn * turn * per_thread + which % blocks_in_turn * block +
           element * turn;
}

LaunchOrder order_of(const Plan& plan) {
    LaunchOrder order{.threads = plan.program.threads,
                      .block = plan.program.block,
                      .per_thread = plan.shape.per_thread};
    const std::uint64_t of_one_block = std::uint64_t{order.block} * order.per_thread;
    order.blocks = (order.threads + of_one_block - 1) / of_one_block;
    order.blocks_in_turn = turns_of(plan.program, order);
    return order;
}

}  // namespace coalprof
