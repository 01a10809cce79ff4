#include "core/sim/launch_order.h"

#include "core/count/load_path.h"
#include "core/count/occupancy.h"

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

Multiprocessor multiprocessor_of(const Machine& machine, const Plan& plan) {
    const Rules& rules = *machine.rules;
    Multiprocessor one{.count = machine.board ? std::max(machine.board->multiprocessors, 1u) : 1,
                       .keeps_loads = !bypasses_l1(plan)};
    KernelNeeds needs{.block = plan.program.block, .shared_bytes = shared_bytes_of(plan.program)};
    if (plan.cache.carveout && needs.shared_bytes > 0)
        needs.shared_percent = plan.cache.carveout->shared_percent;
    const Occupancy fits = occupancy(rules, needs);
    one.resident_blocks = std::max(1u, fits.active_blocks);
    // Without a carveout the driver gives shared memory as much as the resident blocks need.
    const std::uint32_t reserved_kib =
        one.resident_blocks * rules.occupancy.shared_reserved_bytes / 1024;
    const std::uint32_t most_kib = rules.l1.splits.back().shared_kib;
    const std::uint32_t wanted_kib =
        plan.cache.carveout ? most_kib * plan.cache.carveout->shared_percent / 100 : reserved_kib;
    std::uint32_t l1_kib = rules.l1.splits.back().l1_kib;
    for (const L1Split& split : rules.l1.splits)
        if (split.shared_kib >= wanted_kib) {
            l1_kib = split.l1_kib;
            break;
        }
    one.l1_bytes = std::uint64_t{l1_kib} * 1024;
    return one;
}

}  // namespace coalprof
