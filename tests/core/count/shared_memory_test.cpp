#include "core/count/shared_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/count/truth.h"
#include "core/machine/machine.h"

namespace coalprof {
namespace {

using truth::rules_of;

TEST(SharedMemory, of_an_h200_is_predicted_in_every_measured_warp) {
    const SharedMemory model(rules_of("h200"));
    const auto warps = truth::read_warps("h200/warps_shared");
    ASSERT_EQ(warps.size(), 128u);
    for (const auto& warp : warps) {
        const SharedCounts counts = model.count(warp.access);
        const std::string kind = warp.access.kind == AccessKind::load ? "load" : "store";
        EXPECT_EQ(counts.wavefronts, warp.counters.at("shared_" + kind + "_wavefronts"))
            << warp.name;
        EXPECT_EQ(counts.requests, warp.counters.at("shared_" + kind + "_requests")) << warp.name;
    }
}

// The expected passes of tests/data/rules/README.md: every pattern on every generation.
TEST(SharedExamples, hold_on_every_generation) {
    const auto examples = truth::read_warps("rules/shared_examples");
    ASSERT_EQ(examples.size(), 31u);
    const SharedMemory tesla(rules_of("c870"));
    const SharedMemory fermi(rules_of("c2050"));
    const SharedMemory kepler_4(rules_of("k40"));
    const SharedMemory kepler_8(rules_of("k40:bank8"));
    const SharedMemory maxwell(rules_of("m40"));
    for (const auto& example : examples) {
        const auto expect = [&](const SharedMemory& model, const char* column) {
            EXPECT_EQ(model.count(example.access).wavefronts, example.counters.at(column))
                << example.name << ' ' << column;
        };
        expect(tesla, "cc1");
        expect(fermi, "cc2");
        expect(kepler_4, "cc3_4");
        expect(kepler_8, "cc3_8");
        expect(maxwell, "cc5");
        const SharedCounts counts = maxwell.count(example.access);
        EXPECT_EQ(counts.ideal_wavefronts, example.counters.at("cc5_ideal")) << example.name;
        EXPECT_EQ(counts.conflicts(), example.counters.at("cc5_conflicts")) << example.name;
    }
}

// From 7.0 on, wide loads whose neighbours agree merge two groups; of the examples the broadcasts
// alone do: 2 passes become 1 (8 bytes), 4 become 2 (16 bytes), all of them conflict-free.
TEST(SharedExamples, of_volta_and_later_differ_in_wide_broadcasts_alone) {
    for (const Rules& rules : all_rules()) {
        if (rules.cc < ComputeCapability{7, 0}) continue;
        const SharedMemory model(rules);
        for (const auto& example : truth::read_warps("rules/shared_examples")) {
            const bool packs =
                example.name == "lds_64_broadcast" || example.name == "lds_128_broadcast";
            const std::uint64_t expected = example.counters.at("cc5") / (packs ? 2 : 1);
            const SharedCounts counts = model.count(example.access);
            EXPECT_EQ(counts.wavefronts, expected) << example.name << ' ' << text_of(rules.cc);
            EXPECT_EQ(counts.conflicts(), example.counters.at("cc5_conflicts")) << example.name;
        }
    }
}

// The plain words of the rule, slowly: for each group, the most distinct words of any bank.
std::uint64_t obvious_wavefronts(const WarpAccess& access) {
    const std::uint32_t together = access.width_bytes <= 4 ? 32 : 128 / access.width_bytes;
    std::uint64_t sum = 0;
    for (std::uint32_t first = 0; first < warp_lanes; first += together) {
        std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
        for (std::uint32_t lane = first; lane < first + together; ++lane) {
            if ((access.active_lanes >> lane & 1) == 0) continue;
            const std::uint64_t end = access.addresses[lane] + access.width_bytes;
            for (std::uint64_t word = access.addresses[lane] / 4; word * 4 < end; ++word)
                words_of_bank[word % 32].insert(word);
        }
        std::size_t most = 0;
        for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
        sum += most;
    }
    return sum;
}

// Numbers below what is asked for, the same in every run.
auto numbers_from(std::uint64_t random) {
    return [random](std::uint64_t below) mutable {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        return (random >> 33) % below;
    };
}

TEST(SharedMemory, counts_random_stores_as_the_plain_words_of_the_rule_do) {
    auto next = numbers_from(7);
    const SharedMemory model(rules_of("h200"));
    for (int round = 0; round < 20000; ++round) {
        WarpAccess access;
        access.space = Space::shared;
        access.kind = AccessKind::store;
        access.width_bytes = 1u << next(5);
        access.active_lanes = next(3) == 0 ? static_cast<std::uint32_t>(next(1ull << 32)) : ~0u;
        const std::uint64_t span = 1ull << (next(14) + 1);
        for (auto& address : access.addresses) address = next(span) * access.width_bytes;
        const SharedCounts counts = model.count(access);
        ASSERT_EQ(counts.wavefronts, obvious_wavefronts(access)) << round;
        ASSERT_LE(counts.ideal_wavefronts, counts.wavefronts);
    }
}

TEST(SharedMemory, never_needs_fewer_passes_than_its_ideal_on_any_machine) {
    auto next = numbers_from(3);
    for (int round = 0; round < 2000; ++round) {
        WarpAccess access;
        access.space = Space::shared;
        access.width_bytes = 1u << (round % 5);
        access.active_lanes = static_cast<std::uint32_t>(next(1ull << 31) << 1 | next(2));
        for (auto& address : access.addresses) address = next(512) * access.width_bytes;
        for (const Rules& rules : all_rules()) {
            for (const Rules* mode : {&rules, with_8_byte_banks(rules)}) {
                if (!mode) continue;
                const SharedCounts counts = SharedMemory(*mode).count(access);
                ASSERT_GE(counts.wavefronts, counts.ideal_wavefronts) << text_of(rules.cc);
                ASSERT_EQ(counts.requests > 0, access.active_lanes != 0);
            }
        }
    }
}

// Lanes that wait for each word, by bank.
using Waiting = std::vector<std::vector<std::uint32_t>>;

// What is left of a bank when one of its words is broadcast, or one of its lanes is served.
std::set<std::vector<std::uint32_t>> left_of(const std::vector<std::uint32_t>& bank,
                                             bool broadcasts) {
    std::set<std::vector<std::uint32_t>> all;
    for (std::size_t i = 0; i < bank.size(); ++i) {
        std::vector<std::uint32_t> left = bank;
        left[i] = broadcasts ? 0 : left[i] - 1;
        std::erase(left, 0u);
        std::ranges::sort(left);
        all.insert(left);
    }
    return all;
}

// The fewest and the most passes of 1.x over every word that may be broadcast and every lane that
// each other bank may serve: the guide that core/machine/chips names leaves both open.
class EveryChoice {
 public:
    using Ends = std::pair<std::uint64_t, std::uint64_t>;
    Ends operator()(Waiting waiting) {
        std::erase_if(waiting, [](const auto& bank) { return bank.empty(); });
        std::ranges::sort(waiting);
        if (waiting.empty()) return {0, 0};
        if (const auto known = known_.find(waiting); known != known_.end()) return known->second;
        Ends ends{~0ull, 0};
        for (std::size_t bank = 0; bank < waiting.size(); ++bank)
            if (bank == 0 || waiting[bank] != waiting[bank - 1]) step(waiting, bank, 0, {}, ends);
        return known_[waiting] = ends;
    }

