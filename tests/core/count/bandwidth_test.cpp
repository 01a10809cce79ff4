#include "core/count/bandwidth.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "core/count/truth.h"
#include "core/formula/index_of.h"

namespace coalprof {
namespace {

// The classic kernel: every thread adds 1 to its element, which it reads and writes.
Program classic(const Formula& formula, std::uint32_t width, std::uint64_t threads) {
    Program program;
    program.arrays = {{"a", width, 1 << 20}};
    program.instructions = {{AccessKind::load, Space::global, width, 0, formula},
                            {AccessKind::store, Space::global, width, 0, formula}};
    program.threads = threads;
    program.useful_bytes = 2 * width * threads;
    return program;
}

Traffic traffic_on(std::string_view machine, const Program& program, const CachePolicy& cache) {
    const auto answer = predict_traffic(*find_machine(machine).rules, program, cache);
    if (const auto* reason = std::get_if<Unavailable>(&answer)) {
        ADD_FAILURE() << machine << ": " << reason->reason;
        return {1, 1, 1};
    }
    return std::get<Traffic>(answer);
}

// The whole published figure, recomputed over 64 warps: tests/data/rules/README.md. The columns
// fill32 and fill64 stand for 7.0 and later with that fill granularity.
TEST(ClassicFigure, comes_out_on_every_generation) {
    auto rows = truth::open_data("rules/classic_efficiency.csv");
    std::string row;
    std::getline(rows, row);  // header
    int seen = 0;
    for (; std::getline(rows, row); ++seen) {
        std::string text = row;
        std::ranges::replace(text, ',', ' ');
        std::istringstream fields(text);
        std::string type, pattern, machine;
        std::uint64_t value = 0;
        double efficiency = 0;
        fields >> type >> pattern >> value >> machine >> efficiency;
        CachePolicy cache;
        if (machine.starts_with("fill")) {
            cache.l2_fetch_bytes = machine == "fill32" ? 32 : 64;
            machine = "h200";
        }
        const Formula formula = index_of(
            fmt::format(fmt::runtime(pattern == "offset" ? "i + {}" : "i*{}"), value), 64 * 32);
        const Program program = classic(formula, type == "f32" ? 4 : 8, 64 * 32);
        // The table is rounded to four digits.
        EXPECT_NEAR(traffic_on(machine, program, cache).efficiency(), efficiency, 0.5001e-4) << row;
    }
    EXPECT_EQ(seen, 584);
}

// The headline: offset 1 costs a factor of 8 on a C870 and nothing on an H200, at any size.
TEST(ClassicFigure, does_not_depend_on_the_size) {
    const Program large = classic(index_of("i + 1"), 4, 1 << 28);
    EXPECT_DOUBLE_EQ(traffic_on("c870", large, {}).efficiency(), 0.125);
    EXPECT_NEAR(traffic_on("c1060", large, {}).efficiency(), 0.5714, 1e-4);
    EXPECT_GT(traffic_on("h200", large, {}).efficiency(), 0.9999);
}

TEST(Bandwidth, is_efficiency_times_what_the_board_sustains) {
    const Machine c870 = find_machine("c870");
    const Traffic traffic = traffic_on("c870", classic(index_of("i + 1"), 4, 1 << 20), {});
    // 76.8 GB/s x 0.85 sustained / 8.
    EXPECT_NEAR(std::get<double>(predict_bandwidth(c870, traffic)), 76.8e9 * 0.85 / 8, 1);
    // 4814 GB/s x 0.884: the device-to-device copy of the H200 that was measured.
    const Machine h200 = find_machine("h200");
    const Traffic aligned = traffic_on("h200", classic(index_of("i + 0"), 4, 1 << 26), {});
    EXPECT_NEAR(std::get<double>(predict_bandwidth(h200, aligned)) / 1e9, 4255, 5);
}

TEST(Bandwidth, of_a_program_is_that_of_its_traffic) {
    const Machine machine = find_machine("c2050");
    const Program program = classic(index_of("i*3"), 4, 1 << 20);
    EXPECT_EQ(predict_bandwidth(machine, program, {}),
              predict_bandwidth(machine, traffic_on("c2050", program, {})));
    EXPECT_TRUE(std::holds_alternative<Unavailable>(
        predict_bandwidth(machine, classic(index_of("i/32"), 4, 1 << 20), {})));
    EXPECT_TRUE(
        std::holds_alternative<Unavailable>(predict_bandwidth(find_machine("2.0"), program, {})));
}

TEST(Bandwidth, needs_a_board) {
    const Reading reading = predict_bandwidth(find_machine("9.0"), {1, 1, 0});
    EXPECT_NE(std::get<Unavailable>(reading).reason.find("name a board"), std::string_view::npos);
    EXPECT_TRUE(
        std::holds_alternative<Unavailable>(predict_bandwidth(find_machine("h200"), {0, 0, 0})));
}

std::string_view refusal(const Program& program, std::string_view machine = "h200") {
    const auto answer = predict_traffic(*find_machine(machine).rules, program, {});
    const auto* reason = std::get_if<Unavailable>(&answer);
    return reason ? reason->reason : std::string_view();
}

TEST(Bandwidth, is_not_guessed_where_caches_or_atomics_decide) {
    Program program = classic(index_of("i + 0"), 4, 1 << 20);
    EXPECT_TRUE(refusal(program).empty());
    program.instructions[1].kind = AccessKind::reduce;
    EXPECT_NE(refusal(program).find("atomics"), std::string_view::npos);
    program.instructions[1].kind = AccessKind::store;
    for (Instruction& instruction : program.instructions) instruction.space = Space::shared;
    EXPECT_NE(refusal(program).find("global memory only"), std::string_view::npos);
    EXPECT_NE(refusal(classic(index_of("i%1024*1024 + i/1024"), 4, 1 << 20))
                  .find("share blocks of memory"),
              std::string_view::npos);
    EXPECT_NE(refusal(classic(index_of("i/32"), 4, 1 << 20)).find("lanes share"),
              std::string_view::npos);
}

// Shared memory beside global memory takes no part, unless it could be the slower one.
TEST(Bandwidth, of_global_memory_stands_while_shared_memory_has_no_conflicts) {
    Program program = classic(index_of("i + 0"), 4, 1 << 20);
    const Traffic alone = traffic_on("h200", program, {});
    program.arrays.push_back({"tile", 4, 33});
    program.instructions.push_back({AccessKind::load, Space::shared, 4, 1, index_of("i%32")});
    const Traffic beside = traffic_on("h200", program, {});
    EXPECT_EQ(beside.read_bytes, alone.read_bytes);
    EXPECT_EQ(beside.write_bytes, alone.write_bytes);
    program.instructions.back().formula = index_of("i%32*2");
    EXPECT_NE(refusal(program).find("bank conflicts"), std::string_view::npos);
}

// Without caches even a column is decided: every lane's transaction of 32 bytes.
TEST(Bandwidth, of_a_column_is_told_where_there_is_no_cache) {
    const Program column = classic(index_of("i%1024*1024 + i/1024"), 4, 1 << 20);
    EXPECT_DOUBLE_EQ(traffic_on("c1060", column, {}).efficiency(), 0.125);
}

// Fermi past L1 fetches 32-byte segments: stride 32 then costs 8 segments' worth, not 32.
TEST(Bandwidth, on_fermi_depends_on_the_load_modifier) {
    const Program program = classic(index_of("i*32"), 4, 1 << 20);
    CachePolicy cache;
    EXPECT_NEAR(traffic_on("c2050", program, cache).efficiency(), 0.05, 1e-4);
    cache.dlcm = LoadModifier::cg;
    EXPECT_NEAR(traffic_on("c2050", program, cache).efficiency(), 0.125, 1e-4);
}

// The estimate is of device memory, and L2 may hold the whole launch: nothing is known of its rate.
TEST(Bandwidth, is_not_told_of_what_l2_holds) {
    const auto predicted = [](std::string_view machine, const Formula& formula,
                              std::uint64_t threads) {
        return predict_bandwidth(find_machine(machine), classic(formula, 4, threads), {});
    };
    const Reading small = predicted("h200", index_of("i + 0"), 1 << 20);  // 4 of 60 MiB
    ASSERT_TRUE(std::holds_alternative<Unavailable>(small));
    EXPECT_NE(std::get<Unavailable>(small).reason.find("fits in L2 (60 MiB)"),
              std::string_view::npos);
    // 60 MiB still fit, one line more does not.
    EXPECT_FALSE(is_number(predicted("h200", index_of("i + 0"), 60 << 18)));
    EXPECT_TRUE(is_number(predicted("h200", index_of("i + 0"), (60 << 18) + 32)));
    // 2^20 elements on a line each: L2 fetches 64 bytes of every line, 64 MiB.
    EXPECT_TRUE(is_number(predicted("h200", index_of("i*32"), 1 << 20)));
}

TEST(Bandwidth, of_the_classic_experiment_is_told_where_l2_is_small_or_not_there) {
    const Program program = classic(index_of("i + 1"), 4, 1 << 20);
    for (const std::string_view machine : {"c870", "c1060", "c2050"})
        EXPECT_TRUE(is_number(predict_bandwidth(find_machine(machine), program, {}))) << machine;
}

}  // namespace
}  // namespace coalprof
