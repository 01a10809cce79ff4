// Every sentence that explains a warp is true: held against facts worked out anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "core/explain/cases.h"
#include "core/explain/naive.h"
#include "core/explain/reasons.h"
#include "core/model/truth.h"

namespace coalprof {
namespace {

using explain_cases::purpose_of;

// Holds the numbers and claims of sentences against facts worked out the obvious way. A sentence
// that no claim below knows is an error too, so that none goes unchecked.
class Claims {
 public:
    Claims(const WarpAccess& access, const GlobalCounts& counts)
        : access_(access), facts_(naive::facts_of(access)), counts_(counts) {}

    void check(const Reasons& reasons) {
        for (const std::string& text : {reasons.why, reasons.mend})
            for (const std::string& sentence : sentences_of(text)) check_sentence(sentence);
    }

 private:
    using Numbers = std::vector<std::uint64_t>;
    using Check = void (Claims::*)(const Numbers&);

    static std::vector<std::string> sentences_of(const std::string& text) {
        std::vector<std::string> sentences;
        for (std::size_t begin = 0; begin < text.size();) {
            std::size_t end = text.find(". ", begin);
            end = end == std::string::npos ? text.size() : end + 1;
            sentences.push_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        return sentences;
    }

    // What each kind of sentence claims: a pattern for all of it, whose groups are numbers.
    static const std::vector<std::pair<std::regex, Check>>& claims() {
        static const auto compiled = [] {
            const std::string lanes = "The (?:32|one|\\d+ active|one active) lanes? ";
            const std::string verb = "(?:reads?|writes?|touch|touches|updates?) ";
            const std::string who = lanes + verb;
            const std::vector<std::pair<std::string, Check>> list{
                {"No lane is active, so the warp asks nothing of memory\\.", &Claims::no_lanes},
                {"There is nothing to mend\\.", &Claims::no_lanes},
                {who + "(\\d+) bytes? of one sector\\.", &Claims::one_lane},
                {"All (\\d+)(?: active)? lanes (?:read|write|touch|update) the same (?:(\\d+) "
                 "bytes|byte), "
                 "and one sector serves them all\\.",
                 &Claims::same_place},
                {"All (\\d+)(?: active)? lanes fall into one sector\\.", &Claims::one_sector},
                {"Nothing to mend: one sector is the fewest\\.", &Claims::is_one_sector},
                {"Let one lane write: of several, which one's value stays is not defined\\.",
                 &Claims::several_write},
                {who + "(\\d+) contiguous bytes that begin at a sector boundary, so all (\\d+) "
                       "sectors are used in full\\.",
                 &Claims::in_full},
                {who + "(\\d+) contiguous bytes, which no place in memory could hold in fewer than "
                       "(\\d+) sectors?\\.",
                 &Claims::fewest},
                {"They lie in (\\d+) lines, so L2 gets (\\d+) requests where (\\d+) would do\\.",
                 &Claims::lines},
                {"The lanes are not in order of address, which costs no sector\\.",
                 &Claims::unordered},
                {"Nothing to mend in the number of sectors; a start at a multiple of 128 bytes "
                 "would save (\\d+) L2 requests?\\.",
                 &Claims::saves_requests},
                {"Nothing to mend in the sectors; (\\d+) idle lanes? could be put to work\\.",
                 &Claims::idle},
                {"Nothing to mend: (\\d+) sectors are the fewest\\.", &Claims::sectors_fewest},
                {"Nothing to mend in the number of sectors\\.", &Claims::none_in_excess},
                {who + "(\\d+) contiguous bytes that begin (\\d+) bytes? into a sector, so they "
                       "reach into (\\d+) sectors where (\\d+) would hold them\\.",
                 &Claims::misaligned},
                {"Let the warp begin at a multiple of 32 bytes, (\\d+) elements? earlier or (\\d+) "
                 "later: then (\\d+) sectors? holds? it all\\.",
                 &Claims::shifts},
                {who + "(\\d+) separate stretches of memory, and all (\\d+) sectors are used in "
                       "full\\.",
                 &Claims::full_stretches},
                {who + "(\\d+) distinct places that lie in (\\d+) sectors, no more than the (\\d+) "
                       "that as many lanes side by side would need\\.",
                 &Claims::few},
                {"Neighbouring lanes are (\\d+) bytes apart, so each 32-byte sector carries only "
                 "(\\d+) bytes? that (?:is|are) (?:used|written|updated)\\.",
                 &Claims::lanes_apart_only},
                {"Neighbouring lanes are (\\d+) bytes apart, so each 32-byte sector carries at "
                 "most "
                 "(\\d+) bytes? that (?:is|are) (?:used|written|updated)\\.",
                 &Claims::lanes_apart_most},
                {"The places that are touched lie (\\d+) bytes apart, so each 32-byte sector "
                 "carries only (\\d+) bytes? that (?:is|are) (?:used|written|updated)\\.",
                 &Claims::places_apart_only},
                {"The places that are touched lie (\\d+) bytes apart, so each 32-byte sector "
                 "carries at most (\\d+) bytes? that (?:is|are) (?:used|written|updated)\\.",
                 &Claims::places_apart_most},
                {"Lay the elements side by side \\(a structure of arrays\\), or let each lane take "
                 "all (\\d+) bytes in one wider access if it needs them\\.",
                 &Claims::wider},
                {"Lay the elements of neighbouring lanes side by side .*\\.", &Claims::excess},
                {"Lay the words of neighbouring lanes side by side\\.", &Claims::excess},
                {"Let neighbouring lanes take neighbouring elements .*\\.", &Claims::excess},
                {who + "(\\d+) separate stretches of memory that begin or end inside sectors, so "
                       "(\\d+) sectors are \\w+ where (\\d+) would hold the (\\d+) bytes\\.",
                 &Claims::stretches},
                {"Let each stretch begin and end at a multiple of 32 bytes, .*\\.",
                 &Claims::excess},
                {who + "(\\d+) places with no fixed distance between them, so each of the (\\d+) "
                       "sectors carries only (\\d+) bytes? that (?:is|are) "
                       "(?:used|written|updated)\\.",
                 &Claims::scattered_alike},
                {who + "(\\d+) places with no fixed distance between them, so the (\\d+) sectors "
                       "\\w+ carry (\\d+)\\.(\\d) bytes each on average that are "
                       "(?:used|written|updated)\\.",
                 &Claims::scattered},
                {"Sort or group the indices .*\\.", &Claims::excess},
                {"Collect the updates .*\\.", &Claims::excess},
                {"All (\\d+) lanes update the same (\\d+) bytes, and a packet to L2 takes only one "
                 "of them, so the warp goes out in (\\d+) packets? with (\\d+) sectors?\\.",
                 &Claims::all_on_one},
                {"Up to (\\d+) lanes update the same (\\d+) bytes, and a packet to L2 takes only "
                 "one of them, so the warp goes out in (\\d+) packets? with (\\d+) sectors?\\.",
                 &Claims::some_on_one},
                {"Let the lanes that share a place combine .*\\.", &Claims::some_share},
                {"Lanes on different lines whose words meet in one of the 32 word banks hold each "
                 "other back, so the warp goes out in (\\d+) packets where its (\\d+) lines would "
                 "need one each\\.",
                 &Claims::banks},
                {"Lay the words of a warp side by side: then every line goes out in one packet\\.",
                 &Claims::side_by_side},
                {"How this warp is divided is not known: .*\\.", &Claims::unknown},
                {"Words of one line, each updated by one lane, go out in one packet whatever the "
                 "hash\\.",
                 &Claims::unknown},
            };
            std::vector<std::pair<std::regex, Check>> compiled_list;
            for (const auto& [pattern, check] : list)
                compiled_list.emplace_back(std::regex(pattern), check);
            return compiled_list;
        }();
        return compiled;
    }

    void check_sentence(const std::string& sentence) {
        SCOPED_TRACE(sentence);
        check_lane_count(sentence);
        for (const auto& [pattern, check] : claims()) {
            std::smatch match;
            if (!std::regex_match(sentence, match, pattern)) continue;
            Numbers numbers;
            for (std::size_t i = 1; i < match.size(); ++i)
                numbers.push_back(match[i].matched ? std::stoull(match[i]) : 1);
            return (this->*check)(numbers);
        }
        ADD_FAILURE() << "a sentence that no claim checks";
    }

    void check_lane_count(const std::string& sentence) {
        static const std::regex active("(?:The|All) (\\d+) (active )?lanes .*");
        std::smatch match;
        if (std::regex_match(sentence, match, active)) {
            EXPECT_EQ(std::stoull(match[1]), facts_.lanes.size());
        }
        if (sentence.starts_with("The one active lane")) {
            EXPECT_EQ(facts_.lanes.size(), 1u);
        }
        if (sentence.find("active lanes") != std::string::npos) {
            EXPECT_LT(facts_.lanes.size(), 32u);
        }
    }

    void no_lanes(const Numbers&) { EXPECT_TRUE(facts_.lanes.empty()); }
    void one_lane(const Numbers& n) {
        EXPECT_EQ(facts_.lanes.size(), 1u);
        EXPECT_EQ(facts_.bytes.size(), n[0]);
        EXPECT_EQ(facts_.sectors(), 1u);
    }
    void same_place(const Numbers& n) {
        EXPECT_EQ(facts_.lanes.size(), n[0]);
        EXPECT_EQ(facts_.lanes_at.size(), 1u);
        EXPECT_EQ(facts_.bytes.size(), n[1]);
    }
    void one_sector(const Numbers& n) {
        EXPECT_EQ(facts_.lanes.size(), n[0]);
        EXPECT_EQ(facts_.sectors(), 1u);
    }
    void is_one_sector(const Numbers&) { EXPECT_EQ(counts_.sectors, 1u); }
    void several_write(const Numbers&) {
        EXPECT_EQ(access_.kind, AccessKind::store);
        EXPECT_GT(facts_.most_lanes_at_one(), 1u);
    }
    void contiguous(std::uint64_t bytes) {
        EXPECT_TRUE(facts_.is_contiguous());
        EXPECT_EQ(facts_.bytes.size(), bytes);
    }
    void in_full(const Numbers& n) {
        contiguous(n[0]);
        EXPECT_EQ(*facts_.bytes.begin() % 32, 0u);
        EXPECT_EQ(facts_.sectors(), n[1]);
        EXPECT_EQ(facts_.used_counts(), std::set<std::uint32_t>{32});
    }
    void fewest(const Numbers& n) {
        contiguous(n[0]);
        EXPECT_EQ(facts_.sectors(), n[1]);
        EXPECT_EQ(facts_.sectors_needed(), n[1]);
    }
    void lines(const Numbers& n) {
        EXPECT_EQ(facts_.lines.size(), n[0]);
        EXPECT_EQ(counts_.l2_requests, n[1]);
        EXPECT_EQ(facts_.lines_needed(), n[2]);
        EXPECT_GT(n[1], n[2]);
    }
    void unordered(const Numbers&) {
        EXPECT_FALSE(std::is_sorted(facts_.addresses.begin(), facts_.addresses.end()));
        WarpAccess ordered = access_;  // the same places, risen by lane
        std::vector<std::uint64_t> sorted = facts_.addresses;
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i)
            ordered.addresses[facts_.lanes[i]] = sorted[i];
        EXPECT_EQ(Coalescer(*find_machine("h200").rules).count(ordered).sectors, counts_.sectors);
    }
    void saves_requests(const Numbers& n) {
        const auto down = static_cast<std::int64_t>(*facts_.bytes.begin() % 128);
        EXPECT_EQ(counts_.l2_requests - naive::facts_of(access_, 128 - down).lines.size(), n[0]);
        EXPECT_GT(n[0], 0u);
        none_in_excess({});
    }
    void idle(const Numbers& n) { EXPECT_EQ(32 - facts_.lanes.size(), n[0]); }
    void sectors_fewest(const Numbers& n) {
        EXPECT_EQ(counts_.sectors, n[0]);
        EXPECT_EQ(facts_.sectors_needed(), n[0]);
    }
    void none_in_excess(const Numbers&) { EXPECT_EQ(counts_.sectors, counts_.ideal_sectors); }
    void misaligned(const Numbers& n) {
        contiguous(n[0]);
        EXPECT_NE(n[1], 0u);
        EXPECT_EQ(*facts_.bytes.begin() % 32, n[1]);
        EXPECT_EQ(facts_.sectors(), n[2]);
        EXPECT_EQ(facts_.sectors_needed(), n[3]);
        EXPECT_GT(n[2], n[3]);
    }
    void shifts(const Numbers& n) {
        const auto width = static_cast<std::int64_t>(access_.width_bytes);
        for (const std::int64_t elements :
             {-static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1])}) {
            const naive::Facts moved = naive::facts_of(access_, elements * width);
            EXPECT_EQ(*moved.bytes.begin() % 32, 0u);
            EXPECT_EQ(moved.sectors(), n[2]);
        }
    }
    void full_stretches(const Numbers& n) {
        EXPECT_EQ(facts_.runs(), n[0]);
        EXPECT_EQ(facts_.sectors(), n[1]);
        EXPECT_EQ(facts_.used_counts(), std::set<std::uint32_t>{32});
    }
    void few(const Numbers& n) {
        EXPECT_EQ(facts_.lanes_at.size(), n[0]);
        EXPECT_EQ(facts_.sectors(), n[1]);
        EXPECT_EQ((facts_.lanes.size() * access_.width_bytes + 31) / 32, n[2]);
        EXPECT_LE(n[1], n[2]);
    }
    void carries_only(std::uint64_t bytes) {
        EXPECT_EQ(facts_.used_counts(), std::set<std::uint32_t>{static_cast<std::uint32_t>(bytes)});
        excess({});
    }
    void carries_at_most(std::uint64_t bytes) {
        EXPECT_EQ(*facts_.used_counts().rbegin(), bytes);
        EXPECT_GT(facts_.used_counts().size(), 1u);
        excess({});
    }
    void lanes_apart(std::uint64_t distance) {
        ASSERT_GT(facts_.lanes.size(), 1u);
        const std::uint64_t step = facts_.addresses[1] - facts_.addresses[0];
        EXPECT_TRUE(step == distance || step == 0 - distance);
        for (std::size_t i = 1; i < facts_.lanes.size(); ++i) {
            EXPECT_EQ(facts_.lanes[i], facts_.lanes[i - 1] + 1);
            EXPECT_EQ(facts_.addresses[i] - facts_.addresses[i - 1], step);
        }
    }
    void lanes_apart_only(const Numbers& n) {
        lanes_apart(n[0]);
        carries_only(n[1]);
    }
    void lanes_apart_most(const Numbers& n) {
        lanes_apart(n[0]);
        carries_at_most(n[1]);
    }
    void places_apart_only(const Numbers& n) {
        EXPECT_EQ(facts_.distances(), std::set<std::uint64_t>{n[0]});
        carries_only(n[1]);
    }
    void places_apart_most(const Numbers& n) {
        EXPECT_EQ(facts_.distances(), std::set<std::uint64_t>{n[0]});
        carries_at_most(n[1]);
    }
    void wider(const Numbers& n) {
        EXPECT_EQ(facts_.distances(), std::set<std::uint64_t>{n[0]});
        EXPECT_TRUE(n[0] == 2 || n[0] == 4 || n[0] == 8 || n[0] == 16);
        EXPECT_GT(n[0], access_.width_bytes);
        excess({});
    }
    // Advice is given only where something is lost.
    void excess(const Numbers&) { EXPECT_GT(counts_.sectors, counts_.ideal_sectors); }
    void stretches(const Numbers& n) {
        EXPECT_EQ(facts_.runs(), n[0]);
        EXPECT_GT(n[0], 1u);
        EXPECT_EQ(facts_.sectors(), n[1]);
        EXPECT_EQ(facts_.sectors_needed(), n[2]);
        EXPECT_EQ(facts_.bytes.size(), n[3]);
        EXPECT_LT(*facts_.used_counts().begin(), 32u);
        EXPECT_GT(n[1], n[2]);
    }
    void no_fixed_distance(std::uint64_t places, std::uint64_t sectors) {
        EXPECT_EQ(facts_.lanes_at.size(), places);
        EXPECT_GT(facts_.distances().size(), 1u);
        EXPECT_EQ(facts_.sectors(), sectors);
        EXPECT_EQ(counts_.sectors, sectors);
    }
    void scattered_alike(const Numbers& n) {
        no_fixed_distance(n[0], n[1]);
        carries_only(n[2]);
    }
    void scattered(const Numbers& n) {
        no_fixed_distance(n[0], n[1]);
        const double average =
            static_cast<double>(facts_.bytes.size()) / static_cast<double>(facts_.sectors());
        EXPECT_NEAR(static_cast<double>(n[2]) + static_cast<double>(n[3]) / 10, average, 0.0501);
    }
    void packets(const Numbers& n) {
        EXPECT_EQ(access_.width_bytes, n[1]);
        EXPECT_EQ(counts_.l2_requests, n[2]);
        EXPECT_GE(n[2], n[0]) << "each packet takes one lane of a word";
        EXPECT_EQ(counts_.sectors, n[3]);
    }
    void all_on_one(const Numbers& n) {
        EXPECT_EQ(facts_.lanes_at.size(), 1u);
        EXPECT_EQ(facts_.lanes.size(), n[0]);
        packets(n);
    }
    void some_on_one(const Numbers& n) {
        EXPECT_GT(facts_.lanes_at.size(), 1u);
        EXPECT_EQ(facts_.most_lanes_at_one(), n[0]);
        packets(n);
    }
    void some_share(const Numbers&) {
        EXPECT_GT(facts_.most_lanes_at_one(), 1u);
        EXPECT_TRUE(access_.kind == AccessKind::atomic || access_.kind == AccessKind::reduce);
    }
    void banks(const Numbers& n) {
        EXPECT_EQ(facts_.most_lanes_at_one(), 1u);
        EXPECT_EQ(counts_.l2_requests, n[0]);
        EXPECT_EQ(facts_.lines.size(), n[1]);
        EXPECT_GT(n[0], n[1]);
    }
    void side_by_side(const Numbers&) {
        WarpAccess moved = access_;
        const std::uint64_t base = access_.addresses[facts_.lanes.front()];
        for (std::size_t i = 0; i < facts_.lanes.size(); ++i)
            moved.addresses[facts_.lanes[i]] = base + i * access_.width_bytes;
        const GlobalCounts counts = Coalescer(*find_machine("h200").rules).count(moved);
        EXPECT_EQ(counts.l2_requests, counts.lines);
    }
    void unknown(const Numbers&) { EXPECT_NE(counts_.traffic_doubts, 0); }

    const WarpAccess& access_;
    naive::Facts facts_;
    const GlobalCounts& counts_;
};

class EverySentence : public ::testing::Test {
 protected:
    void check(const WarpAccess& access, Purpose purpose, const std::string& machine = "h200") {
        const GlobalCounts counts = Coalescer(*find_machine(machine).rules).count(access);
        const Reasons reasons = reasons_of(shape_of(access), purpose, counts);
        ++seen_[reasons.cause];
        Claims(access, counts).check(reasons);
        EXPECT_EQ(reasons.cause == Cause::no_lanes, access.active_lanes == 0);
    }
    std::map<Cause, int> seen_;
};

TEST_F(EverySentence, is_true_for_every_pattern_op_and_type_with_many_parameters) {
    explain_cases::each_plan([&](const Plan& plan) {
        if (HasFailure()) return;
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
    for (int i = 0; i < 20000 && !HasFailure(); ++i) {
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
