#include "core/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "core/machine/generation.h"
#include "core/machine/rates.h"
#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Machines, are_found_by_compute_capability_in_every_usual_spelling) {
    for (const char* text : {"9.0", "sm_90", "SM_90", "sm90", "90", "sm_90a"}) {
        const Machine machine = find_machine(text);
        EXPECT_EQ(text_of(machine.rules->cc), "9.0") << text;
        EXPECT_EQ(machine.name, "sm_90") << text;
        EXPECT_FALSE(machine.board) << text;
    }
    EXPECT_EQ(text_of(find_machine("10").rules->cc), "1.0");
    EXPECT_EQ(text_of(find_machine("100").rules->cc), "10.0");
    EXPECT_EQ(text_of(find_machine("sm_121").rules->cc), "12.1");
}

TEST(Machines, are_found_by_board_key_and_by_the_name_on_the_box) {
    EXPECT_EQ(find_machine("H200").board->name, "NVIDIA H200");
    EXPECT_EQ(find_machine("RTX 2070 SUPER").board->key, "rtx2070s");
    EXPECT_EQ(find_machine("GeForce RTX 2070 Super").board->key, "rtx2070s");
    EXPECT_EQ(find_machine("tesla-t4").board->key, "t4");
    EXPECT_EQ(find_machine("A100_80").board->key, "a100-80");
    EXPECT_EQ(find_machine("GTX 1080 Ti").board->key, "gtx1080ti");
    EXPECT_EQ(find_machine("3090").board->key, "rtx3090");
    EXPECT_EQ(find_machine("2070 super").board->key, "rtx2070s");
    EXPECT_EQ(find_machine("NVIDIA TITAN X (Pascal)").board->key, "titanx-pascal");
    EXPECT_EQ(find_machine("NVIDIA GeForce RTX 4060 Laptop GPU").board->key, "rtx4060-laptop");
    EXPECT_EQ(find_machine("120").rules->cc, (ComputeCapability{12, 0}));  // no board
}

// Named in NVIDIA's own words and in those of people.
TEST(Machines, are_those_that_people_have) {
    for (const char* name : {"GTX 260",
                             "GTX 480",
                             "GTX 580",
                             "GTX 680",
                             "GTX 980",
                             "GT 1030",
                             "GTX 1650",
                             "Titan Xp",
                             "GTX TITAN X",
                             "Quadro K6000",
                             "Tesla P100-PCIE-16GB",
                             "T4",
                             "RTX A4000",
                             "RTX A5000",
                             "A800",
                             "H800",
                             "Tegra X1",
                             "Jetson Nano",
                             "Quadro RTX 6000",
                             "NVIDIA A10G"})
        EXPECT_TRUE(find_machine(name).board) << name;
}

std::string hint_at(std::string_view text) {
    return usage_error_of([&] { find_machine(text); }).hint();
}

TEST(Machines, that_are_not_listed_are_refused_with_their_likely_compute_capability) {
    EXPECT_THAT(hint_at("gtx 590"), HasSubstr("--machine 2.0"));
    EXPECT_THAT(hint_at("rtx 4070 mobile"), HasSubstr("--machine 8.9"));
    EXPECT_THAT(hint_at("gtx 745"), HasSubstr("3.0 or 3.5 or 5.0"));
    EXPECT_THAT(hint_at("titan x"), HasSubstr("5.2 or 6.1"));
    EXPECT_THAT(hint_at("radeon"), Not(HasSubstr("most likely")));
}

std::string refusal_of(std::string_view text) {
    return usage_error_of([&] { find_machine(text); }).what();
}

TEST(Machines, have_banks_of_8_bytes_where_they_can_be_set) {
    EXPECT_EQ(find_machine("k40").rules->shared.bank_bytes, 4u);
    EXPECT_EQ(find_machine("K40:BANK4").name, "k40:bank4");
    const Machine kepler = find_machine("Tesla K40:bank8");
    EXPECT_EQ(kepler.name, "k40:bank8");
    EXPECT_EQ(kepler.rules->cc, (ComputeCapability{3, 5}));
    EXPECT_EQ(kepler.rules->shared.bank_bytes, 8u);
    EXPECT_EQ(find_machine("3.0:bank8").name, "sm_30:bank8");
    EXPECT_THROW(find_machine("c2050:bank8"), UsageError);
    EXPECT_THROW(find_machine("h200:bank8"), UsageError);
    EXPECT_THROW(find_machine("k40:bank16"), UsageError);
    EXPECT_THROW(find_machine("k40:"), UsageError);
    EXPECT_THROW(find_machine("k40:bank8:bank8"), UsageError);
}

TEST(Machines, refuse_an_unknown_name_with_the_nearest) {
    EXPECT_EQ(find_machine("a100").name, "a100-80");  // the usual one of several
    EXPECT_EQ(refusal_of("h2000"), "--machine: unknown GPU 'h2000'. Did you mean 'h200'?");
    EXPECT_EQ(refusal_of("rtx2070z"), "--machine: unknown GPU 'rtx2070z'. Did you mean 'rtx2070'?");
    EXPECT_EQ(refusal_of("radeon"), "--machine: unknown GPU 'radeon'");
    for (const char* text : {"", "-", "9", "sm_", "9.0.0", "nvidia", "a"})
        EXPECT_NE(refusal_of(text), "(accepted)") << text;
    EXPECT_LT(refusal_of(std::string(100000, 'x') + "\x1b[2J").size(), 200u);
}

