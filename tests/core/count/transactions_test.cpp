#include "core/count/transactions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/count/coalescer.h"
#include "core/count/truth.h"
#include "core/machine/machine.h"
#include "test_warps.h"

namespace coalprof {
namespace {

using truth::rules_of;

TransactionCounts counts_on(std::string_view machine, const WarpAccess& access,
                            LoadModifier modifier) {
    return Transactions(rules_of(machine), modifier).count(access);
}

// The worked examples of tests/data/rules/README.md: every pattern on every generation.
const std::vector<truth::MeasuredWarp>& examples() {
    static const auto warps = truth::read_warps("rules/worked_examples");
    return warps;
}

TEST(WorkedExamples, are_all_there) { EXPECT_EQ(examples().size(), 50u); }

TEST(WorkedExamples, of_the_warp_wide_sectors_of_volta_and_later) {
    for (const Rules& rules : all_rules()) {
        if (rules.global != GlobalRule::sectors_by_warp) continue;
        const Coalescer coalescer(rules);
        for (const auto& example : examples()) {
            const GlobalCounts counts = coalescer.count(example.access);
            const std::string name = example.name + " on " + text_of(rules.cc);
            EXPECT_EQ(counts.requests, example.counters.at("requests")) << name;
            EXPECT_EQ(counts.sectors, example.counters.at("sectors")) << name;
            EXPECT_EQ(counts.lines, example.counters.at("lines")) << name;
            EXPECT_EQ(counts.unique_bytes, example.counters.at("unique_bytes")) << name;
            EXPECT_EQ(counts.ideal_sectors, example.counters.at("ideal_sectors")) << name;
        }
    }
}

// The column of data-stage wavefronts holds for stores: they go through without regard to lines,
// as long as they are few.
TEST(WorkedExamples, of_the_data_stage_hold_for_stores) {
    const Coalescer coalescer(rules_of("h200"));
    int seen = 0;
    for (const auto& example : examples()) {
        WarpAccess store = example.access;
        store.kind = AccessKind::store;
        const GlobalCounts counts = coalescer.count(store);
        if (counts.data_doubts != 0) continue;
        ++seen;
        EXPECT_EQ(counts.data_wavefronts, example.counters.at("plain_data_wavefronts"))
            << example.name;
    }
    EXPECT_GE(seen, 45);
}

TEST(WorkedExamples, of_the_segments_of_maxwell_and_pascal) {
    for (const char* machine : {"5.0", "5.2", "5.3", "6.0", "6.1", "6.2"}) {
        for (const auto& example : examples()) {
            const auto counts = counts_on(machine, example.access, LoadModifier::ca);
            EXPECT_EQ(counts.sectors(), example.counters.at("cc2_cg_32")) << example.name;
            EXPECT_EQ(counts.unique_bytes, example.counters.at("unique_bytes")) << example.name;
        }
    }
}

// The efficiency in hundredths of a per cent of warps of one row of threads: each row begins at
// start(row) and has lanes(row) of them side by side.
template <typename Start, typename Lanes>
long efficiency_of_rows(std::uint64_t rows, std::uint32_t width, AccessKind kind, Start start,
                        Lanes lanes) {
    TransactionCounts sum;
    for (std::uint64_t row = 0; row < rows; ++row) {
        WarpAccess access;
        access.kind = kind;
        access.width_bytes = width;
        const std::uint64_t active = std::min<std::uint64_t>(32, lanes(row));
        access.active_lanes = static_cast<std::uint32_t>((1ull << active) - 1);
        for (std::uint64_t lane = 0; lane < active; ++lane)
            access.addresses[lane] = (start(row) + lane) * width;
        sum.add(counts_on("gtx1080", access, LoadModifier::cg));
    }
    return std::lround(1e4 * static_cast<double>(sum.active_bytes) /
                       static_cast<double>(sum.transaction_bytes()));
}

// nvprof on a GTX 1070 (6.1): gld_efficiency and gst_efficiency of GameOfLife/shared-native.cu with
// 1000 x 1000 cells in rows of 1002 ints, as github.com/sankarmanoj/thrust2D has them in
// GameOfLife/profile (2017-09-16). Sectors of groups of 8 lanes would give 50 and 57 %.
TEST(Pascal, moves_what_nvprof_counted_on_a_gtx_1070) {
    const auto rest_of_row = [](std::uint64_t warp) { return 1000 - 32 * warp; };
    for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
        // ghostRows: cells 1 to 1000 of the first and of the last row.
        for (const std::uint64_t row : {0u, 1u, 1000u, 1001u})
            EXPECT_EQ(
                efficiency_of_rows(
                    32, 4, kind, [&](std::uint64_t warp) { return row * 1002 + 1 + 32 * warp; },
                    rest_of_row),
                7962);
        // ghostCols: one cell of each row.
        EXPECT_EQ(efficiency_of_rows(
                      1002, 4, kind, [](std::uint64_t row) { return row * 1002; },
                      [](std::uint64_t) { return 1u; }),
                  1250);
    }
    // GOL: 34 x 72 blocks of 32 x 16 cells, each 30 x 14 cells on from the last.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> starts;  // row and column
    for (std::uint64_t y = 0; y < 72 * 16; ++y)
        for (std::uint64_t x = 0; x < 34; ++x)
            if (y / 16 * 14 + y % 16 < 1002) starts.emplace_back(y / 16 * 14 + y % 16, 30 * x);
    EXPECT_EQ(
        efficiency_of_rows(
            starts.size(), 4, AccessKind::load,
            [&](std::uint64_t warp) { return starts[warp].first * 1002 + starts[warp].second; },
            [&](std::uint64_t warp) { return 1002 - starts[warp].second; }),
        8396);
}

// There, in opencv/opencv: OpenCV's filters store bytes from blocks 16 wide (50 %) and its warps
// from blocks 32 wide (100 %).
TEST(Pascal, moves_a_sector_for_the_bytes_of_a_warp) {
    for (const std::uint32_t width : {1u, 2u, 4u}) {
        const WarpAccess row = spaced_warp(0, width, width);
        EXPECT_EQ(counts_on("6.1", row, LoadModifier::cg).transactions(), width);
        WarpAccess halves = row;  // lanes 16 to 31 are in the next row of a 4096-byte pitch
        for (std::uint32_t lane = 16; lane < 32; ++lane)
            halves.addresses[lane] += 4096 - 16 * width;
        EXPECT_EQ(counts_on("6.1", halves, LoadModifier::cg).sectors(), std::max(2u, width));
    }
}

// A naive transpose by blocks of 16 x 16, [ix * 2048 + iy]: lanes l and l + 16 are side by side, in
// 16 sectors. Loads join them; of stores, groups of 8 lanes that do not follow each other may not:
// 4 groups of 8 sectors.
TEST(Pascal, joins_the_sectors_that_half_warps_load_and_perhaps_those_that_they_store) {
    WarpAccess access = spaced_warp(0, 4);
    for (std::uint64_t lane = 0; lane < 32; ++lane)
        access.addresses[lane] = 4 * (lane % 16 * 2048 + lane / 16);
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).sectors(), 16u);
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).more, 0u);
    access.kind = AccessKind::store;
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).sectors(), 16u);
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).more, 16u);
    EXPECT_EQ(counts_on("3.5", access, LoadModifier::cg).more, 0u);
}

