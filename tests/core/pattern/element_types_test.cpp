// Types of elements: their names here and in CUDA, and what atomics do with them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/pattern/builder.h"
#include "core/pattern/built.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

TEST(ElementTypes, have_the_width_that_their_name_says) {
    for (const std::string_view name : element_type_list()) {
        const std::string text(name);
        const std::size_t digits = text.find_first_of("0123456789");
        const std::size_t times = text.find('x');
        const unsigned bits = static_cast<unsigned>(std::stoul(text.substr(digits)));
        const unsigned count =
            times == text.npos ? 1 : static_cast<unsigned>(std::stoul(text.substr(times + 1)));
        EXPECT_EQ(bytes_of(*find_element_type(name)), bits / 8 * count) << name;
        EXPECT_EQ(name_of(*find_element_type(name)), name);
    }
}

TEST(ElementTypes, are_known_by_the_names_of_cuda) {
    const auto name_here = [](const char* cuda) { return name_of(*find_element_type(cuda)); };
    EXPECT_EQ(name_here("float"), "f32");
    EXPECT_EQ(name_here("double"), "f64");
    EXPECT_EQ(name_here("int"), "s32");
    EXPECT_EQ(name_here("unsigned"), "u32");
    EXPECT_EQ(name_here("char"), "s8");
    EXPECT_EQ(name_here("int64_t"), "s64");
    EXPECT_EQ(name_here("half"), "f16");
    EXPECT_EQ(name_here("__half2"), "f16x2");
    EXPECT_EQ(name_here("__nv_bfloat16"), "bf16");
    EXPECT_EQ(name_here("uchar4"), "u8x4");
    EXPECT_EQ(name_here("float4"), "f32x4");
    EXPECT_EQ(name_here("int4"), "u32x4");
    for (const char* none : {"", "float3", "f32 ", "Float", "x", "int "})
        EXPECT_FALSE(find_element_type(none)) << none;
}

TEST(ElementTypes, are_suggested_for_words_that_are_none) {
    EXPECT_NE(hint_for_element_type("flaot").find("'float'"), std::string::npos);
    EXPECT_NE(hint_for_element_type("haff").find("half"), std::string::npos);
    for (const char* of_three : {"half3", "float3", "int3", "f32x3"})
        EXPECT_NE(hint_for_element_type(of_three).find("a[i*3"), std::string::npos) << of_three;
    EXPECT_NE(hint_for_element_type("rgba").find("bf16x2"), std::string::npos);
}

// Atomic addition: integers of 4 and 8 bytes, signed or not, and f32 and f64.
TEST(ElementTypes, add_atomically_where_the_hardware_does) {
    std::vector<std::string> taken;
    for (const std::string_view name : element_type_list()) {
        try {
            built({.pattern = "offset", .op = Op::atomic, .type = *find_element_type(name)});
            taken.emplace_back(name);
        } catch (const UsageError&) {
        }
    }
    EXPECT_EQ(taken, (std::vector<std::string>{"u32", "u64", "s32", "s64", "f32", "f64"}));
}

}  // namespace
}  // namespace coalprof
