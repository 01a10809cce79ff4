#include "core/traffic/launch_order.h"

namespace coalprof {

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
    order.blocks_in_turn = blocks_in_turn(plan.program, order.per_thread);
    return order;
}

}  // namespace coalprof