// Lanes side by side that begin 4 bytes after a sector share it with the next group: nvprof counted
// these stores once.
TEST(Pascal, joins_the_sectors_that_neighbouring_groups_store) {
    WarpAccess access = spaced_warp(4, 4);
    access.kind = AccessKind::store;
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).sectors(), 5u);
    EXPECT_EQ(counts_on("6.1", access, LoadModifier::cg).more, 0u);
}

// A request is a warp instruction, however many groups of lanes the rule looks at.
TEST(Transactions, count_one_request_for_each_warp_instruction_on_every_machine) {
    for (const Rules& rules : all_rules())
        for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u})
            EXPECT_EQ(
                Transactions(rules, LoadModifier::ca).count(spaced_warp(0, width, width)).requests,
                1u)
                << text_of(rules.cc);
}

TEST(WorkedExamples, of_the_lines_and_segments_of_fermi) {
    for (const auto& example : examples()) {
        const auto through_l1 = counts_on("2.0", example.access, LoadModifier::ca);
        EXPECT_EQ(through_l1.of_128_bytes, example.counters.at("cc2_ca_128")) << example.name;
        EXPECT_EQ(through_l1.transactions(), through_l1.of_128_bytes) << example.name;
        const auto past_l1 = counts_on("2.1", example.access, LoadModifier::cg);
        EXPECT_EQ(past_l1.of_32_bytes, example.counters.at("cc2_cg_32")) << example.name;
        EXPECT_EQ(past_l1.transactions(), past_l1.of_32_bytes) << example.name;
    }
}

TEST(WorkedExamples, of_the_half_warps_of_tesla) {
    for (const auto& example : examples()) {
        for (const auto& [machine, column] :
             {std::pair{"1.0", "cc10_"}, {"1.1", "cc10_"}, {"1.2", "cc13_"}, {"1.3", "cc13_"}}) {
            const auto counts = counts_on(machine, example.access, LoadModifier::ca);
            const std::string name = example.name + " on " + machine;
            EXPECT_EQ(counts.of_32_bytes, example.counters.at(column + std::string("32"))) << name;
            EXPECT_EQ(counts.of_64_bytes, example.counters.at(column + std::string("64"))) << name;
            EXPECT_EQ(counts.of_128_bytes, example.counters.at(column + std::string("128")))
                << name;
        }
    }
}

// Kepler reads global memory past L1 in 32-byte segments; 3.5 and 3.7 alone can opt in to lines.
TEST(Kepler, reads_lines_only_where_a_program_can_opt_in) {
    const WarpAccess misaligned = spaced_warp(4, 4, 4);
    for (const char* machine : {"3.0", "3.2"})
        EXPECT_EQ(counts_on(machine, misaligned, LoadModifier::ca).of_32_bytes, 5u) << machine;
    for (const char* machine : {"3.5", "3.7"}) {
        EXPECT_EQ(counts_on(machine, misaligned, LoadModifier::ca).of_128_bytes, 2u) << machine;
        EXPECT_EQ(counts_on(machine, misaligned, LoadModifier::cg).of_32_bytes, 5u) << machine;
        EXPECT_EQ(usual_load_modifier(rules_of(machine)), LoadModifier::cg) << machine;
    }
}

