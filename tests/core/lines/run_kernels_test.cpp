#include "core/lines/run_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/lines/run_warnings.h"

namespace coalprof {
namespace {

using ::testing::DoubleEq;

KernelSummary kernel_of(const std::string& name, std::uint32_t grid, std::uint64_t sectors,
                        double seconds, std::uint64_t launches) {
    KernelSummary summary;
    summary.kernel = {.name = name, .grid = {grid, 1, 1}, .block = {32, 1, 1}};
    summary.counted = 1;
    summary.counted_seconds = seconds;
    summary.launches = launches;
    summary.measured[Counter::load_requests] = std::uint64_t{10};
    summary.measured[Counter::load_sectors] = sectors;
    summary.measured[Counter::duration_seconds] = seconds;
    return summary;
}

RunLines lines_with(const std::string& function, std::uint64_t sectors, std::uint64_t ideal,
                    double saves_seconds) {
    LineReport report;
    report.line.site.function = function;
    report.line.totals = {.sectors = sectors, .ideal_sectors = ideal};
    report.saves_seconds = saves_seconds;
    RunLines lines;
    lines.reports = {report};
    lines.findings = {{.point = "app.cu:1",
                       .kernel = function,
                       .cause = "bank_conflict",
                       .text = {},
                       .fix = {},
                       .like = {}}};
    return lines;
}

double parameter(const Point& point, std::string_view key) {
    const Value* value = find_value(point.parameters, key);
    return value && std::holds_alternative<double>(*value) ? std::get<double>(*value) : -1;
}
std::string verdict(const Point& point) {
    return text_of(*find_value(point.parameters, "verdict"));
}

// In two shapes that take 4 * 1 and 2 * 2 s: half of what the lines cost each. Of 480 sectors 120
// were needed, so a launch of 160 needs 40.
TEST(RunKernels, share_what_their_lines_waste) {
    const std::vector<KernelSummary> kernels{kernel_of("a", 1, 80, 1, 4),
                                             kernel_of("a", 2, 160, 2, 2)};
    const std::vector<Point> points = points_of_kernels(kernels, lines_with("a", 480, 120, 5));
    ASSERT_EQ(points.size(), 2u);
    for (const Point& point : points) {
        EXPECT_THAT(parameter(point, "excess"), DoubleEq(3));
        EXPECT_THAT(parameter(point, "cost_seconds"), DoubleEq(2.5));
        EXPECT_EQ(verdict(point), "bank conflict");
    }
    EXPECT_EQ((*points[1].measured)[Counter::load_ideal_sectors], Reading{std::uint64_t{40}});
    EXPECT_EQ((*points[1].measured)[Counter::load_excess], Reading{3.0});
}

// 10 requests of 32 bytes each need 10 sectors whatever their bytes say; 640 bytes need 20.
TEST(RunKernels, without_lines_are_judged_by_their_bytes) {
    std::vector<KernelSummary> kernels{kernel_of("a", 1, 40, 1, 4), kernel_of("b", 1, 10, 1, 4),
                                       kernel_of("c", 1, 10, 1, 4)};
    for (std::size_t i = 0; i < 2; ++i) {
        kernels[i].measured[Counter::load_unique_bytes] = std::uint64_t{i == 0 ? 640u : 40u};
        kernels[i].measured[Counter::store_unique_bytes] = std::uint64_t{0};
        kernels[i].measured[Counter::store_sectors] = std::uint64_t{0};
    }
    const std::vector<Point> points = points_of_kernels(kernels, {});
    EXPECT_THAT(parameter(points[0], "excess"), DoubleEq(1));
    EXPECT_THAT(parameter(points[0], "cost_seconds"), DoubleEq(2));
    EXPECT_EQ(verdict(points[0]), "wasteful");
    EXPECT_THAT(parameter(points[1], "excess"), DoubleEq(0));
    EXPECT_EQ(verdict(points[1]), "fine");
    EXPECT_EQ(verdict(points[2]), "unknown");
    EXPECT_EQ(parameter(points[2], "excess"), -1) << "absent, not 0";
    EXPECT_THAT(share_without_lines(kernels, {}), DoubleEq(1));

    // Of 12 s half of those 4 that a takes. What counted its lines needs no further run.
    EXPECT_EQ(most_wasteful_by_bytes(kernels, {}, 0.16), "a");
    EXPECT_EQ(most_wasteful_by_bytes(kernels, {}, 0.17), "");
    RunLines lines;
    lines.counted_kernels = {"a"};
    EXPECT_EQ(most_wasteful_by_bytes(kernels, lines, 0), "");
}

// b is fine by its bytes, of c nothing is known.
TEST(RunKernels, that_are_fine_by_their_bytes_need_no_lines) {
    std::vector<KernelSummary> kernels{kernel_of("b", 1, 10, 1, 4), kernel_of("c", 1, 10, 1, 4)};
    kernels[0].measured[Counter::load_unique_bytes] = std::uint64_t{320};
    kernels[0].measured[Counter::store_unique_bytes] = std::uint64_t{0};
    kernels[0].measured[Counter::store_sectors] = std::uint64_t{0};
    EXPECT_TRUE(is_fine_by_bytes(kernels[0]));
    EXPECT_FALSE(is_fine_by_bytes(kernels[1]));
    const auto warnings = warnings_of_lines(kernels, {}, {});
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_THAT(warnings[0].text, ::testing::StartsWith("no lines of c (50 % of the time)"));
    kernels.pop_back();
    EXPECT_EQ(warnings_of_lines(kernels, {}, {}).size(), 0u);
}

}  // namespace
}  // namespace coalprof
