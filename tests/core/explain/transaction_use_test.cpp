#include "core/explain/transaction_use.h"

#include <gtest/gtest.h>

#include <regex>

#include "core/count/launch_sum.h"
#include "core/explain/cases.h"
#include "core/explain/drawing.h"
#include "core/explain/naive.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

const std::vector<std::string> old_machines{"1.0", "1.1", "1.2", "1.3", "2.0", "2.1", "3.0",
                                            "3.5", "3.7", "5.0", "5.2", "6.0", "6.1"};

// A load or store that such machines explain.
WarpAccess plain_access(explain_cases::RandomWarps& warps) {
    WarpAccess access = warps.next();
    if (access.kind != AccessKind::store) access.kind = AccessKind::load;
    return access;
}

TEST(TransactionUse, moves_the_blocks_that_the_model_counts_and_every_touched_byte) {
    explain_cases::RandomWarps warps(11);
    for (unsigned i = 0; i < 8000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
        const WarpAccess access = plain_access(warps);
        const Rules& rules = *find_machine(old_machines[i % old_machines.size()]).rules;
        SCOPED_TRACE(std::to_string(i) + " on " + text_of(rules.cc));
        const TransactionUse use = transaction_use_of(access, rules);
        EXPECT_EQ(use.blocks.size(), use.counts.transactions());
        std::uint64_t bytes = 0;
        for (const MovedBlock& block : use.blocks) {
            bytes += block.bytes;
            EXPECT_EQ(block.address % block.bytes, 0u);
        }
        EXPECT_EQ(bytes, use.counts.transaction_bytes());
        for (const std::uint64_t byte : naive::facts_of(access).bytes)
            EXPECT_TRUE(std::any_of(use.blocks.begin(), use.blocks.end(),
                                    [&](const MovedBlock& block) {
                                        return byte >= block.address &&
                                               byte < block.address + block.bytes;
                                    }))
                << byte;
    }
}

// From the worked examples of NVIDIA's guides: 128 bytes that begin at byte 4.
//  1.0: lane k is not at word k of an aligned stretch: 16 transactions of 32 bytes a half-warp.
//  1.3: bytes 4 to 67 need the 128-byte segment, 68 to 127 its upper 64 bytes, 128 to 131 are 32.
//  2.0: two lines. 6.1: five sectors.
TEST(TransactionReasons, tell_what_an_offset_of_one_float_costs_on_each_generation) {
    WarpAccess access;
    access.active_lanes = all_lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = 4 + 4 * lane;
    const auto reasons = [&](const char* machine) {
        const Rules& rules = *find_machine(machine).rules;
        return transaction_reasons_of(access, shape_of(access), Purpose::load,
                                      transaction_use_of(access, rules), rules);
    };
    EXPECT_EQ(reasons("1.0").why,
              "A half-warp goes together only where its lane k is at word k of a stretch that "
              "begins at a multiple of 64 bytes. Neither of the two does, and each of its lanes "
              "takes a transaction of 32 bytes of its own: the warp takes 32 transactions.");
    EXPECT_EQ(reasons("1.0").mend,
              "Let the warp begin at a multiple of 64 bytes: then 128 bytes are moved for 128.");
    EXPECT_EQ(reasons("1.3").why,
              "The load goes out in 2 groups of up to 16 lanes, each of which moves the aligned "
              "pieces of 32, 64 or 128 bytes that hold what it touches: 1 of 128 bytes, 1 of 64, 1 "
              "of 32.");
    EXPECT_EQ(reasons("2.0").why,
              "The load goes out in 1 group of up to 32 lanes, which moves the 128-byte lines "
              "that it touches: 2 of 128 bytes.");
    EXPECT_EQ(
        reasons("6.1").why,
        "The load goes out in 1 group of up to 32 lanes, which moves the 32-byte sectors that "
        "it touches: 5 of 32 bytes.");
}

