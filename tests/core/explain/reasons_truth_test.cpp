// Every number that explains a warp is true: held against facts worked out anew.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "core/count/truth.h"
#include "core/explain/cases.h"
#include "core/explain/naive.h"
#include "core/explain/reasons.h"
#include "fewer_cases.h"
#include "sentence_facts.h"

namespace coalprof {
namespace {

using explain_cases::purpose_of;

// What the cause of an access demands, and the numbers that its sentences then say, each in order.
class Claims {
 public:
    Claims(const WarpAccess& access, const GlobalCounts& counts, const Reasons& reasons)
        : access_(access), facts_(naive::facts_of(access)), counts_(counts), reasons_(reasons) {}

    void check() {
        SCOPED_TRACE(reasons_.why + " / " + reasons_.mend);
        if (reasons_.cause == Cause::unknown_packets) {
            EXPECT_NE(counts_.traffic_doubts, 0);
            return;
        }
        check_cause();
        check_words();
        if (reasons_.why.find(" Lanes from ") != std::string::npos) check_repetition();
        EXPECT_EQ(numbers_in(reasons_.why), fmt::format("{}", fmt::join(why_, " ")));
        EXPECT_EQ(numbers_in(reasons_.mend), fmt::format("{}", fmt::join(mend_, " ")));
    }

 private:
    // Lanes from the first one whose place came before take those of the lanes before it.
    void check_repetition() {
        std::set<std::uint64_t> before;
        std::size_t first = 0;
        while (first < facts_.addresses.size() && before.insert(facts_.addresses[first]).second)
            ++first;
        for (std::size_t lane = first; lane < facts_.addresses.size(); ++lane)
            EXPECT_EQ(before.count(facts_.addresses[lane]), 1u) << lane;
        EXPECT_EQ(facts_.lanes.size(), warp_lanes);
        why(first, 0, first - 1);
    }

    template <typename... Numbers>
    void why(const Numbers&... numbers) {
        (why_.push_back(fmt::to_string(numbers)), ...);
    }
    template <typename... Numbers>
    void mend(const Numbers&... numbers) {
        (mend_.push_back(fmt::to_string(numbers)), ...);
    }
    // "The one active lane" has no number.
    void why_lanes() {
        if (facts_.lanes.size() != 1) why(facts_.lanes.size());
    }

    void check_cause() {
        switch (reasons_.cause) {
            case Cause::no_lanes:
                EXPECT_TRUE(facts_.lanes.empty());
                return;
            case Cause::one_sector:
                return one_sector();
            case Cause::contiguous:
                return contiguous();
            case Cause::misaligned:
                return misaligned();
            case Cause::full_sectors:
                EXPECT_EQ(facts_.used_counts(), std::set<std::uint32_t>{32});
                why_lanes();
                return why(facts_.runs(), facts_.sectors());
            case Cause::few_sectors:
                EXPECT_LE(facts_.sectors(), side_by_side_sectors());
                why_lanes();
                return why(facts_.lanes_at.size(), facts_.sectors(), side_by_side_sectors());
            case Cause::strided:
                return strided();
            case Cause::pieces:
                EXPECT_GT(facts_.runs(), 1u);
                EXPECT_LT(*facts_.used_counts().begin(), 32u);
                something_is_lost();
                if (says("Threads stand in rows")) return narrow_rows();
                why_lanes();
                why(facts_.runs(), facts_.sectors(), facts_.sectors_needed(), facts_.bytes.size());
                return mend(32);
            case Cause::scattered:
                return scattered();
            case Cause::same_word:
                return same_word();
            case Cause::word_bank:
                return word_bank();
            default:
                ADD_FAILURE() << "no cause of global memory: " << name_of(reasons_.cause);
        }
    }

    // What a few words claim, wherever they stand.
    void check_words() const {
        if (says("in full") && reasons_.cause != Cause::full_sectors) {
            EXPECT_EQ(facts_.used_counts(), std::set<std::uint32_t>{32});
        }
        if (says("active lane")) {
            EXPECT_LT(facts_.lanes.size(), 32u);
        }
        if (says("not in order")) order_costs_nothing();
        if (says("carries only")) {
            EXPECT_EQ(facts_.used_counts().size(), 1u);
        }
        if (says("Neighbouring lanes are") && !says("next row")) neighbours_keep_their_distance();
    }
    bool says(std::string_view words) const {
        return reasons_.why.find(words) != std::string::npos;
    }

