// Loads that come to where others were before, and what L2 has lost of it by then.
#include <gtest/gtest.h>

#include "core/formula/formula.h"
#include "core/traffic/dram_traffic.h"
#include "core/traffic/launches.h"
#include "core/traffic/reach.h"

namespace coalprof {
namespace {

Program program_of_text(const std::string& text, ElementType type, std::uint64_t size_bytes,
                        Op op = Op::load, std::uint32_t block = 256) {
    return make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {})),
                                {.op = op,
                                 .type = type,
                                 .shape = {.size_bytes = size_bytes, .block = block},
                                 .values = {}});
}

using Lags = std::vector<std::optional<std::uint64_t>>;
Lags lags_of_loads(const std::string& text) {
    const Program program = program_of_text(text, ElementType::f32, 4 << 20);
    std::vector<const Instruction*> loads;
    for (const Instruction& one : program.instructions)
        if (one.kind == AccessKind::load) loads.push_back(&one);
    return lags_of(program, loads);
}

// The place to the right is new; the middle comes there W threads later, the left W after it.
TEST(Followers, of_a_stencil_come_its_width_behind_one_another) {
    EXPECT_EQ(lags_of_loads("load: a[max(i-3463,0)]; load: a[i]; load: a[min(i+3463,n-1)]"),
              (Lags{3463, 3463, std::nullopt}));
}

// Rows of 1000 elements lie 1024 apart: the row above is 1000 threads away. The same load twice is
// one that follows at once.
TEST(Followers, of_padded_rows_come_a_row_of_threads_behind) {
    EXPECT_EQ(lags_of_loads("load: a[i/1000*1024 + i%1000]; load: a[i/1000*1024 + i%1000 + 1024]"),
              (Lags{1000, std::nullopt}));
    EXPECT_EQ(lags_of_loads("load: a[i]; load: a[i]"), (Lags{std::nullopt, 0}));
}

TEST(Followers, are_none_where_loads_share_no_order) {
    EXPECT_EQ(lags_of_loads("load: a[2*i]; load: a[2*i+1]"), (Lags{std::nullopt, std::nullopt}));
    EXPECT_EQ(lags_of_loads("load: a[i]; load: a[hash(i, 1000000)]"),
              (Lags{std::nullopt, std::nullopt}));
}

double read_bytes(const Program& program) {
    return dram_traffic(reaches_of(program),
                        {.threads = static_cast<double>(program.threads), .l2_bytes = 50 << 20},
                        shares_of_h200())
        .read.bytes;
}

// Measured on an H100, 96 MiB of f64: 102.3 MB. What three places share is fetched once.
TEST(DramTraffic, of_a_stencil_is_its_array_once) {
    EXPECT_NEAR(read_bytes(program_of_text("load: a[max(i-3463,0)]; load: a[i]; "
                                           "load: a[min(i+3463,n-1)]; store: b[i]",
                                           ElementType::f64, 96 << 20)),
                102.3e6, 0.03 * 102.3e6);
}

// 256 MiB, and as many 128 MiB further on: 384 MiB in all. When the first load comes to the 128 MiB
// that both have in common, L2 holds nothing of what the second one loaded there.
TEST(DramTraffic, of_followers_from_afar_is_fetched_again) {
    EXPECT_NEAR(
        read_bytes(program_of_text("load: a[i]; load: a[i+33554432]", ElementType::f32, 256 << 20)),
        512.0 * (1 << 20), 1 << 20);
}

// Measured on an H200: 3.19 GB are read, each of 1,572,864 places of 64 bytes again and again. Of
// windows at even distances all would touch the same few.
TEST(Reach, of_products_is_not_told_from_windows_at_even_distances) {
    const Program program = program_of_text("(i*67827) % n", ElementType::u16, 96 << 20);
    const std::vector<ArrayReach> arrays = reaches_of(program);
    EXPECT_NEAR(arrays.front().loads.units[1], 1'572'864, 0.01 * 1'572'864);
}

}  // namespace
}  // namespace coalprof