 private:
    void step(const Waiting& waiting, std::size_t broadcasting, std::size_t bank,
              const Waiting& left, Ends& ends) {
        if (bank == waiting.size()) {
            const auto [fewest, most] = (*this)(left);
            ends = {std::min(ends.first, fewest + 1), std::max(ends.second, most + 1)};
            return;
        }
        for (const auto& one : left_of(waiting[bank], bank == broadcasting)) {
            Waiting longer = left;
            longer.push_back(one);
            step(waiting, broadcasting, bank + 1, longer, ends);
        }
    }
    std::map<Waiting, Ends> known_;
};

TEST(SharedMemory, of_1_x_says_how_few_and_how_many_passes_the_choice_of_a_word_can_make) {
    auto next = numbers_from(5);
    const SharedMemory model(rules_of("c870"));
    EveryChoice every_choice;
    int doubtful = 0;
    for (int round = 0; round < 500; ++round) {
        WarpAccess access;
        access.space = Space::shared;
        access.active_lanes = 0xFFFF;
        const std::uint64_t span = 1ull << (next(7) + 1);
        // Also of few banks with many lanes for few words.
        const std::uint64_t step = round % 2 == 0 ? 1 : std::uint64_t{4} << next(3);
        for (auto& address : access.addresses) address = (next(span) * step + next(4) / 3) * 4;
        std::array<std::map<std::uint64_t, std::uint32_t>, 16> banks;
        for (std::uint32_t lane = 0; lane < 16; ++lane)
            ++banks[access.addresses[lane] / 4 % 16][access.addresses[lane] / 4];
        Waiting waiting;
        for (const auto& words : banks) {
            waiting.emplace_back();
            for (const auto& [word, lanes] : words) waiting.back().push_back(lanes);
            std::ranges::sort(waiting.back());
        }
        const auto [fewest, most] = every_choice(waiting);
        const SharedCounts counts = model.count(access);
        ASSERT_EQ(counts.wavefronts - counts.fewer, fewest) << round;
        ASSERT_EQ(counts.wavefronts + counts.more, most) << round;
        doubtful += fewest < most;
    }
    EXPECT_GT(doubtful, 100);
    // Two words of bank 0 for four lanes each, eight more lanes in banks of their own. The two
    // broadcast one after the other: 2 passes. One of the others first: it and all like it are gone
    // in that pass, then the two: 3.
    WarpAccess access;
    access.space = Space::shared;
    access.active_lanes = 0xFFFF;
    for (std::uint64_t lane = 0; lane < 16; ++lane)
        access.addresses[lane] = lane < 4 ? 0 : lane < 8 ? 64 : (lane - 7) * 4;
    const SharedCounts counts = model.count(access);
    EXPECT_EQ(counts.wavefronts - counts.fewer, 2u);
    EXPECT_EQ(counts.wavefronts + counts.more, 3u);
}

// The doubtful half-warp above, once with lanes of 4 bytes and once of 8 at the same addresses:
// those go word by word, each in as many passes, with as many choices.
TEST(SharedMemory, of_1_x_doubts_wide_lanes_by_the_word_and_many_warps_by_the_warp) {
    WarpAccess access;
    access.space = Space::shared;
    access.active_lanes = 0xFFFF;
    for (std::uint64_t lane = 0; lane < 16; ++lane)
        access.addresses[lane] = lane < 4   ? 8
                                 : lane < 8 ? 72
                                            : (lane - 8) % 7 * 8 + (lane < 15 ? 0 : 56);
    const SharedMemory model(rules_of("c870"));
    for (const bool is_backwards : {false, true}) {
        if (is_backwards) std::reverse(access.addresses.begin(), access.addresses.begin() + 16);
        access.width_bytes = 4;
        const SharedCounts narrow = model.count(access);
        EXPECT_GT(is_backwards ? narrow.fewer : narrow.more, 0u);
        access.width_bytes = 8;
        const SharedCounts wide = model.count(access);
        EXPECT_EQ(wide.wavefronts, 2 * narrow.wavefronts);
        EXPECT_EQ(wide.fewer, 2 * narrow.fewer);
        EXPECT_EQ(wide.more, 2 * narrow.more);
        SharedCounts many = wide;
        many.add(wide, 2);
        EXPECT_EQ(many.requests, 3 * wide.requests);
        EXPECT_EQ(many.wavefronts, 3 * wide.wavefronts);
        EXPECT_EQ(many.ideal_wavefronts, 3 * wide.ideal_wavefronts);
        EXPECT_EQ(many.fewer, 3 * wide.fewer);
        EXPECT_EQ(many.more, 3 * wide.more);
    }
}

// The author of maxas, an assembler for Maxwell, found no conflict on GM107 and GM204 where lanes n
// and n ^ 1, or n and n ^ 2, want the same 16 bytes of 128, and conflicts in lane order (wiki of
// NervanaSystems/maxas, SGEMM, "Reading from Shared"). NVIDIA's forum (77228) says of 7.0 that such
// loads take 2 passes instead of 4; of 5.x and 6.x nobody published a count.
TEST(SharedMemory, of_5_x_and_6_x_has_a_range_where_neighbours_of_a_wide_load_agree) {
    const auto load = [](std::uint32_t width, auto index) {
        WarpAccess access;
        access.space = Space::shared;
        access.width_bytes = width;
        access.active_lanes = all_lanes;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            access.addresses[lane] = std::uint64_t{width} * index(lane);
        return access;
    };
    const auto pairs = [](std::uint32_t lane) { return lane >> 1 & 7; };
    const auto every_other = [](std::uint32_t lane) { return (lane & 0x30) >> 3 | (lane & 1); };
    const auto in_order = [](std::uint32_t lane) { return lane & 7; };
    for (const char* machine : {"5.0", "5.2", "6.0", "6.1"}) {
        const SharedMemory model(rules_of(machine));
        for (const WarpAccess& access : {load(16, pairs), load(16, every_other)}) {
            const SharedCounts counts = model.count(access);
            EXPECT_EQ(counts.wavefronts, 4u) << machine;
            EXPECT_EQ(counts.wavefronts - counts.fewer, 2u) << machine;
            EXPECT_EQ(counts.conflicts(), 0u);
            EXPECT_EQ(counts.fewer_conflicts + counts.more_conflicts, 0u);
        }
        EXPECT_EQ(model.count(load(8, pairs)).fewer, 1u) << machine;
        EXPECT_EQ(model.count(load(16, in_order)).fewer, 0u) << machine;
        EXPECT_EQ(model.count(load(4, pairs)).fewer, 0u) << machine;
        WarpAccess store = load(16, pairs);
        store.kind = AccessKind::store;
        EXPECT_EQ(model.count(store).fewer, 0u) << machine;
    }
    for (const char* machine : {"2.0", "3.5", "7.0", "9.0"})
        EXPECT_EQ(SharedMemory(rules_of(machine)).count(load(16, pairs)).fewer, 0u) << machine;
}

TEST(SharedMemory, counts_one_request_for_each_warp_instruction_on_every_machine) {
    WarpAccess access;
    access.space = Space::shared;
    access.active_lanes = all_lanes;
    for (const Rules& rules : all_rules())
        EXPECT_EQ(SharedMemory(rules).count(access).requests, 1u) << text_of(rules.cc);
}

TEST(SharedMemory, of_no_lane_is_nothing_on_every_machine) {
    for (const Rules& rules : all_rules())
        EXPECT_EQ(SharedMemory(rules).count(WarpAccess{}), SharedCounts{});
}

std::uint64_t passes_of(SharedAtomic sort, const std::function<std::uint64_t(std::uint64_t)>& word,
                        std::uint32_t lanes = 0xFFFF'FFFF) {
    WarpAccess access{.kind = AccessKind::atomic, .space = Space::shared};
    access.width_bytes = 4;
    access.active_lanes = lanes;
    for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) access.addresses[lane] = 4 * word(lane);
    return count_shared_atomic(access, sort).wavefronts;
}

// As Nsight Compute counted them on an H100: atomicAdd(&s[a], 3), atomicAdd(&s[a], 1), atomicCAS.
TEST(SharedAtomics, take_the_passes_that_an_h100_counted) {
    struct Pattern {
        std::function<std::uint64_t(std::uint64_t)> word;
        std::uint64_t by_lane, by_word, twice;
    };
    const std::vector<Pattern> patterns{
        {[](auto i) { return i; }, 1, 1, 2},
        {[](auto i) { return i * 8; }, 8, 8, 16},
        {[](auto i) { return i / 4; }, 4, 1, 8},
        {[](auto) { return 0u; }, 32, 1, 64},
        {[](auto i) { return i % 4 * 32; }, 32, 4, 64},
        {[](auto i) { return i / 8 * 32; }, 32, 4, 64},
    };
    for (const Pattern& one : patterns) {
        EXPECT_EQ(passes_of(SharedAtomic::by_lane, one.word), one.by_lane);
        EXPECT_EQ(passes_of(SharedAtomic::by_word, one.word), one.by_word);
        EXPECT_EQ(passes_of(SharedAtomic::twice, one.word), one.twice);
    }
    const auto same = [](std::uint64_t) { return std::uint64_t{0}; };
    EXPECT_EQ(passes_of(SharedAtomic::by_lane, same, 0x1F), 5u);
    EXPECT_EQ(passes_of(SharedAtomic::twice, same, 0x1F), 10u);
}

}  // namespace
}  // namespace coalprof
