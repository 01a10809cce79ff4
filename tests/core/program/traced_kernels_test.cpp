// Programs of one kernel k, and what their code lets expect of a second run.
#include "core/program/traced_kernels.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

Trace launching(const std::set<std::string>& kernels) {
    Trace trace;
    trace.launches.emplace();
    for (const std::string& name : kernels)
        (*trace.launches)[{.name = name, .grid = {1, 1, 1}, .block = {32, 1, 1}}] = 1;
    return trace;
}

Trace of_machine_code() {
    Trace trace = launching({"k"});
    trace.lacks_ptx = {"it holds machine code and no PTX"};
    return trace;
}

bool is_run_again(const std::vector<Trace>& traces) {
    return may_have_lines(traces, [](const std::string& name) { return name != "unwanted"; });
}

TEST(SecondRun, is_left_out_where_all_kernels_are_machine_code) {
    EXPECT_FALSE(is_run_again({of_machine_code()}));
}

TEST(SecondRun, is_made_for_a_kernel_rewritable) {
    Trace trace = of_machine_code();
    trace.rewritable = {"k"};
    EXPECT_TRUE(is_run_again({trace}));
    trace.rewritable = {"never launched"};
    EXPECT_FALSE(is_run_again({trace}));
}

TEST(SecondRun, is_made_for_one_process_of_several) {
    Trace rewritable = launching({"k"});
    rewritable.rewritable = {"k"};
    EXPECT_TRUE(is_run_again({of_machine_code(), rewritable, of_machine_code()}));
    EXPECT_FALSE(is_run_again({of_machine_code(), launching({})}));
}

TEST(SecondRun, is_made_where_code_may_come_as_ptx_then) {
    Trace trace = of_machine_code();
    trace.unknown_code = {"it is of a kind that coalprof does not know"};
    EXPECT_TRUE(is_run_again({trace}));
}

TEST(SecondRun, is_made_where_a_kernel_came_in_a_way_that_is_not_seen) {
    Trace trace = launching({"k"});
    EXPECT_TRUE(is_run_again({trace}));
    trace.rewritable = {"never launched"};
    EXPECT_TRUE(is_run_again({trace}));
}

// PTX that was loaded may be that of any kernel in it.
TEST(SecondRun, is_made_for_ptx_where_not_all_kernels_are_known) {
    Trace graph = of_machine_code();
    (*graph.launches)[{.name = "(CUDA graph)", .grid = {0, 0, 0}, .block = {0, 0, 0}}] = 1;
    Trace ended_early = of_machine_code();
    ended_early.launches.reset();
    for (Trace& trace : std::vector{graph, ended_early}) {
        EXPECT_FALSE(is_run_again({trace}));
        trace.rewritable = {"in the graph"};
        EXPECT_TRUE(is_run_again({trace}));
    }
    ended_early.lacks_ptx.clear();
    EXPECT_TRUE(is_run_again({ended_early}));
}

TEST(SecondRun, is_not_made_for_kernels_that_nobody_wants) {
    Trace trace = launching({"unwanted"});
    trace.rewritable = {"unwanted"};
    trace.unknown_code = {"it is of a kind that coalprof does not know"};
    EXPECT_FALSE(is_run_again({trace}));
    Trace beside_others = launching({"unwanted", "k"});
    beside_others.lacks_ptx = {"it holds machine code and no PTX"};
    beside_others.rewritable = {"unwanted"};
    EXPECT_FALSE(is_run_again({beside_others}));
}

}  // namespace
}  // namespace coalprof
