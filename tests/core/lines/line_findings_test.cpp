#include "core/lines/line_findings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace coalprof {
namespace {

using ::testing::DoubleEq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

WarpAccess warp_of(std::uint64_t step_bytes, Space space = Space::global,
                   AccessKind kind = AccessKind::load) {
    WarpAccess warp{.active_lanes = all_lanes, .width_bytes = 4, .kind = kind, .space = space};
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        warp.addresses[lane] = (1 << 20) + lane * step_bytes;
    return warp;
}

LineSummary line_of(const std::string& kernel, std::uint64_t line, std::uint64_t sectors,
                    std::uint64_t needed, const WarpAccess& warp) {
    LineSummary summary;
    summary.site = {.function = kernel,
                    .source = {"/src/app.cu", line},
                    .inlined_at = {},
                    .instruction = "ld",
                    .kind = warp.kind,
                    .space = warp.space,
                    .width_bytes = 4};
    summary.totals = {.executed = 10,
                      .lanes = 320,
                      .sectors = sectors,
                      .lines = 10,
                      .places = 320,
                      .ideal_sectors = needed,
                      .needed_sectors = needed};
    summary.samples = {warp};
    return summary;
}

const Machine h100 = find_machine("h100");

LineCosts costs_with(std::map<std::string, double> seconds_of_kernel) {
    LineCosts costs;
    for (const auto& [kernel, seconds] : seconds_of_kernel)
        costs.kernels[kernel] = {.seconds = seconds, .launches = 3};
    return costs;
}

// Each point is named by its line, or its place in machine code.
std::vector<LineFinding> all_findings(const std::vector<LineReport>& reports) {
    std::vector<std::string> points;
    for (const LineReport& report : reports) {
        const LineSummary& line = report.line;
        points.push_back(line.place().line > 0
                             ? fmt::format("app.cu:{}", line.place().line)
                             : fmt::format("{}+{:#x}", line.site.function, line.offset));
    }
    return findings_of(reports, points, h100);
}

std::optional<LineFinding> only_finding(const std::vector<LineReport>& reports) {
    const std::vector<LineFinding> all = all_findings(reports);
    EXPECT_LE(all.size(), 1u);
    return all.empty() ? std::nullopt : std::optional(all.front());
}

TEST(LineFindings, of_rows_at_different_alignments_name_a_pitch_and_no_shift) {
    LineSummary line = line_of("a", 1, 50, 40, warp_of(4));
    line.samples.clear();
    for (std::uint64_t row = 0; row < 16; ++row) {
        WarpAccess warp = warp_of(4);
        for (std::uint64_t& address : warp.addresses) address += 4 + row / 2 * 2056 + row % 2 * 128;
        line.samples.push_back(warp);
    }
    const auto rows = only_finding(report_lines({line}, {}));
    ASSERT_TRUE(rows);
    EXPECT_THAT(rows->fix, HasSubstr("2080 bytes apart (520 elements)"));
    line.samples.resize(1);
    const auto one = only_finding(report_lines({line}, {}));
    ASSERT_TRUE(one);
    EXPECT_THAT(one->fix, HasSubstr("1 element earlier"));
}

// Kernel a takes 8 s and moves 400 sectors, of which line 1 wastes 280 and line 2 none; kernel b
// takes 1 s, of which line 3 wastes seven eighths, the most sectors of all.
TEST(LineFindings, come_in_the_order_of_what_they_could_save) {
    const LineCosts costs = costs_with({{"a", 8}, {"b", 1}});
    const std::vector<LineReport> reports =
        report_lines({line_of("b", 3, 640, 80, warp_of(4096)), line_of("a", 2, 80, 80, warp_of(4)),
                      line_of("a", 1, 320, 40, warp_of(128))},
                     costs);
    ASSERT_EQ(reports.size(), 3u);
    EXPECT_EQ(reports[0].line.place().line, 1u);
    EXPECT_THAT(reports[0].saves_seconds.value(), DoubleEq(8.0 * 280 / 400));
    EXPECT_EQ(reports[1].line.place().line, 3u);
    EXPECT_THAT(reports[1].saves_seconds.value(), DoubleEq(0.875));
    EXPECT_EQ(reports[2].saves_seconds, 0.0);

    const std::vector<LineFinding> findings = all_findings(reports);
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].cause, "strided");
    EXPECT_EQ(findings[0].like, "stride --at 32 --type f32");
    EXPECT_EQ(findings[0].kernel, "a");
    EXPECT_EQ(findings[0].kernel_seconds, 8);
    EXPECT_EQ(findings[0].launches, 3u);
    ASSERT_TRUE(findings[0].saves_interval_seconds);
    EXPECT_LT(findings[0].saves_interval_seconds->front(), *findings[0].saves_seconds);
    EXPECT_GT(findings[0].saves_interval_seconds->back(), *findings[0].saves_seconds);
    // Counted from the line of the lowest address, wherever the program had its array.
    EXPECT_THAT(findings[0].warp, StartsWith("app.cu:1 load 4 0x0 0x80 0x100 "));
    EXPECT_EQ(findings[1].point, "app.cu:3");
    EXPECT_EQ(findings[1].saves_interval_seconds->back(), 1.0) << "the kernel takes no more";
}

