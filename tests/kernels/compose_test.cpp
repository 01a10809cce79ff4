#include "kernels/compose.h"

#include <gtest/gtest.h>

#include <regex>

#include "core/device/device.h"
#include "core/formula/index_of.h"
#include "kernels/plans.h"
#include "kernels/ptx_count.h"

namespace coalprof {
namespace {

using testing::Test;

std::string source_of(const Plan& plan) { return compose_access(plan, shape_of(plan)); }

// Where the source calls a function of kernels/source.
std::vector<std::size_t> calls(const std::string& source, const std::string& function) {
    const std::regex call("\\b" + function + "(<[^;()]*>)?\\(");
    std::vector<std::size_t> places;
    for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at)
        places.push_back(static_cast<std::size_t>(at->position()));
    return places;
}

TEST(Compose, serves_a_whole_sweep_of_the_parameter_with_one_source) {
    for (const PatternInfo& pattern : pattern_catalog()) {
        // Some values leave lanes over, others none.
        if (pattern.name == "row") continue;
        const std::uint64_t value = usual_value(pattern);
        const std::string name(pattern.name);
        const Op op = name == "transpose" ? Op::copy : Op::load;
        const std::string first = source_of(plan_of(name, value, op));
        EXPECT_EQ(first, source_of(plan_of(name, value * 2, op))) << name;
    }
}

// In blocks of 40 the second warp has 8 threads, and where a row ends they may all be idle.
TEST(Compose, knows_whether_whole_warps_may_be_idle) {
    const auto idle = [](std::uint64_t row_bytes, std::uint32_t block) {
        Plan plan = plan_of("row", row_bytes, Op::load);
        plan.shape.block = block;
        build_program(plan);
        return shape_of(plan).instructions[0].idle;
    };
    EXPECT_EQ(idle(128, 256), Idle::none);
    EXPECT_EQ(idle(100, 256), Idle::lanes);
    EXPECT_EQ(idle(100, 40), Idle::warps);
    EXPECT_EQ(shape_of(plan_of("offset", 3, Op::load)).instructions[0].idle, Idle::none);
    EXPECT_FALSE(shape_of(plan_of("row", 100, Op::load)).lanes_meet);
}

TEST(Compose, asks_for_the_element_of_each_formula_once) {
    EXPECT_EQ(calls(source_of(plan_of("offset", 11, Op::rmw)), "place").size(), 1u)
        << "the store goes where the load came from";
    EXPECT_EQ(calls(source_of(plan_of("stride", 2, Op::copy)), "place").size(), 2u);
}

TEST(Compose, compares_only_after_every_load_is_under_way) {
    const std::string add = source_of(plan_of("offset", 11, Op::add));
    ASSERT_EQ(calls(add, "load").size(), 2u);
    EXPECT_LT(calls(add, "load").back(), calls(add, "compare").front());
}

TEST(Compose, follows_the_pointers_of_a_table) {
    // The table itself is found directly; what is loaded, and stored, through its pointers.
    const std::string rmw = source_of(plan_of("indirect", 512, Op::rmw));
    EXPECT_EQ(calls(rmw, "locate").size(), 1u);
    EXPECT_EQ(calls(rmw, "locate_in_rows").size(), 2u);
    // add: each array has a table of its own, the contiguous result none
    const std::string add = source_of(plan_of("indirect", 512, Op::add));
    EXPECT_EQ(calls(add, "locate").size(), 3u);
    EXPECT_EQ(calls(add, "locate_in_rows").size(), 2u);
}

TEST(Compose, knows_when_every_thread_has_work) {
    // 65536 bytes are 16384 floats: 64 blocks of 256 threads, none over.
    EXPECT_TRUE(shape_of(plan_of("offset", 1, Op::load)).whole);
    EXPECT_EQ(shape_of(plan_of("offset", 1, Op::load)).grid, 64u);
    // 65540 bytes are one more.
    const Plan one_more = plan_of("offset", 1, Op::load, ElementType::f32, 1, 65540);
    EXPECT_FALSE(shape_of(one_more).whole);
    EXPECT_EQ(shape_of(one_more).grid, 65u);
    // Four elements a thread: 16 blocks do.
    EXPECT_EQ(shape_of(plan_of("offset", 1, Op::load, ElementType::f32, 4)).grid, 16u);
}

// 4 elements a thread and 256 threads a block: 1024 elements of 4 bytes.
TEST(Compose, lets_blocks_take_their_elements_in_turn_where_all_have_work) {
    const auto in_turn = [](const char* pattern, std::uint32_t per_thread, std::uint64_t bytes) {
        return shape_of(plan_of(pattern, 3, Op::load, ElementType::f32, per_thread, bytes))
            .blocks_in_turn;
    };
    EXPECT_EQ(in_turn("offset", 4, 64 * 4096), 32u);
    EXPECT_EQ(in_turn("offset", 4, 48 * 4096), 16u);
    EXPECT_EQ(in_turn("offset", 4, 7 * 4096), 1u);
    EXPECT_EQ(in_turn("offset", 4, 64 * 4096 + 4), 1u);     // a block is left over
    EXPECT_EQ(in_turn("offset", 1, 64 * 4096), 1u);         // nothing to take turns with
    EXPECT_EQ(in_turn("shared-stride", 4, 64 * 4096), 1u);  // a block's memory is its own
    EXPECT_EQ(shape_of(tiled_transpose("padded", 1024, ElementType::f32, 1 << 22)).blocks_in_turn,
              1u);
    const Plan plan = plan_of("offset", 3, Op::load, ElementType::f32, 4, 64 * 4096);
    EXPECT_EQ(shape_of(plan).step(), 32u * 256);
}

// 65540 bytes are 16385 floats: a last block with one.
TEST(Compose, lets_lanes_leave_early_where_each_has_one_element_and_waits_for_no_other) {
    const auto ways_to_run = [](const Plan& plan) { return occurrences(source_of(plan), "run<"); };
    const auto offset = [](std::uint32_t per_thread) {
        return plan_of("offset", 1, Op::load, ElementType::f32, per_thread, 65540);
    };
    EXPECT_EQ(ways_to_run(plan_of("offset", 1, Op::load, ElementType::f32, 4)), 1u);
    EXPECT_EQ(ways_to_run(offset(1)), 1u);
    EXPECT_EQ(ways_to_run(offset(4)), 2u);  // all of a thread's elements, or one after the other
    // Lanes of a user's formula, which may part, wait for each other.
    const auto formula = std::make_shared<TextFormula>("i", [](std::uint64_t i) { return i; });
    EXPECT_EQ(ways_to_run(handmade_plan({{AccessKind::load, 0, formula}}, 1, 1025, 1025)), 2u);
}

TEST(Compose, divides_in_32_bits_only_where_they_are_proven_enough) {
    const auto is_short = [](const Plan& plan) {
        return source_of(plan).find("Reciprocal::quotient(static_cast<unsigned>(v0)") !=
               std::string::npos;
    };
    const auto broadcast = [](std::uint64_t lanes, std::uint64_t threads) {
        return plan_of("broadcast", lanes, Op::load, ElementType::u8, 1, threads);
    };
    EXPECT_TRUE(is_short(broadcast(3, 1 << 16)));
    EXPECT_TRUE(is_short(broadcast(3, 1ull << 32)));         // indices up to 2^32 - 1
    EXPECT_FALSE(is_short(broadcast(3, (1ull << 32) + 1)));  // one more
    EXPECT_FALSE(is_short(broadcast(1ull << 32, 1024)));     // a number of the formula
    EXPECT_TRUE(is_short(broadcast((1ull << 32) - 1, 1024)));
}

TEST(Compose, lets_atomics_count_only_in_arrays_of_their_own) {
    const ProgramShape own = shape_of(plan_of("offset", 1, Op::atomic));
    EXPECT_EQ(own.contents[0], Content::count_f32);
    EXPECT_TRUE(own.instructions[0].counts);
    const Plan mixed = handmade_plan(
        {{AccessKind::load, 0, index_of("i")}, {AccessKind::reduce, 0, index_of("i")}}, 1, 64, 64);
    EXPECT_EQ(shape_of(mixed).contents[0], Content::marked);
    EXPECT_FALSE(shape_of(mixed).instructions[1].counts);
    EXPECT_NE(source_of(mixed).find("launch.nothing"), std::string::npos);  // what they add
}

TEST(Compose, puts_a_users_formula_in_as_source_and_keeps_its_accesses_apart) {
    const auto formula =
        std::make_shared<TextFormula>("i % 16 * 17", [](std::uint64_t i) { return i % 16 * 17; });
    const std::string source =
        source_of(handmade_plan({{AccessKind::load, 0, formula}}, 1, 1024, 256, 4));
    EXPECT_NE(source.find("Formula0"), std::string::npos);
    EXPECT_NE(source.find("locate<4, true>"), std::string::npos);
}

TEST(Compose, checks_loaded_values_only_where_memory_holds_something_known) {
    // Global memory and constants are filled; shared and local memory are not.
    EXPECT_NE(source_of(plan_of("offset", 3, Op::load)).find("touched_bits"), std::string::npos);
    for (const char* pattern : {"constant", "local", "shared-stride"})
        EXPECT_NE(source_of(plan_of(pattern, 3, Op::load)).find("checked_bits"), std::string::npos);
    EXPECT_FALSE(shape_of(plan_of("constant", 3, Op::load)).needs_near_check);
    EXPECT_TRUE(shape_of(plan_of("local", 3, Op::load)).needs_near_check);
    // What is moved on is checked where it ends.
    const Plan transpose = tiled_transpose("padded", 64);
    EXPECT_FALSE(shape_of(transpose).reports);
    EXPECT_FALSE(shape_of(transpose).needs_near_check);
    EXPECT_TRUE(calls(source_of(transpose), "report").empty());
}

// Beside global memory, whose values are known from the start, only what comes from shared memory
// waits for the launch that checks it.
TEST(Compose, checks_shared_memory_beside_global_memory_by_a_launch_of_its_own) {
    const Plan plan = formula_plan("load: a[i]; shared.store: tile[tid]; shared.load: tile[tid^1]");
    const ProgramShape shape = shape_of(plan);
    EXPECT_TRUE(shape.needs_near_check);
    const std::string source = source_of(plan);
    ASSERT_EQ(calls(source, "compare").size(), 2u);
    const auto line_at = [&](std::size_t at) {
        return source.substr(at, source.find('\n', at) - at);
    };
    EXPECT_EQ(line_at(calls(source, "compare")[0]).find("checked_bits"), std::string::npos);
    EXPECT_NE(line_at(calls(source, "compare")[1]).find("checked_bits"), std::string::npos);
    const std::string check = compose_near_check(plan, shape);
    EXPECT_EQ(occurrences(check, "fill_near<"), 1u);
    EXPECT_EQ(occurrences(check, "compare_stored<Memory::shared"), 1u);
    EXPECT_FALSE(shape_of(formula_plan("load: a[i]")).needs_near_check);
}

TEST(Compose, takes_as_much_shared_memory_as_the_block_of_a_gpu_has) {
    const Plan plan = formula_plan("shared.load: tile[tid*50]");  // 255 * 50 + 1 words
    EXPECT_THROW(shape_of(plan), PointError);
    const ProgramShape shape = shape_of(plan, {.shared_bytes = 227 << 10});
    EXPECT_EQ(shape.shared_bytes, (255u * 50 + 1) * 4);
}

TEST(Compose, lets_a_block_meet_between_storing_a_tile_and_loading_it) {
    const std::string source = source_of(tiled_transpose("tile", 64));
    const std::size_t store = source.find("store_loaded<Memory::shared>");
    const std::size_t load = source.find("load<Memory::shared>");
    ASSERT_NE(load, std::string::npos);
    ASSERT_EQ(calls(source, "meet").size(), 1u);
    EXPECT_LT(store, calls(source, "meet").front());
    EXPECT_LT(calls(source, "meet").front(), load);
}

// A thread's elements in a tile lie whole rows apart: 256 threads take 8 rows of a tile of 32,
// which are 8 * 64 elements of a matrix of 64 columns, and 8 * 33 of a padded tile. Columns of a
// swizzled tile are no fixed distance from each other.
TEST(Compose, finds_the_elements_of_a_tile_by_steps_of_whole_rows) {
    const Plan padded = tiled_transpose("padded", 64);
    const ProgramShape shape = shape_of(padded);
    constexpr std::array<std::uint64_t, 4> steps{8 * 64, 8 * 33, 8, 8 * 256};  // 256 rows
    for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_TRUE(shape.instructions[k].is_even);
        EXPECT_EQ(step_of(padded.program.instructions[k].formula, shape), steps[k]) << k;
    }
    EXPECT_EQ(occurrences(source_of(padded), "place_evenly<per_thread>("), 4u);
    const ProgramShape swizzled = shape_of(tiled_transpose("swizzled", 64));
    EXPECT_TRUE(swizzled.instructions[0].is_even);
    EXPECT_FALSE(swizzled.instructions[1].is_even);
    // Of two tiles, which lie one below the other in a, the second begins anew in shared memory.
    Plan two = tiled_transpose("padded", 64);
    two.shape.per_thread = 8;
    EXPECT_TRUE(shape_of(two).instructions[0].is_even);
    EXPECT_FALSE(shape_of(two).instructions[1].is_even);
}

