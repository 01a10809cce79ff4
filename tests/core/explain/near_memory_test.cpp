#include "core/explain/near_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "core/count/near_memory.h"
#include "core/count/truth.h"
#include "core/explain/cases.h"
#include "core/explain/naive.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

const Rules& h200_rules() { return *find_machine("h200").rules; }

WarpAccess near_access(WarpAccess access, Space space) {
    access.space = space;
    if (access.kind != AccessKind::store) access.kind = AccessKind::load;
    return access;
}

// --- shared memory -------------------------------------------------------------------------------

// Every active lane goes once; no pass asks a bank for two words; as many passes as the model says.
void expect_sound(const WarpAccess& access, const BankUse& use) {
    EXPECT_EQ(use.passes.size(), use.counts.wavefronts);
    std::uint32_t served = 0;
    for (const NearPass& pass : use.passes) {
        EXPECT_NE(pass.lanes, 0u);
        EXPECT_EQ(served & pass.lanes, 0u);
        served |= pass.lanes;
        std::map<std::uint64_t, std::uint64_t> word_of_bank;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
            if ((pass.lanes >> lane & 1) == 0) continue;
            const std::uint64_t first = access.addresses[lane] / 4;
            const std::uint64_t last = (access.addresses[lane] + access.width_bytes - 1) / 4;
            for (std::uint64_t word = first; word <= last; ++word) {
                const auto [at, is_new] = word_of_bank.emplace(word % 32, word);
                EXPECT_EQ(at->second, word) << "bank " << word % 32;
            }
        }
        std::uint32_t banks = 0;
        for (const auto& [bank, word] : word_of_bank) banks |= 1u << bank;
        EXPECT_EQ(pass.banks, banks);
    }
    EXPECT_EQ(served, access.active_lanes);
}

TEST(BankUse, passes_are_sound_for_random_warps) {
    explain_cases::RandomWarps warps(7);
    for (unsigned i = 0; i < 20000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = near_access(warps.next(), Space::shared);
        expect_sound(access, bank_use_of(access, h200_rules()));
    }
}

// A column of a tile of 32 rows: padded by a word to each row, and with its columns exchanged by
// row (column ^ row). Both take one pass; the banks that serve the lanes are others.
TEST(BankUse, padded_and_swizzled_tiles_are_drawn_apart) {
    WarpAccess padded{.width_bytes = 4, .space = Space::shared};
    padded.active_lanes = all_lanes;
    WarpAccess swizzled = padded;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        padded.addresses[lane] = (lane * 33 + 5) * 4;
        swizzled.addresses[lane] = (lane * 32 + (lane ^ 5)) * 4;
    }
    const auto lanes_of_bank = [](const WarpAccess& access) {
        return bank_use_of(access, h200_rules()).passes.at(0).lanes_of_bank;
    };
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        EXPECT_EQ(lanes_of_bank(padded)[(lane + 5) % 32], 1u << lane);
        EXPECT_EQ(lanes_of_bank(swizzled)[lane ^ 5], 1u << lane);
    }
    const Machine machine = find_machine("h200");
    const auto drawn = [&](const WarpAccess& access) {
        return draw(explanation_of("tile", access, machine), {});
    };
    EXPECT_NE(drawn(padded).find("rstuv012 3456789a"), std::string::npos);
    EXPECT_NE(drawn(swizzled).find("54761032 dcfe98ba"), std::string::npos);
}

TEST(BankUse, has_as_many_passes_as_were_measured) {
    for (const truth::MeasuredWarp& warp : truth::read_warps("h200/warps_shared")) {
        SCOPED_TRACE(warp.name);
        const BankUse use = bank_use_of(warp.access, h200_rules());
        expect_sound(warp.access, use);
        const char* key = warp.access.kind == AccessKind::load ? "shared_load_wavefronts"
                                                               : "shared_store_wavefronts";
        EXPECT_EQ(use.passes.size(), warp.counters.at(key));
    }
}

TEST(SharedReasons, tell_the_numbers_of_the_model) {
    static const std::regex apart("Neighbouring lanes are (\\d+) bytes apart\\. .*");
    static const std::regex conflict(
        ".*Up to (\\d+) different words of one bank are wanted at once, and a bank gives one word "
        "a pass, so the warp takes (\\d+) passes where (\\d+) would do\\.");
    static const std::regex free(
        "The (?:one|32|\\d+) ?(?:active)? ?lanes? (?:go|goes) through in (one pass|\\d+ passes).*");
    explain_cases::RandomWarps warps(8);
    int conflicts = 0;
    for (unsigned i = 0; i < 20000 / fewer_cases && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = near_access(warps.next(), Space::shared);
        const BankUse use = bank_use_of(access, h200_rules());
        const Reasons reasons = shared_reasons_of(shape_of(access), use);
        SCOPED_TRACE(reasons.why);
        std::smatch match;
        if (access.active_lanes == 0) continue;
        EXPECT_EQ(reasons.cause == Cause::bank_conflict, use.counts.conflicts() > 0);
        if (std::regex_match(reasons.why, match, apart)) {
            EXPECT_EQ(naive::facts_of(access).distances(),
                      std::set<std::uint64_t>{std::stoull(match[1])});
        }
        if (std::regex_match(reasons.why, match, conflict)) {
            ++conflicts;
            EXPECT_EQ(std::stoull(match[1]), use.most_words);
            EXPECT_GT(use.most_words, 1u);
            EXPECT_EQ(std::stoull(match[2]), use.counts.wavefronts);
            EXPECT_EQ(std::stoull(match[3]), use.counts.ideal_wavefronts);
        } else {
            EXPECT_TRUE(std::regex_match(reasons.why, match, free));
            EXPECT_EQ(match[1] == "one pass" ? 1 : std::stoull(match[1]), use.counts.wavefronts);
        }
    }
    EXPECT_GT(conflicts, 100 / static_cast<int>(fewer_cases));
}

