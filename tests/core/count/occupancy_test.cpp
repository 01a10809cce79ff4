#include "core/count/occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "core/count/truth.h"
#include "core/machine/machine.h"

namespace coalprof {
namespace {

using truth::rules_of;

using testing::ElementsAre;

std::string letters_of(const std::vector<Limiter>& limiters) {
    std::string letters;
    for (const Limiter limiter : limiters) letters += "WRSBb"[static_cast<std::size_t>(limiter)];
    return letters;
}

// Values of NVIDIA's cuda_occupancy.h: tests/data/rules/README.md.
TEST(Occupancy, equals_the_table_of_expected_values) {
    auto rows = truth::open_data("rules/occupancy.csv");
    std::string row;
    std::getline(rows, row);  // header
    int seen = 0;
    for (; std::getline(rows, row); ++seen) {
        std::ranges::replace(row, ',', ' ');
        std::istringstream fields(row);
        std::string cc, letters;
        KernelNeeds needs;
        std::uint32_t blocks = 0;
        fields >> cc >> needs.block >> needs.registers_per_thread >> needs.shared_bytes >> blocks >>
            letters;
        const Occupancy answer = occupancy(rules_of(cc), needs);
        EXPECT_EQ(answer.active_blocks, blocks) << row;
        EXPECT_EQ(letters_of(answer.limiters), letters) << row;
        EXPECT_EQ(answer.active_warps, blocks * ((needs.block + 31) / 32)) << row;
    }
    EXPECT_EQ(seen, 153);
}

// The classic example of 1.0: with blocks of 256 threads, 10 registers fill the multiprocessor and
// 11 cost a third of it. 8 warps x 32 x 10 = 2560 registers, a multiple of 256: 8192 / 2560 = 3
// blocks, 24 of 24 warps. 8 x 32 x 11 = 2816, 8192 / 2816 = 2 blocks, 16 of 24 warps.
TEST(Occupancy, of_tesla_falls_off_a_cliff_with_one_register) {
    const Occupancy ten = occupancy(rules_of("c870"), {.block = 256, .registers_per_thread = 10});
    EXPECT_EQ(ten.active_blocks, 3u);
    EXPECT_DOUBLE_EQ(ten.ratio(), 1.0);
    const Occupancy eleven =
        occupancy(rules_of("c870"), {.block = 256, .registers_per_thread = 11});
    EXPECT_EQ(eleven.active_blocks, 2u);
    EXPECT_DOUBLE_EQ(eleven.ratio(), 16.0 / 24.0);
    EXPECT_THAT(eleven.limiters, ElementsAre(Limiter::registers));
}

// Blocks of 96 threads are 3 warps, rounded up to 4: 4 x 32 x 16 = 2048 of 16384 registers, 8
// blocks; 4 KiB of shared memory allow 4.
TEST(Occupancy, of_tesla_rounds_warps_up_to_pairs) {
    const KernelNeeds needs{.block = 96, .registers_per_thread = 16};
    EXPECT_EQ(occupancy(rules_of("c1060"), needs).active_blocks, 8u);
    KernelNeeds with_shared = needs;
    with_shared.shared_bytes = 4096;
    EXPECT_EQ(occupancy(rules_of("c1060"), with_shared).active_blocks, 4u);
}

// 2.x: 21 x 32 = 672 registers a warp, rounded up to 704; 32768 / 704 = 46 warps, an even number;
// blocks of 8 warps: 5 of them, 40 of 48 warps.
TEST(Occupancy, of_fermi_gives_registers_to_warps) {
    const Occupancy answer =
        occupancy(rules_of("c2050"), {.block = 256, .registers_per_thread = 21});
    EXPECT_EQ(answer.active_blocks, 5u);
    EXPECT_EQ(answer.active_warps, 40u);
    EXPECT_THAT(answer.limiters, ElementsAre(Limiter::registers));
}

// Fermi divides 64 KiB: preferring L1 leaves 16 KiB of shared memory, one block of 12 KiB; unless a
// block needs more than that.
TEST(Occupancy, follows_the_carveout_as_long_as_one_block_fits) {
    KernelNeeds needs{.block = 128, .shared_bytes = 12 * 1024};
    EXPECT_EQ(occupancy(rules_of("c2050"), needs).active_blocks, 4u);
    needs.shared_percent = 0;
    EXPECT_EQ(occupancy(rules_of("c2050"), needs).active_blocks, 1u);
    EXPECT_EQ(occupancy(rules_of("c2050"), needs).l1_kib, 48u);
    needs.shared_bytes = 20 * 1024;
    EXPECT_EQ(occupancy(rules_of("c2050"), needs).active_blocks, 2u);
    // On an H200 the smallest carveout that holds 20 KiB + 1 KiB is 32 KiB.
    EXPECT_EQ(occupancy(rules_of("h200"), needs).shared_kib, 32u);
    EXPECT_EQ(occupancy(rules_of("h200"), needs).active_blocks, 1u);
}

TEST(Occupancy, says_why_not_one_block_fits) {
    const auto why = [](std::string_view machine, const KernelNeeds& needs) {
        const Occupancy answer = occupancy(rules_of(machine), needs);
        EXPECT_EQ(answer.active_blocks, 0u);
        EXPECT_DOUBLE_EQ(answer.ratio(), 0.0);
        return answer.impossible;
    };
    EXPECT_EQ(why("h200", {.block = 1025}), "a block has 1025 threads, the most is 1024");
    EXPECT_EQ(why("c870", {.block = 513}), "a block has 513 threads, the most is 512");
    EXPECT_EQ(why("h200", {.block = 0}), "a block has at least one thread");
    EXPECT_EQ(why("h200", {.registers_per_thread = 256}),
              "a thread uses 256 registers, the most is 255");
    EXPECT_EQ(why("h200", {.block = 1024, .registers_per_thread = 65}),
              "a block takes 73728 registers, the most is 65536");
    EXPECT_EQ(why("h200", {.shared_bytes = 228 * 1024}),
              "a block uses 233472 bytes of shared memory, the most is 232448 bytes");
    EXPECT_EQ(why("h200", {.shared_bytes = ~0ull}),
              "a block uses 18446744073709551615 bytes of shared memory, the most is 232448 bytes");
    EXPECT_FALSE(why("h200", {.barriers = 1000}).empty());
    EXPECT_TRUE(occupancy(rules_of("h200"), {}).impossible.empty());
}

// As many as there may be are allowed: 64 registers of 1024 threads are all 65536 of a block.
TEST(Occupancy, allows_the_most_of_everything) {
    for (const KernelNeeds& most : {KernelNeeds{.block = 1024, .registers_per_thread = 64},
                                    {.block = 32, .registers_per_thread = 255},
                                    {.block = 32, .shared_bytes = 227 * 1024},
                                    {.block = 32, .barriers = 64}}) {
        EXPECT_EQ(occupancy(rules_of("h200"), most).impossible, "");
        EXPECT_GT(occupancy(rules_of("h200"), most).active_blocks, 0u);
    }
    // 3.2 has 64 K registers, of which a block may have half: 32 of 1024 threads.
    const auto blocks = [](std::uint32_t registers) {
        return occupancy(rules_of("3.2"), {.block = 1024, .registers_per_thread = registers})
            .active_blocks;
    };
    EXPECT_EQ(blocks(32), 2u);
    EXPECT_EQ(blocks(33), 0u);
    // 1.x gives shared memory in units of 512 bytes: 2561 bytes are 3072, of 16384.
    EXPECT_EQ(occupancy(rules_of("c870"), {.block = 32, .shared_bytes = 2561}).active_blocks, 5u);
}

}  // namespace
}  // namespace coalprof