TEST(Compose, gives_every_array_of_shared_memory_its_place) {
    // A padded tile of f32: 31 rows of 33 words and one of 32.
    const Plan plan = tiled_transpose("padded", 64);
    EXPECT_EQ(shape_of(plan).shared_bytes, (31 * 33 + 32) * 4u);
    EXPECT_EQ(shared_offset(plan.program, 1), 0u);
    Plan two = handmade_plan(
        {{AccessKind::store, 0, index_of("i%32")}, {AccessKind::store, 1, index_of("i%32")}}, 2, 64,
        33);
    for (Instruction& one : two.program.instructions) one.space = Space::shared;
    EXPECT_EQ(shared_offset(two.program, 1), 256u);  // 132 bytes, in steps of 128
    EXPECT_EQ(shape_of(two).shared_bytes, 256u + 132u);
}

struct Refused {
    const char* why;
    Plan plan;
};

TEST(Compose, refuses_what_no_kernel_can_do_with_a_sentence) {
    Plan wide_block = plan_of("offset", 0, Op::load);
    wide_block.program.block = 4096;
    Plan wide_atomic = handmade_plan({{AccessKind::atomic, 0, index_of("i")}}, 1, 64, 64);
    wide_atomic.program.arrays[0].element_bytes = 16;
    wide_atomic.program.instructions[0].width_bytes = 16;
    Plan shared = plan_of("offset", 0, Op::load);
    shared.program.instructions[0].space = Space::shared;
    Plan shared_atomic = handmade_plan({{AccessKind::atomic, 0, index_of("i")}}, 1, 64, 64);
    shared_atomic.program.arrays[0].element_bytes = 8;
    shared_atomic.program.instructions[0].width_bytes = 8;
    shared_atomic.program.instructions[0].space = Space::shared;
    Plan constant_store = plan_of("constant", 4, Op::load);
    constant_store.program.instructions[0].kind = AccessKind::store;
    Plan two_memories = plan_of("local", 4, Op::rmw);
    two_memories.program.instructions[1].space = Space::shared;
    Plan long_own = plan_of("local", 4, Op::load);
    long_own.program.arrays[0].elements = 33;
    Plan leftover = tiled_transpose("tile", 64);
    leftover.program.threads -= 32;
    Plan early = tiled_transpose("tile", 64);
    early.program.instructions[1].value_of = 2;
    Plan nothing = plan_of("offset", 0, Op::load);
    nothing.program.instructions.clear();
    Plan no_thread = plan_of("offset", 0, Op::load);
    no_thread.program.threads = 0;
    Plan greedy = plan_of("offset", 0, Op::load);
    greedy.shape.per_thread = 4096;
    Plan enormous = plan_of("offset", 0, Op::load);
    enormous.program.threads = 1ull << 50;
    const Refused cases[] = {
        {"a block of 4096 threads", wide_block},
        {"4 or 8 bytes a lane, not 16", wide_atomic},
        {"65536 bytes of shared memory", shared},  // 16384 floats
        {"4 bytes of shared memory", shared_atomic},
        {"store to constant memory", constant_store},
        {"lies in two memories", two_memories},
        {"an array of 33 elements", long_own},
        {"would miss a barrier", leftover},
        {"an earlier load", early},
        {"no instruction", nothing},
        {"no thread", no_thread},
        {"4096 elements a thread", greedy},
        {"at most 2147483647", enormous},
    };
    for (const Refused& one : cases) {
        try {
            shape_of(one.plan);
            ADD_FAILURE() << "accepted: " << one.why;
        } catch (const PointError& error) {
            EXPECT_NE(std::string(error.what()).find(one.why), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace coalprof