TEST(Machines, every_name_and_key_finds_its_own_record) {
    std::set<std::string_view> keys;
    for (const Board& board : all_boards()) {
        EXPECT_TRUE(keys.insert(board.key).second) << board.key;
        EXPECT_EQ(find_machine(board.key).board->key, board.key);
        EXPECT_EQ(find_machine(board.name).board->key, board.key);
        EXPECT_EQ(find_machine(board.key).rules->cc, board.cc) << board.key;
        EXPECT_FALSE(board.source.empty()) << board.key;
    }
    for (const Rules& rules : all_rules()) {
        EXPECT_EQ(find_machine(text_of(rules.cc)).rules, &rules);
        EXPECT_FALSE(rules.source.empty()) << text_of(rules.cc);
    }
}

TEST(Machines, other_names_of_a_board_find_it) {
    std::size_t count = 0;
    for (const Board& board : all_boards()) {
        std::istringstream names{std::string(board.aliases)};
        for (std::string name; std::getline(names, name, ','); ++count)
            EXPECT_EQ(find_machine(name).board->key, board.key) << name;
    }
    EXPECT_GT(count, 20u);
}

// No L2 and one of unknown size are not the same; neither are no multiprocessors and unknown ones.
TEST(Machines, of_which_sizes_are_not_known_have_no_rates) {
    std::size_t unknown = 0;
    for (const Board& board : all_boards()) {
        if (board.l2_bytes && board.multiprocessors != 0) continue;
        ++unknown;
        EXPECT_FALSE(rates_of(find_machine(board.key)).has_value()) << board.key;
    }
    EXPECT_GT(unknown, 5u);
    EXPECT_TRUE(rates_of(find_machine("rtx4090")).has_value());
}

TEST(Generations, are_in_order_and_hold_boards_of_their_own) {
    EXPECT_TRUE(std::ranges::is_sorted(all_rules(), {}, &Rules::cc));
    EXPECT_TRUE(std::ranges::is_sorted(all_boards(), {}, &Board::cc));
    for (const Generation& one : all_generations())
        for (const Board& board : one.boards)
            EXPECT_NE(std::ranges::find(one.rules, board.cc, &Rules::cc), one.rules.end())
                << board.key;
}

// One that was forgotten is 0, and a time that is divided by it endless.
TEST(Generations, give_each_rate_of_a_board_that_was_measured) {
    std::size_t boards = 0;
    for (const Generation& one : all_generations())
        for (const MeasuredBoard& board : one.measured) {
            ++boards;
            EXPECT_TRUE(find_machine(board.board).board) << board.board;
            for (const SimRateInfo& rate : all_sim_rates())
                EXPECT_GT(board.rates.sim.*rate.value, 0) << board.board << " " << rate.key;
            EXPECT_EQ(board.rates.doubt, 1);
        }
    EXPECT_GE(boards, 2u);
}

// Half the multiprocessors, a quarter of the bandwidth: what each of them does stays as fast.
TEST(Rates, of_a_board_that_nobody_measured_follow_its_size) {
    Machine half = find_machine("h200");
    const Rates whole = *rates_of(half);
    half.name = half.board->key = "half";
    half.board->multiprocessors /= 2;
    half.board->peak_bytes_per_second /= 4;
    const Rates rates = *rates_of(half);
    EXPECT_DOUBLE_EQ(rates.sim.dram_turns_per_second, whole.sim.dram_turns_per_second / 4);
    EXPECT_DOUBLE_EQ(rates.sim.sectors_per_second, whole.sim.sectors_per_second / 2);
    EXPECT_EQ(rates.sim.line_reductions_per_second, whole.sim.line_reductions_per_second);
    EXPECT_EQ(source_of_rates(half), "h200, scaled");
}

TEST(Machines, know_the_memory_of_each_board) {
    for (const Board& board : all_boards()) {
        ASSERT_TRUE(board.memory_bytes) << board.key;
        EXPECT_GT(*board.memory_bytes, 64 * board.l2_bytes.value_or(0)) << board.key;
    }
}

TEST(Machines, a_device_newer_than_the_table_gets_the_newest_rules_below_it) {
    EXPECT_EQ(text_of(machine_of_device({9, 0}, "GPU").rules->cc), "9.0");
    EXPECT_EQ(text_of(machine_of_device({9, 9}, "GPU").rules->cc), "9.0");
    EXPECT_EQ(machine_of_device({99, 0}, "GPU").rules, &all_rules().back());
    EXPECT_EQ(machine_of_device({9, 0}, "My GPU").name, "My GPU");
}

TEST(Machines, a_device_present_is_queried_not_looked_up) {
    const Machine machine = machine_of_device({9, 0}, "My GPU", DeviceSizes{7, 1e12, 1234});
    EXPECT_EQ(machine.board->multiprocessors, 7u);
    EXPECT_EQ(machine.board->peak_bytes_per_second, 1e12);
    EXPECT_EQ(machine.board->l2_bytes, 1234u);
}

// 2 x 3201 MHz x 6016 bits / 8: the clock and the bus that an H200 reports
// (docs/measurements/h200/devices.txt).
TEST(Boards, the_h200_has_a_peak_of_4814_gigabytes_per_second) {
    EXPECT_NEAR(find_machine("h200").board->peak_bytes_per_second / 1e9, 4814.3, 0.1);
    EXPECT_NEAR(find_machine("c870").board->peak_bytes_per_second / 1e9, 76.8, 0.01);
    EXPECT_NEAR(find_machine("rtx5090").board->peak_bytes_per_second / 1e9, 1792, 0.5);
}

TEST(TagBanks, are_known_for_the_measured_gpu_only) {
    for (const Rules& rules : all_rules()) {
        EXPECT_EQ(rules.tag_banks.has_value(), rules.cc == (ComputeCapability{9, 0}));
        EXPECT_EQ(rules.evidence == Evidence::measured, rules.tag_banks.has_value());
    }
    EXPECT_EQ(find_machine("h200").rules->tag_banks->known_address_bits, 34u);
}

}  // namespace
}  // namespace coalprof