// The advice of odd distances: every odd number of words gives each lane a bank of its own.
TEST(SharedReasons, odd_distances_do_mend) {
    for (std::uint64_t words = 1; words < 64; ++words) {
        WarpAccess access;
        access.space = Space::shared;
        access.active_lanes = all_lanes;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            access.addresses[lane] = lane * words * 4;
        const BankUse use = bank_use_of(access, h200_rules());
        EXPECT_EQ(use.counts.conflicts() == 0, words % 2 == 1) << words;
    }
}

// --- constant and local memory -------------------------------------------------------------------

TEST(ConstantPasses, serve_every_lane_with_its_address_as_often_as_the_model_says) {
    explain_cases::RandomWarps warps(9);
    for (int i = 0; i < 5000 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = near_access(warps.next(), Space::constant);
        const std::vector<NearPass> passes = constant_passes_of(access, h200_rules());
        EXPECT_EQ(passes.size(), ConstantMemory(h200_rules()).count(access).requests);
        // 16 bytes go as two loads of 8.
        const std::size_t loads = access.width_bytes == 16 ? 2 : 1;
        const std::size_t of_one = passes.size() / loads;
        for (std::size_t load = 0; load < loads; ++load) {
            std::uint32_t served = 0;
            for (std::size_t k = 0; k < of_one; ++k) {
                const NearPass& pass = passes[load * of_one + k];
                for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
                    if ((pass.lanes >> lane & 1) != 0) {
                        EXPECT_EQ(access.addresses[lane] + 8 * load, pass.address);
                    }
                EXPECT_EQ(served & pass.lanes, 0u);
                served |= pass.lanes;
            }
            EXPECT_EQ(served, access.active_lanes);
        }
    }
}

TEST(ConstantPasses, of_wide_elements_are_told_apart_from_those_of_several_addresses) {
    WarpAccess access;
    access.space = Space::constant;
    access.active_lanes = all_lanes;
    access.width_bytes = 16;
    const Reasons one = constant_reasons_of(shape_of(access), 2, 2);
    EXPECT_EQ(one.cause, Cause::one_address);
    EXPECT_NE(one.why.find("in each of 2 loads of 8 bytes"), std::string::npos) << one.why;
    access.addresses[3] = 16;
    EXPECT_EQ(constant_reasons_of(shape_of(access), 4, 2).cause, Cause::several_addresses);
}

// 4 indices: each is a line of 32 words of which every fourth lane uses one, 4 sectors each.
TEST(LocalLines, hold_one_word_of_all_lanes_each) {
    WarpAccess access;
    access.space = Space::local;
    access.active_lanes = all_lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = lane % 4 * 4;
    const std::vector<TouchedLine> lines = local_lines_of(access, h200_rules());
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[1].sectors[0].lanes, 0b10'0010u);
    EXPECT_EQ(sectors_in(lines), 16u);
}

TEST(LocalLines, have_as_many_sectors_as_the_model_says) {
    explain_cases::RandomWarps warps(10);
    for (int i = 0; i < 5000 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        const WarpAccess access = near_access(warps.next(), Space::local);
        const std::vector<TouchedLine> lines = local_lines_of(access, h200_rules());
        const std::uint32_t sectors = sectors_in(lines);
        EXPECT_EQ(sectors, LocalMemory(h200_rules()).count(access).sectors);
        const Reasons reasons = local_reasons_of(shape_of(access), lines);
        if (access.active_lanes == 0) continue;
        EXPECT_GE(sectors, 1u);
        static const std::regex numbers(
            ".* are at (\\d+) different words of theirs and so touch (\\d+) cache lines, with "
            "(\\d+) sectors where (\\d+) would do\\.");
        std::smatch match;
        if (std::regex_match(reasons.why, match, numbers)) {
            std::set<std::uint64_t> words;
            for (const std::uint64_t byte : naive::facts_of(access).bytes) words.insert(byte / 4);
            EXPECT_EQ(std::stoull(match[1]), words.size());
            EXPECT_EQ(std::stoull(match[3]), sectors);
            EXPECT_LT(std::stoull(match[4]), sectors);
        } else {
            EXPECT_EQ(reasons.cause, Cause::interleaved);
        }
    }
}

}  // namespace
}  // namespace coalprof
