// Blocks and grids as they are typed.
#include "core/pattern/dimensions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.h"
#include "core/text/refusal.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;

TEST(Dimensions, are_read_with_x_first) {
    EXPECT_EQ(parse_block("256"), (Dimensions{256, 1, 1}));
    EXPECT_EQ(parse_block("32x8"), (Dimensions{32, 8, 1}));
    EXPECT_EQ(parse_block("8x2x64"), (Dimensions{8, 2, 64}));
    EXPECT_EQ(parse_grid("2147483647x65535x65535").size, (Dimensions{2147483647, 65535, 65535}));
}

TEST(Dimensions, are_written_as_they_are_read) {
    for (const char* text : {"1", "256", "32x8", "1x8", "8x8x4", "8x1x4", "1x1x2"})
        EXPECT_EQ(text_of(parse_block(text)), text);
    EXPECT_EQ(text_of(parse_block("32x1x1")), "32");
}

struct Refused {
    const char* text;
    std::size_t caret;
    const char* fact;
};

TEST(Dimensions, of_blocks_are_refused_where_no_gpu_takes_them) {
    for (const auto& [text, caret, fact] : {Refused{"", 0, "number"},
                                            {"x", 0, "number"},
                                            {"0", 0, "1 to 1024"},
                                            {"16x", 3, "number"},
                                            {"16x0", 3, "1 to 1024"},
                                            {"x16", 0, "number"},
                                            {"2048", 0, "2048"},
                                            {"64x32", 0, "2048"},
                                            {"2x2x65", 4, "1 to 64 "},
                                            {"16x16x2x2", 7, "three"},
                                            {"16 ", 2, "'x'"},
                                            {"16*16", 2, "'x'"},
                                            {"99999999999999999999", 0, "1 to 1024"},
                                            {"16x99999999999999999999", 3, "1 to 1024"}}) {
        const UsageError error = usage_error_of([&] { parse_block(text); });
        EXPECT_EQ(error.caret(), caret) << text;
        EXPECT_THAT(error.what(), HasSubstr(fact)) << text;
    }
}

TEST(Dimensions, of_grids_are_refused_with_both_numbers) {
    for (const auto& [text, caret, fact] : {Refused{"2147483648", 0, "2147483647"},
                                            {"64x65536", 3, "1 to 65535 blocks along y, not 65536"},
                                            {"1x1x65536", 4, "along z, not 65536"},
                                            {"64x0", 3, "not 0"},
                                            {"-1", 0, "number"}}) {
        const UsageError error = usage_error_of([&] { parse_grid(text); });
        EXPECT_EQ(error.caret(), caret) << text;
        EXPECT_THAT(error.what(), HasSubstr(fact)) << text;
    }
}

}  // namespace
}  // namespace coalprof