    void one_sector() {
        EXPECT_EQ(facts_.sectors(), 1u);
        EXPECT_EQ(counts_.sectors, 1u);
        why_lanes();
        const bool is_one_place = facts_.lanes_at.size() == 1;
        const bool is_one_lane = facts_.lanes.size() == 1;
        if (is_one_lane || (is_one_place && access_.width_bytes > 1)) why(access_.width_bytes);
    }
    void contiguous() {
        EXPECT_TRUE(facts_.is_contiguous());
        EXPECT_EQ(facts_.sectors(), facts_.sectors_needed());
        EXPECT_EQ(counts_.sectors, counts_.ideal_sectors);
        why_lanes();
        why(facts_.bytes.size(), facts_.sectors());
        const std::uint64_t lines = facts_.lines.size();
        if (lines > facts_.lines_needed()) {
            why(lines, counts_.l2_requests, facts_.lines_needed());
            const auto down = static_cast<std::int64_t>(*facts_.bytes.begin() % 128);
            mend(128, counts_.l2_requests - naive::facts_of(access_, 128 - down).lines.size());
        } else if (facts_.lanes.size() < 32) {
            mend(32 - facts_.lanes.size());
        } else {
            mend(counts_.sectors);
        }
    }
    void misaligned() {
        EXPECT_TRUE(facts_.is_contiguous());
        EXPECT_GT(facts_.sectors(), facts_.sectors_needed());
        const std::uint64_t into = *facts_.bytes.begin() % 32;
        const std::uint64_t width = access_.width_bytes;
        why_lanes();
        why(facts_.bytes.size(), into, facts_.sectors(), facts_.sectors_needed());
        mend(32, into / width, (32 - into) / width, facts_.sectors_needed());
        for (const std::int64_t shift :
             {-static_cast<std::int64_t>(into), 32 - static_cast<std::int64_t>(into)}) {
            EXPECT_EQ(shift % static_cast<std::int64_t>(width), 0);
            EXPECT_EQ(naive::facts_of(access_, shift).sectors(), facts_.sectors_needed());
        }
    }
    void strided() {
        something_is_lost();
        if (says("next row")) return strided_rows();
        ASSERT_EQ(facts_.distances().size(), 1u);
        const std::uint64_t distance = *facts_.distances().begin();
        why(distance, 32, *facts_.used_counts().rbegin());
        mend_of_distance(distance);
    }
    void mend_of_distance(std::uint64_t distance) {
        const bool is_atomic =
            access_.kind == AccessKind::atomic || access_.kind == AccessKind::reduce;
        if (distance <= 16 && std::has_single_bit(distance) && !is_atomic) mend(distance);
    }
    // Lanes of a row, bytes from lane to lane, bytes from row to row.
    std::array<std::uint64_t, 3> rows() const {
        const std::vector<std::uint64_t>& at = facts_.addresses;
        const std::uint64_t step = at[1] - at[0];
        std::size_t lanes = 1;
        while (lanes < at.size() && at[lanes] - at[lanes - 1] == step) ++lanes;
        EXPECT_LT(lanes, at.size());
        const std::uint64_t row_step = at[lanes] - at[0];
        for (std::size_t i = 0; i < at.size(); ++i)
            EXPECT_EQ(at[i] - at[0], i % lanes * step + i / lanes * row_step) << i;
        const auto magnitude = [](std::uint64_t of) { return std::min(of, 0 - of); };
        return {lanes, magnitude(step), magnitude(row_step)};
    }
    void strided_rows() {
        const auto [lanes, lane_bytes, row_bytes] = rows();
        why(lane_bytes, lanes, row_bytes, 32, *facts_.used_counts().rbegin());
        EXPECT_EQ(reasons_.mend.find("Exchange x and y") != std::string::npos,
                  lane_bytes > row_bytes);
        if (lane_bytes <= row_bytes) mend_of_distance(lane_bytes);
    }
    void narrow_rows() {
        const auto [lanes, lane_bytes, row_bytes] = rows();
        const std::uint64_t width = access_.width_bytes;
        EXPECT_EQ(lane_bytes, width);
        EXPECT_LT(lanes * width, 32u);
        why(lanes, lanes * width, row_bytes, 32, *facts_.used_counts().rbegin());
        mend(32 / width, 32);
    }
    void scattered() {
        EXPECT_GT(facts_.distances().size(), 1u);
        EXPECT_EQ(counts_.sectors, facts_.sectors());
        something_is_lost();
        why_lanes();
        why(facts_.lanes_at.size(), facts_.sectors());
        const double average =
            static_cast<double>(facts_.bytes.size()) / static_cast<double>(facts_.sectors());
        if (facts_.used_counts().size() == 1)
            why(*facts_.used_counts().begin());
        else
            why(fmt::format("{:.1f}", average));
    }
    void same_word() {
        EXPECT_GT(facts_.most_lanes_at_one(), 1u);
        EXPECT_GE(counts_.l2_requests, facts_.most_lanes_at_one())
            << "each packet takes one lane of a word";
        why(facts_.most_lanes_at_one(), access_.width_bytes, counts_.l2_requests, counts_.sectors);
    }
    void word_bank() {
        EXPECT_EQ(facts_.most_lanes_at_one(), 1u);
        EXPECT_GT(counts_.l2_requests, facts_.lines.size());
        why(32, counts_.l2_requests, facts_.lines.size());
        // Side by side, every line goes out in one packet.
        WarpAccess moved = access_;
        const std::uint64_t base = access_.addresses[facts_.lanes.front()];
        for (std::size_t i = 0; i < facts_.lanes.size(); ++i)
            moved.addresses[facts_.lanes[i]] = base + i * access_.width_bytes;
        const GlobalCounts counts = Coalescer(*find_machine("h200").rules).count(moved);
        EXPECT_EQ(counts.l2_requests, counts.lines);
    }

