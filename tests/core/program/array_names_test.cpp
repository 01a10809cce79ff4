#include "core/program/array_names.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

ArrayNames after(std::initializer_list<const char*> statements) {
    ArrayNames names({"k_param_0", "k_param_1", "k_param_2", "x"});
    for (const char* one : statements) names.take(one);
    return names;
}

TEST(ArrayNames, follow_a_pointer_from_its_parameter_to_the_access) {
    const ArrayNames names =
        after({"ld.param.u64 %rd1, [k_param_1]", "ld.param.u64 %rd2, [x]",
               "cvta.to.global.u64 %rd3, %rd1", "mul.wide.s32 %rd4, %r1, 4",
               "add.s64 %rd5, %rd3, %rd4", "mad.wide.s32 %rd6, %r1, 4, %rd2",
               "@%p1 add.s64 %rd5, %rd5, 128", "selp.b64 %rd7, %rd5, %rd6, %p1"});
    EXPECT_EQ(names.array_at("%rd5"), "arg1");
    EXPECT_EQ(names.array_at("%rd6"), "x");
    EXPECT_EQ(names.array_at("%rd4"), "");
    EXPECT_EQ(names.array_at("%rd7"), "arg1 or x");  // which of the two, only a run tells
}

// A number of 64 bits is a parameter as well; nvcc makes a global pointer of pointers alone.
TEST(ArrayNames, take_no_number_for_a_pointer_where_both_are_added) {
    const ArrayNames names =
        after({"ld.param.u64 %rd1, [k_param_0]", "ld.param.u64 %rd2, [k_param_1]",
               "cvta.to.global.u64 %rd3, %rd1", "add.s64 %rd4, %rd2, %rd3"});
    EXPECT_EQ(names.array_at("%rd4"), "arg0");
}

TEST(ArrayNames, tell_members_of_a_structure_and_pointers_that_memory_holds) {
    const ArrayNames names =
        after({"ld.param.v2.u64 {%rd1, %rd2}, [k_param_2+8]", "ld.param.u64 %rd3, [k_param_0]",
               "ld.global.u64 %rd4, [%rd3+16]"});
    EXPECT_EQ(names.array_at("%rd1"), "arg2+8");
    EXPECT_EQ(names.array_at("%rd2"), "arg2+16");
    EXPECT_EQ(names.array_at("%rd4"), "*arg0");
}

TEST(ArrayNames, name_variables_as_the_source_does) {
    const ArrayNames names = after({"mov.u32 %r1, _ZZ9transposePfE4tile", "shl.b32 %r2, %r3, 2",
                                    "add.s32 %r4, %r1, %r2", "xor.b32 %r5, %r4, 64"});
    EXPECT_EQ(names.array_at("%r5"), "tile");
    EXPECT_EQ(names.array_at("global_smem"), "global_smem");
    EXPECT_EQ(names.array_at("128"), "");
}

TEST(ArrayNames, are_those_of_the_source_where_it_is_known) {
    const std::string source =
        "// mm(int a)\ntemplate <int N> __global__ void mm(const float* A,\n"
        "    Pair<float, int> pair, float B[]) {}\n";
    const auto names = parameters_in_text(source, "mm");
    EXPECT_EQ(array_in_source("arg0", names), "A");
    EXPECT_EQ(array_in_source("*arg1+8", names), "*pair+8");
    EXPECT_EQ(array_in_source("arg2", names), "B");
    EXPECT_EQ(array_in_source("arg3", names), "arg3");
    EXPECT_EQ(array_in_source("tile", names), "tile");
    EXPECT_EQ(array_in_source("arg0 or arg2", names), "A or B");
}

// A blank before the bracket, and two functions of one name.
TEST(ArrayNames, of_a_text_are_those_of_the_function_with_the_symbol_s_pointers) {
    const std::string source =
        "__global__ void update (float* x, float* sum, int n);\n"
        "__global__ void update(float* x, int n, float s[4]) {}\n";
    const auto name = [&](const char* symbol) {
        return array_in_source("arg1", parameters_in_text(source, symbol));
    };
    EXPECT_EQ(name("_Z6updatePfS_i"), "sum");
    EXPECT_EQ(name("_Z6updatePfiS_"), "n");
    EXPECT_EQ(name("_Z6updatePfii"), "arg1");
}

}  // namespace
}  // namespace coalprof