// Four instructions of a loop 128 bytes apart, and one that is misaligned; the kernel takes 8 s, of
// which the four waste 4 * 280 of 1360 sectors and the other 10.
TEST(LineFindings, are_one_for_each_cause) {
    WarpAccess misaligned = warp_of(4);
    for (std::uint64_t& address : misaligned.addresses) address += 4;
    std::vector<LineSummary> lines{line_of("a", 9, 80, 70, misaligned)};
    for (std::uint64_t line = 1; line <= 4; ++line)
        lines.push_back(line_of("a", line, 320, 40, warp_of(128)));
    const auto findings = all_findings(report_lines(lines, costs_with({{"a", 8}})));
    ASSERT_EQ(findings.size(), 2u);
    EXPECT_EQ(findings[0].others.size(), 3u);
    EXPECT_THAT(findings[0].saves_seconds.value(), DoubleEq(8.0 * 4 * 280 / 1360));
    EXPECT_EQ(findings[1].cause, "misaligned");
    lines.push_back(line_of("b", 5, 320, 40, warp_of(128)));
    lines.push_back(line_of("a", 6, 320, 40, warp_of(64)));
    EXPECT_EQ(all_findings(report_lines(lines, {})).size(), 4u) << "another kernel, another stride";
}

TEST(LineFindings, name_a_pattern_of_elements_of_the_accesss_width) {
    for (const auto& [width_bytes, type] :
         {std::pair{1u, "u8"}, {2u, "u16"}, {4u, "f32"}, {8u, "f64"}, {16u, "f32x4"}}) {
        WarpAccess warp = warp_of(32ull * width_bytes);
        warp.width_bytes = width_bytes;
        const auto reports = report_lines({line_of("a", 1, 320, 40, warp)}, {});
        const auto finding = only_finding(reports);
        ASSERT_TRUE(finding) << type;
        EXPECT_EQ(finding->like, fmt::format("stride --at 32 --type {}", type));
    }
}

TEST(LineFindings, of_shared_memory_are_bank_conflicts) {
    LineCosts costs = costs_with({{"a", 1}});
    costs.passes_per_second = 1000;
    LineSummary line = line_of("a", 1, 0, 0, warp_of(128, Space::shared));
    line.totals.passes = 320;
    line.totals.ideal_passes = 10;
    const std::vector<LineReport> reports = report_lines({line}, costs);
    // 32 lanes in one bank: 32 passes for each of 10 requests, where one would do.
    EXPECT_EQ(reports[0].predicted[Counter::shared_load_wavefronts], Reading{std::uint64_t{320}});
    EXPECT_THAT(reports[0].saves_seconds.value(), DoubleEq(0.31));
    const auto finding = only_finding(reports);
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->cause, "bank_conflict");
    EXPECT_EQ(finding->like, "shared-stride --at 32 --type f32");
    costs.passes_per_second = 100;  // 3.1 s, of a kernel that takes one
    EXPECT_EQ(report_lines({line}, costs)[0].saves_seconds, 1.0);
}

