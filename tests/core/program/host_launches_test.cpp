#include "core/program/host_launches.h"

#include <gtest/gtest.h>

namespace coalprof {
namespace {

// As clang 14 prints "void f() { k<<<2, 32>>>(5); }" of k.cu, without what is not read.
constexpr std::string_view tree = R"({
  "kind": "TranslationUnitDecl",
  "inner": [
    {
      "kind": "FunctionDecl", "id": "1", "loc": {"file": "k.cu", "offset": 5}, "range": {},
      "name": "k", "mangledName": "_Z16__device_stub__ki"
    },
    {
      "kind": "FunctionDecl", "id": "2", "loc": {"offset": 90}, "range": {}, "name": "f", "mangledName": "_Z1fv",
      "inner": [{"kind": "CompoundStmt", "inner": [{"kind": "CUDAKernelCallExpr",
        "range": {"begin": {"offset": 101}}, "inner": [
          {"kind": "DeclRefExpr", "referencedDecl": {"id": "1", "name": "k"}},
          {"kind": "CallExpr", "inner": [{"kind": "DeclRefExpr"},
            {"kind": "IntegerLiteral", "value": "2"}, {"kind": "IntegerLiteral", "value": "32"},
            {"kind": "IntegerLiteral", "value": "0"}]},
          {"kind": "IntegerLiteral", "value": "5"}]}]}]
    }
  ]
})";

TEST(HostLaunches, have_the_device_s_symbol_the_place_and_the_numbers) {
    const auto all = launches_in(tree, "/cuda");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].kernel, "_Z1ki");
    EXPECT_EQ(all[0].file, "k.cu");
    EXPECT_EQ(all[0].place, 101u);
    EXPECT_EQ(all[0].grid, (HostTriple{2, 1, 1}));
    EXPECT_EQ(all[0].block, (HostTriple{32, 1, 1}));
    EXPECT_EQ(all[0].arguments.at(0), 5);
}

TEST(HostLaunches, of_a_header_of_cuda_are_none) { EXPECT_TRUE(launches_in(tree, "k.cu").empty()); }

TEST(HostLaunches, of_cut_trees_are_none_or_fewer) {
    for (std::size_t bytes = 0; bytes < tree.size(); ++bytes)
        EXPECT_LE(launches_in(tree.substr(0, bytes), "/cuda").size(), 1u);
}

}  // namespace
}  // namespace coalprof