TEST(TransactionReasons, are_true_for_random_warps) {
    static const std::regex groups("The \\w+ goes out in (\\d+) groups? of up to (\\d+) lanes, .*");
    static const std::regex in_all(".*: the warp takes (\\d+) transactions?\\.");
    static const std::regex begin(
        "Let the warp begin at a multiple of (\\d+) bytes: then (at most )?(\\d+) bytes are moved "
        "for "
        "(\\d+)\\.");
    static const std::regex order("In (?:the|each) half-warp, .*: (\\d+) transactions?, .*");
    explain_cases::RandomWarps warps(12);
    int mended = 0;
    for (unsigned i = 0; i < 8000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
        const WarpAccess access = plain_access(warps);
        const Rules& rules = *find_machine(old_machines[i % old_machines.size()]).rules;
        const TransactionUse use = transaction_use_of(access, rules);
        const WarpShape shape = shape_of(access);
        const Reasons reasons =
            transaction_reasons_of(access, shape, Purpose::load_and_store, use, rules);
        SCOPED_TRACE(std::to_string(i) + " on " + text_of(rules.cc) + ": " + reasons.why + " " +
                     reasons.mend);
        std::smatch match;
        if (std::regex_match(reasons.why, match, groups)) {
            EXPECT_EQ(std::stoull(match[1]), use.groups);
            EXPECT_EQ(std::stoull(match[2]), use.group_lanes);
        }
        if (std::regex_match(reasons.why, match, in_all)) {
            EXPECT_EQ(std::stoull(match[1]), use.counts.transactions());
            EXPECT_GT(use.out_of_order, 0u);
        }
        if (std::regex_match(reasons.why, match, order)) {
            EXPECT_EQ(std::stoull(match[1]), use.counts.transactions());
            EXPECT_EQ(use.out_of_order, 0u);
        }
        if (reasons.why.find("counts twice") != std::string::npos) {
            EXPECT_GT(use.counts.transactions(), naive::facts_of(access).sectors());
        }
        if (std::regex_match(reasons.mend, match, begin)) {
            ++mended;
            const std::uint64_t step = std::stoull(match[1]);
            const std::uint64_t told = std::stoull(match[3]);
            std::uint64_t most = 0;
            std::uint64_t least = told;
            for (std::uint64_t start = 0; start < 256; start += step) {
                const WarpAccess moved = shifted(access, start - shape.first_byte);
                const std::uint64_t bytes =
                    transaction_use_of(moved, rules).counts.transaction_bytes();
                most = std::max(most, bytes);
                least = std::min(least, bytes);
            }
            EXPECT_EQ(most, told);
            EXPECT_EQ(least < most, match[2].matched);
            EXPECT_LT(told, use.counts.transaction_bytes());
            EXPECT_EQ(shape.unique_bytes(), std::stoull(match[4]));
        }
        if (reasons.mend.find("every byte that is moved is used") != std::string::npos) {
            EXPECT_EQ(use.counts.transaction_bytes(), naive::facts_of(access).bytes.size());
        }
    }
    EXPECT_GT(mended, 50 / static_cast<int>(fewer_cases));
}

// Bytes of a half-warp are 16 of 32 that are moved on 1.3, and each half-warp moves them: 50 %.
TEST(TransactionReasons, have_something_to_mend_where_groups_of_narrow_lanes_share_a_piece) {
    WarpAccess access;
    access.width_bytes = 1;
    access.active_lanes = all_lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = lane;
    const auto mend = [&](const char* machine) {
        const Rules& rules = *find_machine(machine).rules;
        return transaction_reasons_of(access, shape_of(access), Purpose::store,
                                      transaction_use_of(access, rules), rules)
            .mend;
    };
    EXPECT_EQ(mend("1.3").find("Nothing to fix"), std::string::npos) << mend("1.3");
    EXPECT_EQ(mend("6.1"), "Nothing to fix: every byte that is moved is used.");
}

TEST(TransactionReasons, atomics_are_not_documented) {
    WarpAccess access;
    access.kind = AccessKind::reduce;
    access.active_lanes = 1;
    const Rules& rules = *find_machine("6.1").rules;
    EXPECT_EQ(transaction_reasons_of(access, shape_of(access), Purpose::atomic,
                                     transaction_use_of(access, rules), rules)
                  .cause,
              Cause::not_documented);
}

// Half-warps of 4-byte lanes go together from multiples of 64 bytes. From byte 44 the next multiple
// of 32 is 64, which happens to be one of 64 too; not every multiple of 32 is.
TEST(OldMachines, advise_a_start_that_helps_whichever_multiple_is_taken) {
    const Plan plan = explain_cases::plan_of("offset", 11, Op::load, ElementType::f32);
    EXPECT_NE(explain(plan, find_machine("c870"), {}).find("at a multiple of 64 bytes"),
              std::string::npos);
}

TEST(OldMachines, are_drawn_within_the_width_with_their_evidence) {
    std::uint32_t number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        if (++number % 23 != 0 || ::testing::Test::HasFailure()) return;
        const std::string name = old_machines[number / 23 % old_machines.size()];
        SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value) + " on " + name);
        const Machine machine = find_machine(name);
        const std::string text = explain(plan, machine, {.width = 60, .ascii = true});
        const std::string evidence(text_of(machine.rules->evidence));
        // A line may break within the words.
        const std::string first_word = evidence.substr(0, evidence.find_first_of(", "));
        EXPECT_NE(text.find("(" + first_word), std::string::npos);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), 60u) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
        }
    });
}

// A load on 2.x moves lines, a store sectors: they are drawn apart.
TEST(OldMachines, draw_loads_and_stores_apart) {
    const Plan plan = explain_cases::plan_of("offset", 1, Op::rmw, ElementType::f32);
    const Explanation explanation = explanation_of(plan, find_machine("2.0"));
    ASSERT_EQ(explanation.accesses.size(), 2u);
    EXPECT_EQ(explanation.accesses[0].transactions->counts.of_128_bytes, 2u);
    EXPECT_EQ(explanation.accesses[1].transactions->counts.of_32_bytes, 5u);
    EXPECT_TRUE(explanation.accesses[0].lines[1].sectors[3].is_moved);
    EXPECT_FALSE(explanation.accesses[1].lines[1].sectors[3].is_moved);
}

TEST(OldMachines, do_not_draw_the_near_memories) {
    const Plan plan = explain_cases::plan_of("shared-stride", 2, Op::load, ElementType::f32);
    EXPECT_THROW(explanation_of(plan, find_machine("2.0")), UsageError);
}

}  // namespace
}  // namespace coalprof
