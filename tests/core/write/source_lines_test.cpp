#include "core/write/source_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace coalprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string numbered(int lines) {
    std::string text;
    for (int line = 1; line <= lines; ++line) text += std::to_string(line) + "\n";
    return text;
}

// Four lines stand on either side of a counted one.
TEST(SourceBlocks, show_what_stands_around_a_line_and_fold_the_rest) {
    const auto blocks = source_blocks(numbered(100), {10, 18, 60});
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].first, 6U);  // 6..14 and 14..22 meet
    EXPECT_EQ(blocks[0].lines.size(), 17U);
    EXPECT_EQ(blocks[0].lines.front(), "6");
    EXPECT_EQ(blocks[0].lines.back(), "22");
    EXPECT_EQ(blocks[1].first, 56U);
    EXPECT_EQ(blocks[1].lines.size(), 9U);
}

TEST(SourceBlocks, end_with_the_text) {
    const auto blocks = source_blocks("a\nb", {1, 2, 99, UINT64_MAX});
    ASSERT_EQ(blocks.size(), 1U);
    EXPECT_THAT(blocks[0].lines, ElementsAre("a", "b"));
    EXPECT_THAT(source_blocks("", {1}), IsEmpty());
}

TEST(SourceBlocks, are_safe_to_show) {
    const auto blocks = source_blocks("\tx\r\n\x1b[31m\xff\n" + std::string(5000, 'w') + "\n", {2});
    ASSERT_EQ(blocks.size(), 1U);
    ASSERT_EQ(blocks[0].lines.size(), 3U);
    EXPECT_EQ(blocks[0].lines[0], "    x");
    EXPECT_EQ(blocks[0].lines[1], "\\x1b[31m\\xff");
    EXPECT_EQ(blocks[0].lines[2], std::string(300, 'w') + "...");
}

ResultColumns lines_of(const std::vector<std::pair<std::string, std::string>>& lines_and_files) {
    ResultColumns result;
    result.head.sweep.pattern = "run";
    result.parameters = {{"line", {}}, {std::string(source_file_parameter), {}}};
    for (const auto& [line, file] : lines_and_files) {
        result.names.push_back(line + " ld.global.f32");
        result.parameters[0].values.push_back(line.empty() ? Value{} : Value(line));
        result.parameters[1].values.push_back(file.empty() ? Value{} : Value(file));
    }
    return result;
}

TEST(SourceLines, belong_to_files_and_stand_in_order) {
    const auto json = source_lines_json(lines_of({{"b.cu:3", "/1/b.cu"},
                                                  {"a.cu:1", "/1/a.cu"},
                                                  {"b.cu:1", "/1/b.cu"},
                                                  {"b.cu:1", "/2/b.cu"},
                                                  {"b.cu:1", "/1/b.cu"}}),
                                        [](const std::string& file) -> SourceText {
                                            if (file == "/1/b.cu")
                                                return {"one <&>\ntwo\nthree\n", {}};
                                            return {{}, "not there"};
                                        });
    EXPECT_EQ(json, R"([{"name":"b.cu","file":"/1/b.cu","blocks":[[1,["one <&>","two","three"]]],)"
                    R"("points":[[1,2],[1,4],[3,0]]},)"
                    R"({"name":"a.cu","file":"/1/a.cu","why_not":"not there","points":[[1,1]]},)"
                    R"({"name":"b.cu","file":"/2/b.cu","why_not":"not there","points":[[1,3]]}])");
}

TEST(SourceLines, of_a_file_that_became_shorter_are_not_shown) {
    const auto shown = [](const std::string& line) {
        return source_lines_json(lines_of({{line, "/b.cu"}}), [](const std::string&) -> SourceText {
            return {"one\ntwo\nthree", {}};
        });
    };
    EXPECT_THAT(shown("b.cu:3"), HasSubstr("three"));
    EXPECT_THAT(shown("b.cu:4"), Not(HasSubstr("three")));
    EXPECT_THAT(shown("b.cu:4"), HasSubstr("why_not"));
}

TEST(SourceLines, that_are_none_stand_without_a_file) {
    for (const char* line : {"", "b.cu", "b.cu:", "b.cu:x", "b.cu:99999999999999999999999"})
        EXPECT_THAT(source_lines_json(lines_of({{line, ""}}), {}),
                    HasSubstr(R"([{"name":"","file":"")"))
            << line;
}

TEST(SourceLines, are_those_of_programs) {
    ResultColumns sweep = lines_of({{"b.cu:3", "/b.cu"}});
    sweep.head.sweep.pattern = "offset";
    EXPECT_EQ(source_lines_json(sweep, {}), "");
    ResultColumns kernels;
    kernels.head.sweep.pattern = "run";
    EXPECT_EQ(source_lines_json(kernels, {}), "");
}

// What is large is left out, and said.
TEST(SourceLines, of_many_long_lines_have_an_end) {
    std::vector<std::pair<std::string, std::string>> lines;
    for (int line = 1; line <= 5000; ++line)
        lines.emplace_back("b.cu:" + std::to_string(line), "/b.cu");
    std::string text;
    for (int line = 1; line <= 5000; ++line) text += std::string(400, 'w') + "\n";
    const auto json = source_lines_json(lines_of(lines), [&](const std::string&) {
        return SourceText{text, {}};
    });
    EXPECT_THAT(json, HasSubstr("why_not"));
    EXPECT_LT(json.size(), 200'000U);
}

}  // namespace
}  // namespace coalprof
