#include "core/program/debug_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/program/module.h"

namespace coalprof {
namespace {

using testing::ElementsAre;

// Tags and forms by DWARF 4, 7.5.4: 17 a unit, 46 a function (linkage name in an old number), 5 a
// parameter, 15 a pointer, 36 a base type, 19 a structure, 13 a member.
constexpr std::string_view abbreviations =
    ".b8 1,17,1,0,0, 2,46,1,135,64,8,3,8,0,0, 3,5,0,3,8,73,19,0,0, 4,15,0,73,19,0,0\n"
    ".b8 5,36,0,3,8,11,11,0,0, 6,19,1,3,8,0,0, 7,13,0,3,8,73,19,56,10,0,0, 0\n";
// At 12 "float", at 20 its pointer, at 25 struct P { float a, b; } with its members, at 49 the
// function _Z1kPf1P, k(float* x, P p).
constexpr std::string_view information =
    ".b32 72\n.b8 2,0\n.b32 .debug_abbrev\n.b8 8,1\n.b8 5,102,108,111,97,116,0,4\n.b8 4\n.b32 12\n"
    ".b8 6,80,0, 7,97,0\n.b32 12\n.b8 2,35,0, 7,98,0\n.b32 12\n.b8 2,35,4, 0\n"
    ".b8 2,95,90,49,107,80,102,49,80,0,107,0\n.b8 3,120,0\n.b32 20\n.b8 3,112,0\n.b32 25\n.b8 0\n";

std::string ptx_with(std::string_view information) {
    return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry _Z1kPf1P(.param .u64 a, "
           ".param .align 4 .b8 b[8]) {\nret;\n}\n.section\t.debug_abbrev\n{\n" +
           std::string(abbreviations) + "}\n.section\t.debug_info\n{\n" + std::string(information) +
           "}\n";
}

TEST(DebugNames, have_parameters_and_members_of_structures) {
    const auto known = parameters_in_debug(ptx_with(information));
    ASSERT_EQ(known.size(), 1u);
    const std::vector<SourceParameter>& all = known.at("_Z1kPf1P");
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name + " " + all[0].type, "x float*");
    EXPECT_EQ(all[1].name + " " + all[1].type, "p P");
    ASSERT_EQ(all[1].members.size(), 2u);
    EXPECT_EQ(all[1].members[1].name, "b");
    EXPECT_EQ(all[1].members[1].offset, 4u);
}

TEST(DebugNames, go_to_the_functions_of_the_module) {
    const PtxModule module = read_module(ptx_with(information), "k.ptx");
    EXPECT_EQ(module.functions.front().parameters[0].source.name, "x");
}

// Whatever was cut off, nothing is read beyond the end.
TEST(DebugNames, of_cut_information_are_none_or_fewer) {
    for (std::size_t bytes = 0; bytes < information.size(); ++bytes)
        EXPECT_LE(parameters_in_debug(ptx_with(information.substr(0, bytes))).size(), 1u);
}

}  // namespace
}  // namespace coalprof
