#include "core/explain/drawing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/count/truth.h"
#include "core/explain/cases.h"
#include "core/explain/line_map.h"
#include "core/explain/naive.h"
#include "core/explain/styled_text.h"
#include "core/text/utf8.h"
#include "fewer_cases.h"
#include "test_data.h"

namespace coalprof {
namespace {

using explain_cases::plan_of;

Machine h200() { return find_machine("h200"); }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string without_colour(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9]*m"), "");
}

// --- laws of every drawing -----------------------------------------------------------------------

void expect_well_formed(const std::string& text, const ExplainStyle& style) {
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    for (const std::string& line : lines_of(text)) {
        SCOPED_TRACE(line);
        const std::string plain = without_colour(line);
        EXPECT_LE(terminal_columns(plain), std::max<std::size_t>(style.width, 60));
        EXPECT_FALSE(plain.ends_with(' '));
        for (const char c : plain) {
            EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20) << "control character";
            if (style.ascii) {
                EXPECT_LT(static_cast<unsigned char>(c), 0x7f);
            }
        }
        if (!style.color) {
            EXPECT_EQ(plain, line);
        }
    }
}

TEST(Drawing, keeps_to_its_width_without_tabs_or_blanks_at_line_ends_for_every_pattern) {
    std::uint32_t number = 0;
    explain_cases::each_plan([&](const Plan& plan) {
        // One in a few plans: styles and warps vary along.
        if (++number % (7 * fewer_cases) != 0 || ::testing::Test::HasFailure()) return;
        const auto warps = explain_cases::some_warps(plan.program);
        const Explanation explanation =
            explanation_of(plan, h200(), warps[number / 7 % warps.size()].index);
        for (const std::size_t width : {40u, 60u, 72u, 80u, 132u}) {  // 40 is drawn as 60
            SCOPED_TRACE(plan.pattern + " " + std::to_string(plan.value) + " at " +
                         std::to_string(width));
            const ExplainStyle plain{.width = width, .ascii = number % 2 == 0};
            ExplainStyle colour = plain;
            colour.color = true;
            const std::string text = draw(explanation, plain);
            expect_well_formed(text, plain);
            EXPECT_EQ(without_colour(draw(explanation, colour)), text);
        }
    });
}

TEST(Drawing, of_other_memories_keeps_to_its_width_too) {
    for (const PatternInfo& pattern : pattern_catalog())
        for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::f32x4})
            for (const std::uint64_t value : {1u, 2u, 3u, 16u, 32u}) try {
                    const Plan plan = explain_cases::plan_of(std::string(pattern.name), value,
                                                             pattern.default_op, type);
                    const ExplainStyle style{.width = 60, .ascii = true};
                    if (!explain_cases::touches_global(plan.program))
                        expect_well_formed(explain(plan, h200(), style), style);
                } catch (const UsageError&) {
                    continue;
                }
}

TEST(Drawing, of_every_measured_warp_shows_its_measured_sectors) {
    for (const truth::MeasuredWarp& warp : truth::read_warps("h200/warps_global")) {
        SCOPED_TRACE(warp.name);
        const Explanation explanation = explanation_of(warp.name, warp.access, h200());
        const std::string text = draw(explanation, {.ascii = true});
        expect_well_formed(text, {.ascii = true});
        std::smatch match;
        if (warp.access.active_lanes == 0) continue;
        ASSERT_TRUE(
            std::regex_search(text, match, std::regex("\n sectors +(\\d+)  ([#!]+)  ideal")));
        for (const char* kind : {"load", "store", "atomic", "reduce"}) {
            const auto measured = warp.counters.find(std::string(kind) + "_sectors");
            if (measured == warp.counters.end() || measured->second == 0) continue;
            EXPECT_EQ(std::stoull(match[1]), measured->second);
            EXPECT_EQ(match[2].length(), measured->second) << "squares";
        }
    }
}

// With every line shown, the characters of the map are the bytes of the access.
TEST(Drawing, marks_as_many_words_used_as_the_warp_touches) {
    explain_cases::RandomWarps warps(5);
    for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
        SCOPED_TRACE(i);
        WarpAccess access = warps.next();
        if (access.active_lanes == 0) continue;
        if (access.kind != AccessKind::store) access.kind = AccessKind::load;
        const naive::Facts facts = naive::facts_of(access);
        std::map<std::uint64_t, int> bytes_of_word;
        for (const std::uint64_t byte : facts.bytes) ++bytes_of_word[byte / 4];
        std::size_t whole = 0;
        for (const auto& [word, bytes] : bytes_of_word) whole += bytes == 4;

        const Explanation explanation = explanation_of("w", access, h200());
        const LineMap map(explanation.accesses[0], {80, true, true});
        std::map<char, std::size_t> count;
        const auto rows = map.rows();
        ASSERT_EQ(rows.size(), facts.lines.size() + 1);
        for (std::size_t r = 1; r < rows.size(); ++r) {
            const std::string row = rows[r].finish(false);
            const std::size_t begin = row.find_first_of("#+-.");
            for (const char c : row.substr(begin, 35)) ++count[c];
        }
        EXPECT_EQ(count['#'], whole);
        EXPECT_EQ(count['+'], bytes_of_word.size() - whole);
        EXPECT_EQ(count['#'] + count['+'] + count['-'], 8 * facts.sectors());
        EXPECT_EQ(count['.'], 32 * facts.lines.size() - 8 * facts.sectors());
    }
}

