// What --array and --arg say of an array: one reader for both.
#include "core/pattern/array_text.h"

#include <gtest/gtest.h>

#include "core/text/error.h"

namespace coalprof {
namespace {

ArrayText array_of(std::string_view text) { return read_array_text(text, "--arg x", ""); }

TEST(ArrayText, has_the_type_extents_and_contents_that_its_text_says) {
    const ArrayText rows = array_of("f32[2048, 4][3]=random:7");
    EXPECT_EQ(rows.type, "f32");
    EXPECT_EQ(rows.extents, (std::vector<std::uint64_t>{2048, 4, 3}));
    EXPECT_EQ(rows.elements(), 2048u * 4 * 3);
    EXPECT_EQ(rows.rule, ArrayRule::random);
    EXPECT_EQ(rows.seed, 7u);
    EXPECT_EQ(array_of("@col.npy").file, "col.npy");
    EXPECT_EQ(array_of("i32[9]=@raw.bin").file, "raw.bin");
    EXPECT_FALSE(array_of("f64[8]").has_contents());
    EXPECT_EQ(element_type_of_array("i32"), ElementType::s32);
}

TEST(ArrayText, that_makes_no_sense_is_refused) {
    for (const char* text : {"f32[8", "f32[8]iota", "f32[0]", "f32[8]=zero", "f32[8]=random:x", "@",
                             "f32[274877906944][2]"})
        EXPECT_THROW(array_of(text), UsageError) << text;
}

}  // namespace
}  // namespace coalprof