// What a misaligned warp takes too much its neighbour may have brought; a warp that wastes nothing
// cannot stand for those that do.
TEST(LineFindings, save_what_is_sure_and_show_a_warp_that_wastes) {
    LineCosts costs = costs_with({{"a", 8}});
    WarpAccess misaligned = warp_of(4);
    for (std::uint64_t& address : misaligned.addresses) address += 4;
    const auto finding_with = [&](const WarpAccess& warp) {
        return only_finding(report_lines({line_of("a", 1, 50, 40, warp)}, costs));
    };
    ASSERT_TRUE(finding_with(misaligned));
    EXPECT_EQ(finding_with(misaligned)->cause, "misaligned");
    EXPECT_EQ(finding_with(misaligned)->saves_interval_seconds->front(), 0);
    EXPECT_FALSE(finding_with(warp_of(4)));
}

TEST(LineFindings, save_nothing_known_where_no_time_is_known) {
    const std::vector<LineReport> reports =
        report_lines({line_of("f", 1, 320, 40, warp_of(4096))}, {});
    EXPECT_FALSE(reports[0].saves_seconds);
    EXPECT_TRUE(only_finding(reports));
}

// Here line 1 wastes more sectors, and a smaller share of its own.
TEST(LineFindings, come_in_the_order_of_what_they_waste_where_no_time_is_known) {
    const std::vector<LineReport> reports = report_lines(
        {line_of("f", 2, 320, 40, warp_of(4096)), line_of("g", 1, 1000, 500, warp_of(64))}, {});
    EXPECT_EQ(reports[0].line.place().line, 1u);
    EXPECT_EQ(reports[1].line.place().line, 2u);
}

TEST(LineFindings, without_a_warp_to_show_are_none) {
    LineSummary line = line_of("f", 1, 320, 40, warp_of(4096));
    line.samples.clear();
    const std::vector<LineReport> reports = report_lines({line}, {});
    EXPECT_FALSE(only_finding(reports));
}

// Of 40 passes 30 are conflicts; they are those of some launches, so that no time follows.
TEST(LineFindings, take_what_was_counted_of_machine_code) {
    LineSummary global = line_of("a", 1, 320, 40, warp_of(4096));
    LineSummary shared = line_of("a", 2, 0, 0, warp_of(4096, Space::shared));
    global.samples = shared.samples = {};
    global.counted = readings_of(global);
    shared.counted.emplace();
    (*shared.counted)[Counter::shared_load_wavefronts] = std::uint64_t{40};
    (*shared.counted)[Counter::shared_load_conflicts] = std::uint64_t{30};
    LineCosts costs = costs_with({{"a", 8}});
    costs.passes_per_second = 1;
    const auto reports = report_lines({shared, global}, costs);
    EXPECT_EQ(reports[0].line.place().line, 1u);
    EXPECT_THAT(reports[0].saves_seconds.value(), DoubleEq(7));
    EXPECT_THAT(reports[1].wasted_share, DoubleEq(0.75));
    EXPECT_EQ(number_or(reports[1].measured[Counter::shared_load_wavefronts], 0), 40);
    EXPECT_EQ(reports[1].saves_seconds.value_or(0), 0);
}

LineSummary machine_code_of(const std::string& kernel, std::uint64_t offset, std::uint64_t sectors,
                            std::uint64_t needed, Space space = Space::global) {
    LineSummary line = line_of(kernel, 0, sectors, needed, warp_of(4096, space));
    line.site.source = {};
    line.samples = {};
    line.counted = space == Space::global ? readings_of(line) : Readings();
    line.offset = offset;
    return line;
}

