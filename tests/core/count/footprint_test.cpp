#include "core/count/footprint.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/formula/index_of.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

std::uint64_t counted(const std::vector<Formula>& formulas, std::uint32_t width,
                      std::uint64_t threads, std::uint64_t block) {
    std::set<std::uint64_t> blocks;
    for (const Formula& formula : formulas) {
        for (std::uint64_t i = 0; i < threads; ++i) {
            std::uint64_t element = 0;
            formula->evaluate(i, 1, &element);
            if (element != idle_lane) blocks.insert(element * width / block);
        }
    }
    return blocks.size();
}

std::optional<std::uint64_t> touched(const std::vector<Formula>& formulas, std::uint32_t width,
                                     std::uint64_t threads, std::uint64_t block) {
    std::vector<Instruction> instructions;
    for (const Formula& formula : formulas)
        instructions.push_back({.width_bytes = width, .formula = formula});
    return blocks_of(instructions, threads, block);
}

// Shifted, spread, downwards, shared by neighbours, reordered within warps, and in rows with idle
// lanes.
std::vector<Formula> with_runs(std::uint64_t k, std::uint64_t threads) {
    std::vector<Formula> formulas;
    for (const std::string& text :
         {fmt::format("i + {}", k), fmt::format("i*{}", k), fmt::format("i*{} + 3", k),
          fmt::format("(n - 1 - i)*{}", k % 34), fmt::format("n - 1 - i + {}", k),
          fmt::format("i/{}", k + 1), fmt::format("i - i%32 + (i%32 ^ {})", k % 32),
          fmt::format("i/{0}*{1} + i%{0} if i%{0} < {2}", (k + 32) / 32 * 32, k + 5, k + 1)})
        formulas.push_back(index_of(text, threads));
    return formulas;
}

TEST(Footprint, of_runs_is_counted_as_a_set_would) {
    unsigned with = 0;
    for (const std::uint64_t threads : {1u, 31u, 32u, 257u, 2048u})
        for (std::uint64_t k = 0; k < 70; k += fewer_cases)
            for (const Formula& formula : with_runs(k, threads))
                for (const std::uint32_t width : {1u, 4u, 8u, 16u})
                    for (const std::uint64_t block : {32u, 64u, 128u}) {
                        if (!runs_of({.width_bytes = width, .formula = formula}, threads)) continue;
                        ++with;
                        ASSERT_EQ(*touched({formula}, width, threads, block),
                                  counted({formula}, width, threads, block))
                            << formula->text() << " width " << width << " block " << block
                            << " threads " << threads;
                    }
    EXPECT_GT(with, 12000 / fewer_cases);  // of 25,200
}

TEST(Footprint, of_a_permuted_warp_is_that_of_its_elements_in_order) {
    EXPECT_EQ(touched({index_of("i - i%32 + (31 - i%32)")}, 4, 1 << 20, 32), (1u << 20) * 4 / 32);
}

// A stencil reads three neighbours: their union is the row and its two borders.
TEST(Footprint, of_several_formulas_on_one_array_is_their_union) {
    const std::vector<Formula> stencil{index_of("i"), index_of("i + 1"), index_of("i + 2")};
    EXPECT_EQ(touched(stencil, 4, 2048, 32), counted(stencil, 4, 2048, 32));
    // Long launches go on as they began: n * 4 / 32 sectors and one at the end.
    const auto sectors = touched(stencil, 4, 1 << 24, 32);
    ASSERT_TRUE(sectors);
    EXPECT_NEAR(static_cast<double>(*sectors), (1 << 24) * 4.0 / 32, 2);
}

TEST(Footprint, is_not_told_where_threads_far_apart_share_blocks) {
    // Column by column through 1024 rows: neighbours in a row are 1024 threads apart, and 16
    // columns share each 64-byte block.
    EXPECT_FALSE(touched({index_of("i%1024*1024 + i/1024")}, 4, 1 << 20, 64));
    EXPECT_FALSE(touched({index_of("hash(i, 1048576)")}, 4, 1 << 20, 64));
}

TEST(Footprint, of_a_short_irregular_launch_is_walked) {
    const std::vector<Formula> scatter{index_of("hash(i, 16777216)", 4096)};
    EXPECT_EQ(touched(scatter, 4, 4096, 32), counted(scatter, 4, 4096, 32));
}

TEST(Footprint, of_nothing_is_nothing) {
    EXPECT_EQ(blocks_of(ByteRuns{0, 0, 0, 1}, 32), 0u);
    EXPECT_EQ(blocks_of(ByteRuns{0, 4, 0, 0}, 32), 0u);
}

}  // namespace
}  // namespace coalprof