    std::uint64_t side_by_side_sectors() const {
        return (facts_.lanes.size() * access_.width_bytes + 31) / 32;
    }
    // Advice is given only where something is lost.
    void something_is_lost() const { EXPECT_GT(counts_.sectors, counts_.ideal_sectors); }

    void order_costs_nothing() const {
        EXPECT_FALSE(std::is_sorted(facts_.addresses.begin(), facts_.addresses.end()));
        WarpAccess ordered = access_;  // the same places, risen by lane
        std::vector<std::uint64_t> sorted = facts_.addresses;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i)
            ordered.addresses[facts_.lanes[i]] = sorted[i];
        EXPECT_EQ(Coalescer(*find_machine("h200").rules).count(ordered).sectors, counts_.sectors);
    }
    void neighbours_keep_their_distance() const {
        ASSERT_GT(facts_.lanes.size(), 1u);
        const std::uint64_t step = facts_.addresses[1] - facts_.addresses[0];
        for (std::size_t i = 1; i < facts_.lanes.size(); ++i) {
            EXPECT_EQ(facts_.lanes[i], facts_.lanes[i - 1] + 1);
            EXPECT_EQ(facts_.addresses[i] - facts_.addresses[i - 1], step);
        }
    }

    const WarpAccess& access_;
    naive::Facts facts_;
    const GlobalCounts& counts_;
    const Reasons& reasons_;
    std::vector<std::string> why_;  // numbers that are due
    std::vector<std::string> mend_;
};

class EverySentence : public ::testing::Test {
 protected:
    void check(const WarpAccess& access, Purpose purpose, const std::string& machine = "h200") {
        const GlobalCounts counts = Coalescer(*find_machine(machine).rules).count(access);
        const Reasons reasons = reasons_of(shape_of(access), purpose, counts);
        ++seen_[reasons.cause];
        Claims(access, counts, reasons).check();
        EXPECT_EQ(reasons.cause == Cause::no_lanes, access.active_lanes == 0);
    }
    std::map<Cause, int> seen_;
};

TEST_F(EverySentence, is_true_for_every_pattern_op_and_type_with_many_parameters) {
    unsigned number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        if (++number % fewer_cases != 0 || HasFailure()) return;
        for (const LaunchWarp& warp : explain_cases::some_warps(plan.program))
            for (const Instruction& instruction : plan.program.instructions) {
                if (instruction.space != Space::global) continue;
                SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value) + " " +
                             std::string(name_of(plan.op)) + " " + std::string(name_of(plan.type)) +
                             " warp " + std::to_string(warp.index));
                const WarpAccess access =
                    access_of_warp(plan.program, {}, instruction, warp.first_thread, warp.lanes);
                check(access, purpose_of(access.kind));
                if (purpose_of(access.kind) == Purpose::load)
                    check(access, Purpose::load_and_store);
                else if (purpose_of(access.kind) == Purpose::atomic)
                    check(access, Purpose::atomic, "8.0");
            }
    });
    // The catalog reaches all but these two, which random warps do.
    for (const Cause cause : {Cause::one_sector, Cause::contiguous, Cause::misaligned,
                              Cause::few_sectors, Cause::strided, Cause::scattered,
                              Cause::same_word, Cause::word_bank, Cause::unknown_packets})
        EXPECT_GT(seen_[cause], 0) << name_of(cause);
}

TEST_F(EverySentence, is_true_for_random_warps) {
    explain_cases::RandomWarps warps(3);
    for (unsigned i = 0; i < 20000 / fewer_cases && !HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = warps.next();
        check(access, purpose_of(access.kind), i % 2 == 0 ? "h200" : "7.0");
    }
    for (const Cause cause : {Cause::no_lanes, Cause::full_sectors, Cause::pieces})
        EXPECT_GT(seen_[cause], 0) << name_of(cause);
}

TEST_F(EverySentence, is_true_for_every_measured_warp) {
    for (const truth::MeasuredWarp& warp : truth::read_warps("h200/warps_global")) {
        SCOPED_TRACE(warp.name);
        check(warp.access, purpose_of(warp.access.kind));
    }
}

}  // namespace
}  // namespace coalprof
