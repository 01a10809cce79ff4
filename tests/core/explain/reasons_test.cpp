#include "core/explain/reasons.h"

#include <gtest/gtest.h>

#include <map>

#include "core/count/truth.h"
#include "core/explain/cases.h"
#include "core/explain/naive.h"
#include "fewer_cases.h"
#include "sentence_facts.h"
#include "test_warps.h"

namespace coalprof {
namespace {

Reasons reasons_for(const WarpAccess& access, const char* machine = "h200") {
    return reasons_of(shape_of(access), explain_cases::purpose_of(access.kind),
                      Coalescer(*find_machine(machine).rules).count(access));
}

// A warp of a block so many threads wide, whose index is x * x_bytes + y * y_bytes.
WarpAccess block_warp(std::uint32_t width, std::uint64_t x_bytes, std::uint64_t y_bytes) {
    WarpAccess access = spaced_warp(0, 0);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = lane % width * x_bytes + lane / width * y_bytes;
    return access;
}

// Lines 0 and 5 share a tag bank (the banks of lines 0 to 5 are 0 2 1 3 2 0). Lane 0 on
// line 0 word 0, lane 1 on line 5 word 0, lane 2 on line 5 word 1, lane 3 on line 0 word 1: lane 2
// is not held back, lane 1 waits for lane 0; leader lane 0 takes 0 and, as word 1 was seen at lane
// 2, not 3. Three packets for two lines.
WarpAccess atomics_on_two_lines() {
    WarpAccess access = spaced_warp(0, 0, 4, 0xF, AccessKind::atomic);
    access.addresses[1] = 5 * 128;
    access.addresses[2] = 5 * 128 + 4;
    access.addresses[3] = 4;
    return access;
}

// The cause of a warp's traffic, and the numbers of the two sentences; null: any.
struct Known {
    WarpAccess access;
    Cause cause;
    const char* why = nullptr;
    const char* mend = nullptr;
};

TEST(Reasons, tell_the_cause_and_its_numbers) {
    const Known all[] = {
        {spaced_warp(0, 4), Cause::contiguous, "32 128 4", "4"},  // lanes, bytes, sectors
        // 11 floats are 44 bytes: 12 into the second sector. To its start are 3 floats, to the next
        // 5. Lanes, bytes, offset, sectors, sectors needed; boundaries, elements, sectors then.
        {spaced_warp(44, 4), Cause::misaligned, "32 128 12 5 4", "32 3 5 4"},
        // At byte 32 of a line: 4 full sectors, but in two lines, where one request would do.
        {spaced_warp(32, 4), Cause::contiguous, "32 128 4 2 2 1", "128 1"},
        {spaced_warp(0, 8), Cause::strided, "8 32 16", "8"},  // bytes of one wider access
        // 12-byte structures: bytes 0, 12, 24 of a sector make 3 elements, the next one has 3, then
        // 2.
        {spaced_warp(0, 12), Cause::strided, "12 32 12"},
        {spaced_warp(0, 4096), Cause::strided, "4096 32 4"},
        // Rows of a matrix are 4096 bytes apart. In the right order the lanes of a row of threads
        // lie side by side; with x and y exchanged they are 4096 bytes apart, the next row 4 bytes.
        {block_warp(32, 4, 4096), Cause::contiguous},
        {block_warp(16, 4, 4096), Cause::full_sectors},
        {block_warp(8, 4, 4096), Cause::full_sectors},
        // 4 threads of 4 bytes are half a sector; 8 are a whole one.
        {block_warp(4, 4, 4096), Cause::pieces, "4 16 4096 32 16", "8 32"},
        {block_warp(32, 4096, 4), Cause::strided},
        {block_warp(16, 4096, 4), Cause::strided, "4096 16 4 32 8"},
        {block_warp(8, 4096, 4), Cause::strided, "4096 8 4 32 16"},
        {spaced_warp(64, 0), Cause::one_sector, "32 4"},
        // All lanes on one word: a packet takes one lane of a word. Lanes, bytes, packets, sectors.
        {spaced_warp(64, 0, 4, all_lanes, AccessKind::reduce), Cause::same_word, "32 4 32 32"},
        {atomics_on_two_lines(), Cause::word_bank, "32 3 2"},  // banks, packets, lines
        {spaced_warp(0, 4, 4, 0x000F'FFFF), Cause::contiguous, "20 80 3"},
        {spaced_warp(0, 4, 4, 0x00FF'FFFF), Cause::contiguous, nullptr, "8"},
        {spaced_warp(0, 4, 4, 1), Cause::one_sector, "4"},
        {spaced_warp(0, 4, 4, 0), Cause::no_lanes},
    };
    for (const Known& one : all) {
        const Reasons found = reasons_for(one.access);
        SCOPED_TRACE(found.why);
        EXPECT_EQ(found.cause, one.cause);
        EXPECT_EQ(numbers_in(found.why), one.why ? one.why : numbers_in(found.why));
        EXPECT_EQ(numbers_in(found.mend), one.mend ? one.mend : numbers_in(found.mend));
    }
    EXPECT_NE(reasons_for(block_warp(8, 4096, 4)).mend.find("threadIdx.x"), std::string::npos);
    EXPECT_EQ(reasons_for(atomics_on_two_lines(), "8.0").cause, Cause::unknown_packets);
}

TEST(Reasons, advise_by_the_distance_and_by_what_is_done) {
    const std::string structures = reasons_for(spaced_warp(0, 12)).mend;
    const std::string columns = reasons_for(spaced_warp(0, 4096)).mend;
    EXPECT_NE(structures, reasons_for(spaced_warp(0, 8)).mend);
    EXPECT_NE(columns, structures);
    EXPECT_EQ(reasons_for(spaced_warp(0, 24)).mend, structures);
    EXPECT_EQ(reasons_for(spaced_warp(0, 128)).mend, columns);
    EXPECT_NE(reasons_for(spaced_warp(64, 0)).mend,
              reasons_for(spaced_warp(64, 0, 4, all_lanes, AccessKind::store)).mend);
}

TEST(Reasons, say_that_the_order_of_lanes_costs_nothing) {
    const Reasons in_order = reasons_for(spaced_warp(0, 4));
    const Reasons reversed = reasons_for(spaced_warp(124, 0 - std::uint64_t{4}));
    EXPECT_EQ(reversed.cause, in_order.cause);
    EXPECT_EQ(reversed.why.substr(0, in_order.why.size()), in_order.why);
    EXPECT_GT(reversed.why.size(), in_order.why.size());
}

// 16 floats, each of two lanes, 32 bytes apart: 64 bytes in 16 sectors. The ideal is that of 32
// lanes side by side.
TEST(Reasons, say_how_few_sectors_would_do_where_lanes_share_bytes) {
    WarpAccess pairs = spaced_warp(0, 0);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) pairs.addresses[lane] = lane / 2 * 32;
    const std::string why = reasons_for(pairs).why;
    EXPECT_NE(why.find("2 sectors would hold the 64 bytes, fewer than the ideal of 4."), why.npos)
        << why;
    EXPECT_EQ(reasons_for(spaced_warp(0, 32)).why.find("Lanes share"), why.npos);
    EXPECT_EQ(reasons_for(spaced_warp(0, 0)).why.find("Lanes share"), why.npos);  // one sector
}

// Causes against facts that are found with sets of bytes.
class EveryCause : public ::testing::Test {
 protected:
    void check(const WarpAccess& access, Purpose purpose, const char* machine = "h200") {
        const GlobalCounts counts = Coalescer(*find_machine(machine).rules).count(access);
        const Reasons reasons = reasons_of(shape_of(access), purpose, counts);
        ++seen_[reasons.cause];
        const naive::Facts facts = naive::facts_of(access);
        EXPECT_EQ(reasons.cause == Cause::no_lanes, facts.lanes.empty());
        EXPECT_TRUE(is_borne_out(reasons.cause, facts, counts)) << reasons.why;
    }
    static bool is_borne_out(Cause cause, const naive::Facts& facts, const GlobalCounts& counts) {
        const bool wastes = counts.sectors > counts.ideal_sectors;
        switch (cause) {
            case Cause::no_lanes: return true;
            case Cause::one_sector: return facts.sectors() == 1 && counts.sectors == 1;
            case Cause::contiguous: return facts.is_contiguous() && !wastes;
            case Cause::misaligned:
                return facts.is_contiguous() && facts.sectors() > facts.sectors_needed();
            case Cause::full_sectors: return facts.used_counts() == std::set<std::uint32_t>{32};
            case Cause::few_sectors:
                return 32 * facts.sectors() < facts.lanes.size() * facts.width_bytes + 32;
            case Cause::strided: return wastes;
            case Cause::pieces:
                return wastes && facts.runs() > 1 && *facts.used_counts().begin() < 32;
            case Cause::scattered: return wastes && facts.distances().size() > 1;
            case Cause::same_word:
                return facts.most_lanes_at_one() > 1 &&
                       counts.l2_requests >= facts.most_lanes_at_one();
            case Cause::word_bank:
                return facts.most_lanes_at_one() == 1 && counts.l2_requests > facts.lines.size();
            case Cause::unknown_packets: return counts.traffic_doubts != 0;
            default: return false;  // of another memory
        }
    }
    std::map<Cause, int> seen_;
};

TEST_F(EveryCause, is_borne_out_for_every_pattern_op_and_type) {
    // Banks of words hold atomics back in 14 of the plans: one in 37 has one of these, one in 39
    // none.
    constexpr unsigned step = fewer_cases == 1 ? 3 : 37;
    unsigned number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        if (++number % step != 0 || HasFailure()) return;
        for (const LaunchWarp& warp : explain_cases::some_warps(plan.program))
            for (const Instruction& one : plan.program.instructions) {
                if (one.space != Space::global) continue;
                SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value) + " warp " +
                             std::to_string(warp.index));
                const WarpAccess access =
                    access_of_warp(plan.program, {}, one, warp.first_thread, warp.lanes);
                const Purpose purpose = explain_cases::purpose_of(access.kind);
                check(access, purpose);
                if (purpose == Purpose::load) check(access, Purpose::load_and_store);
                if (purpose == Purpose::atomic) check(access, purpose, "8.0");
            }
    });
    for (const Cause cause : {Cause::one_sector, Cause::contiguous, Cause::misaligned,
                              Cause::few_sectors, Cause::strided, Cause::scattered,
                              Cause::same_word, Cause::word_bank, Cause::unknown_packets})
        EXPECT_GT(seen_[cause], 0) << name_of(cause);
}

TEST_F(EveryCause, is_borne_out_for_random_and_measured_warps) {
    explain_cases::RandomWarps warps(3);
    for (unsigned i = 0; i < 20000 / fewer_cases && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = warps.next();
        check(access, explain_cases::purpose_of(access.kind), i % 2 == 0 ? "h200" : "7.0");
    }
    for (const Cause cause : {Cause::no_lanes, Cause::full_sectors, Cause::pieces})
        EXPECT_GT(seen_[cause], 0) << name_of(cause);
    for (const truth::MeasuredWarp& warp : truth::read_warps("h200/warps_global"))
        check(warp.access, explain_cases::purpose_of(warp.access.kind));
}

}  // namespace
}  // namespace coalprof
