#include "core/machine/machine.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "core/machine/board_facts.h"
#include "core/machine/rates.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

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
}

std::string refusal_of(std::string_view text) {
    try {
        find_machine(text);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "found";
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
        EXPECT_NE(refusal_of(text), "found") << text;
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
        std::istringstream names{std::string(facts_of(board).aliases)};
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

TEST(Machines, a_device_newer_than_the_table_gets_the_newest_rules_below_it) {
    EXPECT_EQ(text_of(machine_of_device({9, 0}, "GPU").rules->cc), "9.0");
    EXPECT_EQ(text_of(machine_of_device({9, 9}, "GPU").rules->cc), "9.0");
    EXPECT_EQ(text_of(machine_of_device({99, 0}, "GPU").rules->cc), "12.1");
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