TEST(Drawing, folds_many_lines_to_what_a_screen_holds_and_shows_all_on_request) {
    const Plan stride = plan_of("stride", 32, Op::load, ElementType::f32);
    const std::string folded = explain(stride, h200(), {});
    EXPECT_LE(lines_of(folded).size(), 24u);  // rows of a terminal
    EXPECT_NE(folded.find("29 more cache lines like these, 29 sectors, lanes 2-30"),
              std::string::npos);
    // 28 rows more: 29 lines instead of the folded row.
    EXPECT_EQ(lines_of(explain(stride, h200(), {.all_lines = true})).size(),
              lines_of(folded).size() + 28);
    const std::string scatter =
        explain(plan_of("scatter", 4 << 20, Op::load, ElementType::f32), h200(), {});
    EXPECT_NE(scatter.find("24 more cache lines, 24 sectors"), std::string::npos);
    // 9 lines stand as they are.
    EXPECT_EQ(explain(plan_of("stride", 9, Op::load, ElementType::f32), h200(), {})
                  .find("more cache lines"),
              std::string::npos);
}

TEST(LaneRanges, join_neighbours) {
    EXPECT_EQ(lane_ranges(0), "");
    EXPECT_EQ(lane_ranges(all_lanes), "0-31");
    EXPECT_EQ(lane_ranges(0b1), "0");
    EXPECT_EQ(lane_ranges(0b1011'0111), "0-2,4-5,7");
    EXPECT_EQ(lane_ranges(1u << 31), "31");
}

TEST(Folded, breaks_at_blanks_but_not_at_glue_and_cuts_what_is_too_long) {
    const std::string text = "one two" + std::string(glue) + "three four";
    EXPECT_EQ(folded(text, 9), (std::vector<std::string>{"one", "two three", "four"}));
    EXPECT_EQ(folded("abcdefgh ij", 3), (std::vector<std::string>{"abc", "def", "gh", "ij"}));
    EXPECT_EQ(folded("", 3), (std::vector<std::string>{""}));
    EXPECT_EQ(folded("■■■ ■", 3), (std::vector<std::string>{"■■■", "■"}));
}

std::size_t times_in(const std::string& text, std::string_view part) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
    return times;
}

TEST(Picture, has_a_block_for_each_of_the_drawing_and_no_text_that_is_markup) {
    const Explanation explanation =
        explanation_of(plan_of("offset", 11, Op::load, ElementType::f32, 4 << 20), h200());
    const std::vector<StyledLine> lines = lines_of(explanation, {});
    const std::string svg = svg_of(lines, "<b>");
    const std::string text = text_of(lines, false);
    // 32 words that were used and one that the legend shows, and four of the five sectors.
    EXPECT_EQ(times_in(svg, "<rect class=\"good\""), 32u + 1 + 4);
    EXPECT_EQ(times_in(svg, "<rect class=\"waste\""), times_in(text, "░") + times_in(text, "□"));
    EXPECT_EQ(times_in(svg, "<b>"), 0u);
    EXPECT_EQ(times_in(html_page_of(lines, "x"), "<svg "), 1u);
}

// --- golden drawings -----------------------------------------------------------------------------

struct Golden {
    const char* file;
    const char* pattern;
    std::uint64_t value;
    Op op;
    ElementType type = ElementType::f32;
    ExplainStyle style = {};
    const char* machine = "h200";
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file; }

constexpr ExplainStyle ascii{.ascii = true};
constexpr ExplainStyle colour{.color = true};
constexpr std::uint64_t four_mib = 4 << 20;

// One for each feature of a drawing. A change in one is a change in these files, seen in review.
// COALPROF_UPDATE_GOLDEN=1 in the environment writes them anew.
const std::vector<Golden> goldens{
    {"offset_11", "offset", 11, Op::rmw},
    {"offset_11_ascii", "offset", 11, Op::rmw, ElementType::f32, ascii},
    {"offset_11_colour", "offset", 11, Op::rmw, ElementType::f32, colour},
    {"offset_11_store_narrow", "offset", 11, Op::store, ElementType::f32, {.width = 60}},
    {"offset_3_u8", "offset", 3, Op::load, ElementType::u8},
    {"offset_1_f32x4", "offset", 1, Op::load, ElementType::f32x4},
    {"stride_9", "stride", 9, Op::load},
    {"broadcast_8_reduce", "broadcast", 8, Op::reduce},
    {"column_4096", "column", 4096, Op::load},
    {"row_96_partial", "row", 96, Op::load},
    {"shared_stride_32_ascii", "shared-stride", 32, Op::load, ElementType::f32, ascii},
    {"constant_4", "constant", 4, Op::load},
    {"local_4", "local", 4, Op::load},
    {"transpose_1024", "transpose", 1024, Op::copy},
    {"indirect_480", "indirect", 480, Op::load, ElementType::f32, ascii},
};

class GoldenDrawing : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenDrawing, is_what_the_file_holds) {
    const Golden& golden = GetParam();
    const Plan plan = plan_of(golden.pattern, golden.value, golden.op, golden.type, four_mib);
    const std::string text = explain(plan, find_machine(golden.machine), golden.style);
    expect_well_formed(text, golden.style);
    const std::string path = test_data_folder() + "/../golden/explain/" + golden.file + ".txt";
    if (std::getenv("COALPROF_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ifstream file(path);
    std::ostringstream expected;
    expected << file.rdbuf();
    EXPECT_EQ(text, expected.str()) << path;
}

INSTANTIATE_TEST_SUITE_P(Drawing, GoldenDrawing, ::testing::ValuesIn(goldens),
                         [](const auto& test) { return std::string(test.param.file); });

}  // namespace
}  // namespace coalprof
