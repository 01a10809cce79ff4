#include "core/write/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "core/text/error.h"
#include "core/text/refusal.h"
#include "test_data.h"

namespace coalprof {
namespace {

using testing::HasSubstr;

std::string refusal_of_path(std::string_view path) {
    const UsageError error = usage_error_of([&] { format_of_path(path); });
    return std::string(error.what()) + " | " + error.hint();
}

TEST(Formats, names_and_suffixes_are_each_used_once) {
    std::set<std::string_view> seen;
    for (const Format& format : all_formats()) {
        EXPECT_TRUE(seen.insert(format.name).second) << format.name;
        for (const std::string_view suffix : format.suffixes)
            EXPECT_TRUE(suffix.empty() || seen.insert(suffix).second) << suffix;
    }
}

// The table of docs/result-file.md, written where COALPROF_UPDATE_DOCS is set.
TEST(Formats, are_listed_in_the_guide) {
    std::string table = "| format | suffixes | for |\n|---|---|---|\n";
    for (const Format& format : all_formats()) {
        std::string suffixes;
        for (const std::string_view suffix : format.suffixes)
            if (!suffix.empty())
                suffixes.append(suffixes.empty() ? "`" : ", `").append(suffix).append("`");
        table.append("| `").append(format.name).append("` | ").append(suffixes).append(" | ");
        table.append(format.purpose).append(" |\n");
    }
    const std::string path = test_data_folder() + "/../../docs/result-file.md";
    std::ostringstream read;
    read << std::ifstream(path).rdbuf();
    std::string guide = read.str();
    if (std::getenv("COALPROF_UPDATE_DOCS") != nullptr) {
        const std::size_t begin = guide.find("| format |");
        guide.replace(begin, guide.find("\n\n", begin) + 1 - begin, table);
        std::ofstream(path) << guide;
    }
    EXPECT_THAT(guide, HasSubstr("\n\n" + table + "\n"));
}

TEST(Formats, are_found_by_name) {
    for (const Format& format : all_formats())
        EXPECT_EQ(find_format(format.name).name, format.name);
    EXPECT_EQ(default_format().name, "table");
}

TEST(Formats, the_case_of_a_suffix_does_not_matter) {
    EXPECT_EQ(format_of_path("x.JSON").name, "json");
    EXPECT_EQ(format_of_path("Results.Csv").name, "csv");
    EXPECT_EQ(format_of_path("plot.SVG").name, "svg");
}

TEST(Formats, the_suffix_of_a_file_picks_its_format) {
    EXPECT_EQ(format_of_path("a/b.c/result.json").name, "json");
    EXPECT_EQ(format_of_path("result.jsonl").name, "jsonl");
    EXPECT_EQ(format_of_path("result.csv").name, "csv");
    EXPECT_EQ(format_of_path("result.txt").name, "table");
    EXPECT_EQ(format_of_path("result.csv", &find_format("json")).name, "csv");
}

TEST(Formats, a_chosen_format_decides_where_the_suffix_does_not) {
    EXPECT_EQ(format_of_path("result.out", &find_format("json")).name, "json");
    EXPECT_EQ(format_of_path("/dev/null", &find_format("csv")).name, "csv");
}

TEST(Formats, a_file_without_suffix_holds_a_table) {
    EXPECT_EQ(format_of_path("result").name, "table");
    EXPECT_EQ(format_of_path("/dev/null").name, "table");
    EXPECT_EQ(format_of_path("folder.json/result").name, "table");
    EXPECT_EQ(format_of_path(".json").name, "table");
}

TEST(Formats, an_unknown_suffix_is_refused) {
    EXPECT_THAT(refusal_of_path("result.jpg"), HasSubstr("the suffix .jpg names no format"));
    EXPECT_THAT(refusal_of_path("result.jpg"), HasSubstr("--format"));
}

}  // namespace
}  // namespace coalprof
