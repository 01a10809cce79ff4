#include "core/count/footprint.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fewer_cases.h"

namespace coalprof {
namespace {

std::uint64_t counted(const std::vector<Formula>& formulas, std::uint32_t width,
                      std::uint64_t threads, std::uint64_t block) {
    std::set<std::uint64_t> blocks;
    for (const Formula& formula : formulas) {
        for (std::uint64_t i = 0; i < threads; ++i) {
            std::uint64_t element = 0;
            evaluate(formula, i, 1, &element);
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

TEST(Footprint, of_runs_is_counted_as_a_set_would) {
    for (const std::uint32_t width : {1u, 4u, 8u, 16u}) {
        for (const std::uint64_t block : {32u, 64u, 128u}) {
            for (const std::uint64_t threads : {1u, 31u, 32u, 257u, 2048u}) {
                for (std::uint64_t k = 0; k < 70; k += fewer_cases) {
                    const std::vector<Formula> formulas{Offset{k}, Stride{k, 0}, Stride{k, 3},
                                                        Groups{k + 1},
                                                        Rows{k + 1, (k + 32) / 32 * 32, k + 5}};
                    for (const Formula& formula : formulas) {
                        if (!runs_of(formula, width, threads)) continue;
                        ASSERT_EQ(*touched({formula}, width, threads, block),
                                  counted({formula}, width, threads, block))
                            << formula.index() << " k " << k << " width " << width << " block "
                            << block << " threads " << threads;
                    }
                }
            }
        }
    }
}

TEST(Footprint, of_a_permuted_warp_is_that_of_its_elements_in_order) {
    Permute reversed;
    for (Index lane = 0; lane < 32; ++lane) reversed.set(lane, 31 - lane);
    EXPECT_EQ(touched({reversed}, 4, 1 << 20, 32), (1u << 20) * 4 / 32);
}

// a[i*k] as a user's formula.
struct UserStride : CustomFormula {
    std::uint64_t stride;
    explicit UserStride(std::uint64_t k) : stride(k) {}
    void evaluate(std::uint64_t first, std::uint32_t count,
                  std::uint64_t* elements) const override {
        for (std::uint32_t k = 0; k < count; ++k) elements[k] = (first + k) * stride;
    }
    std::optional<Period> period() const override { return Period{1, stride}; }
    std::string cuda_source(const std::string&) const override { return {}; }
    std::string text() const override { return "i*k"; }
};

TEST(Footprint, of_a_users_formula_is_that_of_the_built_in_pattern) {
    const Formula user = std::make_shared<UserStride>(3);
    EXPECT_EQ(touched({user}, 4, 1 << 30, 32), touched({Stride{3}}, 4, 1 << 30, 32));
}

// A stencil reads three neighbours: their union is the row and its two borders.
TEST(Footprint, of_several_formulas_on_one_array_is_their_union) {
    const std::vector<Formula> stencil{Offset{0}, Offset{1}, Offset{2}};
    EXPECT_EQ(touched(stencil, 4, 2048, 32), counted(stencil, 4, 2048, 32));
    // Long launches go on as they began: n * 4 / 32 sectors and one at the end.
    const auto sectors = touched(stencil, 4, 1 << 24, 32);
    ASSERT_TRUE(sectors);
    EXPECT_NEAR(static_cast<double>(*sectors), (1 << 24) * 4.0 / 32, 2);
}

TEST(Footprint, is_not_told_where_threads_far_apart_share_blocks) {
    // Column by column through 1024 rows: neighbours in a row are 1024 threads apart, and 16
    // columns share each 64-byte block.
    EXPECT_FALSE(touched({Columns{1024, 1024}}, 4, 1 << 20, 64));
    EXPECT_FALSE(touched({Scatter{1 << 20, 1}}, 4, 1 << 20, 64));
}

TEST(Footprint, of_a_short_irregular_launch_is_walked) {
    const std::vector<Formula> scatter{Scatter{1 << 24, 1}};
    EXPECT_EQ(touched(scatter, 4, 4096, 32), counted(scatter, 4, 4096, 32));
}

TEST(Footprint, of_nothing_is_nothing) {
    EXPECT_EQ(blocks_of(ByteRuns{0, 0, 0, 1}, 32), 0u);
    EXPECT_EQ(blocks_of(ByteRuns{0, 4, 0, 0}, 32), 0u);
}

}  // namespace
}  // namespace coalprof
