// What the vendor's metrics say of the same launches. Skipped with the reason where there is no GPU
// or no permission.
#include <array>
#include <string>

#include "gpu/on_gpu.h"
#include "kernels/plans.h"

namespace coalprof {
namespace {

class CountersOnGpu : public GpuTest {};

// Requests are read as executed instructions, which share a pass with sectors: L1's own count of
// them must be the same.
TEST_F(CountersOnGpu, instructions_that_are_executed_are_the_requests_of_l1) {
    COALPROF_NEEDS_COUNTERS();
    struct Same {
        Op op;
        std::string executed;
        std::string requests;
    };
    const std::array all{
        Same{Op::load, "smsp__inst_executed_op_global_ld_pred_on_any.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
        Same{Op::store, "smsp__inst_executed_op_global_st_pred_on_any.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
        Same{Op::atomic, "smsp__inst_executed_op_generic_atom_pred_on_any.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"},
        Same{Op::reduce, "smsp__inst_executed_op_global_red_pred_on_any.sum",
             "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
    };
    for (const Same& same : all) {
        if (!collector().metrics().has(same.executed) || !collector().metrics().has(same.requests))
            continue;
        for (const char* pattern : {"offset", "stride", "permute", "scatter", "broadcast"}) {
            const Plan plan = plan_of(pattern, 4, same.op, ElementType::u32);
            const auto launch = launcher().prepare(plan);
            const auto values = collector().collect_metrics(
                {same.executed, same.requests}, 1, [](std::size_t) {},
                [&](std::size_t) { launch->launch(); });
            EXPECT_GT(values[0].values[0], 0) << pattern;
            EXPECT_EQ(values[0].values[0], values[0].values[1]) << pattern << " " << same.requests;
        }
    }
}

}  // namespace
}  // namespace coalprof