TEST(Fermi, stores_segments_whatever_loads_do) {
    WarpAccess store = spaced_warp(4, 4, 4);
    store.kind = AccessKind::store;
    EXPECT_EQ(counts_on("c2050", store, LoadModifier::ca).of_32_bytes, 5u);
}

TEST(L1, keeps_global_loads_as_each_generation_documents) {
    const auto keeps = [](const char* machine, LoadModifier modifier) {
        return keeps_in_l1(rules_of(machine), modifier);
    };
    EXPECT_FALSE(keeps("c1060", LoadModifier::ca));
    EXPECT_TRUE(keeps("c2050", LoadModifier::ca));
    EXPECT_FALSE(keeps("3.0", LoadModifier::ca));
    EXPECT_TRUE(keeps("k80", LoadModifier::ca));
    EXPECT_FALSE(keeps("5.0", LoadModifier::ca));
    EXPECT_TRUE(keeps("m40", LoadModifier::ca));
    EXPECT_TRUE(keeps("h200", LoadModifier::cs));
    for (const Rules& rules : all_rules()) {
        EXPECT_FALSE(keeps_in_l1(rules, LoadModifier::cg));
        EXPECT_FALSE(keeps_in_l1(rules, LoadModifier::cv));
    }
    EXPECT_EQ(usual_load_modifier(rules_of("p100")), LoadModifier::ca);
    EXPECT_EQ(usual_load_modifier(rules_of("gtx1080")), LoadModifier::cg);
}

// 3.5 opts in to ld.ca alone; what streams is kept by 2.x, and by all from 7.0 on.
TEST(L1, keeps_what_streams_where_it_keeps_it_by_the_guides_alone) {
    for (const Rules& rules : all_rules())
        EXPECT_EQ(keeps_in_l1(rules, LoadModifier::cs), rules.cc.major == 2 || rules.cc.major >= 7)
            << text_of(rules.cc);
}

TEST(Transactions, of_many_warps_are_each_number_as_often) {
    for (const char* machine : {"1.0", "1.3", "2.0", "6.1"}) {
        const TransactionCounts one = counts_on(machine, spaced_warp(4, 4), LoadModifier::ca);
        TransactionCounts many = one;
        many.add(one, 2);
        EXPECT_EQ(many.requests, 3 * one.requests);
        EXPECT_EQ(many.of_32_bytes, 3 * one.of_32_bytes);
        EXPECT_EQ(many.of_64_bytes, 3 * one.of_64_bytes);
        EXPECT_EQ(many.of_128_bytes, 3 * one.of_128_bytes);
        EXPECT_EQ(many.unique_bytes, 3 * one.unique_bytes);
        EXPECT_EQ(many.active_bytes, 3 * one.active_bytes);
    }
}

TEST(Transactions, of_atomics_are_not_known) {
    const Transactions transactions(rules_of("c2050"), LoadModifier::ca);
    EXPECT_FALSE(transactions.unavailable(AccessKind::store));
    EXPECT_TRUE(transactions.unavailable(AccessKind::reduce));
}

// The laws that hold for any addresses on any machine: traffic covers what is asked for, the order
// of lanes matters to 1.0 and 1.1 alone, and counts add up.
TEST(Transactions, cover_what_is_asked_for_on_every_machine) {
    std::uint64_t random = 1;
    const auto next = [&](std::uint64_t below) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return (random >> 33) % below;
    };
    for (int round = 0; round < 2000; ++round) {
        WarpAccess access;
        access.width_bytes = 1u << next(5);
        access.active_lanes = static_cast<std::uint32_t>(next(1ull << 32));
        access.kind = next(2) == 0 ? AccessKind::load : AccessKind::store;
        const std::uint64_t span = 1ull << (next(12) + 1);
        for (auto& address : access.addresses) address = next(span) * access.width_bytes;
        for (const Rules& rules : all_rules()) {
            const auto counts = Transactions(rules, LoadModifier::ca).count(access);
            EXPECT_GE(counts.transaction_bytes(), counts.unique_bytes) << text_of(rules.cc);
            EXPECT_LE(counts.unique_bytes, counts.active_bytes);
            EXPECT_EQ(counts.requests, access.active_lanes != 0 ? 1u : 0u) << text_of(rules.cc);
            TransactionCounts twice = counts;
            twice.add(counts, 2);
            EXPECT_EQ(twice.transaction_bytes(), 3 * counts.transaction_bytes());
        }
    }
}

TEST(Transactions, of_no_lane_are_none) {
    for (const Rules& rules : all_rules())
        EXPECT_EQ(Transactions(rules, LoadModifier::ca).count(WarpAccess{}), TransactionCounts{});
}

}  // namespace
}  // namespace coalprof