std::optional<LineFinding> finding_in(const std::vector<LineReport>& reports,
                                      const std::string& kernel) {
    const std::vector<LineFinding> all = all_findings(reports);
    const auto found = std::ranges::find(all, kernel, &LineFinding::kernel);
    return found == all.end() ? std::nullopt : std::optional(*found);
}

// 640 + 80 sectors for 80 + 80: 560 of 720 are waste, 78 %, half of it in each of two places. The
// kernel takes 9 s: to mend both saves 7 s.
TEST(LineFindings, of_machine_code_tell_what_its_kernel_wastes) {
    LineCosts costs = costs_with({{"a", 9}});
    const auto reports =
        report_lines({machine_code_of("a", 0x30, 80, 80), machine_code_of("a", 0x20, 320, 40),
                      machine_code_of("a", 0x10, 320, 40), machine_code_of("b", 0x10, 80, 75)},
                     costs);
    EXPECT_EQ(reports[0].line.offset, 0x10u);
    EXPECT_EQ(reports[1].line.offset, 0x20u);
    const auto finding = finding_in(reports, "a");
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->point, "a+0x10");
    EXPECT_EQ(finding->cause, "wasted_sectors");
    EXPECT_THAT(finding->saves_seconds.value(), DoubleEq(7));
    for (const char* number : {"720", "160", "78 %", "50 %", "worst of 2"})
        EXPECT_THAT(finding->text, HasSubstr(number));
    EXPECT_THAT(finding->fix, HasSubstr("each of the 2 places"));
    EXPECT_FALSE(finding_in(reports, "b"));
}

// Of 300 + 35 wasted sectors. By its share the smaller would come first where no time is known.
TEST(LineFindings, of_machine_code_stand_where_most_is_wasted) {
    const auto finding = finding_in(
        report_lines({machine_code_of("a", 0x10, 40, 5), machine_code_of("a", 0x20, 800, 500)}, {}),
        "a");
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->point, "a+0x20");
    EXPECT_THAT(finding->text, HasSubstr("90 %"));
}

// A header of the toolkit, or a line that is not known, may be a library's.
TEST(LineFindings, of_machine_code_advise_on_data_where_code_may_not_be_the_readers) {
    const auto fix_at = [](const std::string& file) {
        LineSummary line = machine_code_of("a", 0, 320, 40);
        line.site.source = {file, 7};
        const auto finding = finding_in(report_lines({line}, {}), "a");
        return finding ? finding->fix : std::string("none");
    };
    EXPECT_THAT(fix_at("/src/app.cu"), Not(HasSubstr("library")));
    EXPECT_THAT(fix_at(""), HasSubstr("library"));
    EXPECT_THAT(fix_at("/usr/local/cuda/include/x.hpp"), HasSubstr("library"));
    EXPECT_THAT(fix_at("/src/app.cu"), Not(HasSubstr("places")));
}

// 40 passes, 30 of them conflicts; they are those of some launches, so that no time follows. Of 80
// sectors 2 are waste, which is too little to be told, and not where the conflicts are.
TEST(LineFindings, of_machine_code_tell_conflicts_where_no_sectors_are_wasted) {
    LineSummary shared = machine_code_of("a", 0x20, 0, 0, Space::shared);
    (*shared.counted)[Counter::shared_load_wavefronts] = std::uint64_t{40};
    (*shared.counted)[Counter::shared_load_conflicts] = std::uint64_t{30};
    LineCosts costs = costs_with({{"a", 8}});
    const auto reports = report_lines({machine_code_of("a", 0x10, 80, 78), shared}, costs);
    ASSERT_EQ(reports[0].line.offset, 0x10u);
    const auto finding = finding_in(reports, "a");
    ASSERT_TRUE(finding);
    EXPECT_EQ(finding->point, "a+0x20");
    EXPECT_EQ(finding->cause, "bank_conflict");
    EXPECT_FALSE(finding->saves_seconds);
    for (const char* number : {"40", "10", "75 %"}) EXPECT_THAT(finding->text, HasSubstr(number));
}

}  // namespace
}  // namespace coalprof
