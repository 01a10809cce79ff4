#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/text/utf8.h"
#include "core/write/formats.h"

namespace coalprof {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class TextSink : public ByteSink {
 public:
    void write(std::string_view bytes) override { text.append(bytes); }
    bool is_live() const override { return false; }
    std::string text;
};

// So many launches of 1 ms, of which this share is wasted.
Point kernel_point(const std::string& name, const std::string& grid, std::int64_t launches,
                   double excess, double cost_seconds, const std::string& verdict) {
    Point point;
    point.name = name + " grid=" + grid;
    point.parameters = {{"kernel", name},
                        {"grid", grid},
                        {"launches", launches},
                        {"excess", excess},
                        {"cost_seconds", cost_seconds},
                        {"verdict", verdict}};
    point.parameters.emplace_back("total_seconds", 1e-3 * static_cast<double>(launches));
    point.measured.emplace();
    (*point.measured)[Counter::load_sectors] = std::uint64_t{1000};
    return point;
}

std::string run_table_of(const std::vector<Point>& points, const ResultTail& tail = {},
                         bool all = false) {
    TextSink text;
    const auto table =
        find_format("table").make_writer(text, {.width = 80, .ascii = true, .explains_all = all});
    ResultHead head;
    head.sweep = {.pattern = "run", .file = "./app", .parameter = "kernel"};
    head.backend = "device";
    head.passes = 2;
    table->begin(head);
    for (const Point& point : points) table->point(point);
    table->finish(tail);
    return text.text;
}

// A hundred kernels: ninety are fine, ten waste.
std::vector<Point> hundred_kernels() {
    std::vector<Point> points;
    for (int i = 0; i < 100; ++i)
        points.push_back(kernel_point(
            fmt::format("vectorized_elementwise_kernel<4, Functor{:02}<float>>", i), "64", 10,
            i < 10 ? 7 : 0, i < 10 ? 8e-3 + i * 1e-5 : 0, i < 10 ? "strided" : "fine"));
    return points;
}

TEST(RunTable, fits_a_screen_and_keeps_what_tells_names_apart) {
    std::string words;
    for (int i = 0; i < 40; ++i) words += "word ";
    ResultTail tail;
    LineFinding finding{.point = "app.cu:12 ld.global.f32",
                        .cause = "strided",
                        .text = words,
                        .fix = words,
                        .like = "stride --at 32"};
    tail.findings.assign(9, finding);
    const std::string text = run_table_of(hundred_kernels(), tail);
    std::istringstream lines(text);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
    EXPECT_LE(count, 24u) << text;
    EXPECT_THAT(text, HasSubstr("Functor09<float>>"));
    EXPECT_THAT(text, ContainsRegex("90 other kernels, 90 % of the time: "));
    EXPECT_THAT(text, HasSubstr("\ncoalprof explain stride --at 32\n"));
    EXPECT_LT(text.find("Functor09"), text.find("Functor08")) << "what costs most first";
    EXPECT_THAT(run_table_of(hundred_kernels(), tail, true), HasSubstr("Functor77<float>>"));
}

// 1 of 4 and 3 of 4 launches: (3000 + 1000 * 8) sectors where 4000 would do.
TEST(RunTable, folds_the_shapes_of_a_kernel) {
    const std::vector<Point> points{kernel_point("k", "1", 1, 7, 1e-3, "strided"),
                                    kernel_point("k", "2", 3, 0, 0, "fine")};
    const std::string text = run_table_of(points);
    // 4000 sectors, of which 125 and 3000 were needed.
    EXPECT_THAT(text, ContainsRegex("\nk +100 +4 +28 +1.0* +strided\n"));
    EXPECT_THAT(run_table_of(points, {}, true), ContainsRegex("\nk grid=2 "));
}

// Of 1,010 ms each of three wastes 2: less than half a per cent, and not nothing.
TEST(RunTable, says_what_kernels_cost_together_that_cost_little) {
    std::vector<Point> points{kernel_point("large", "1", 980, 1, 0.4, "strided")};
    for (const char* name : {"a", "b", "c"})
        points.push_back(kernel_point(name, "1", 10, 1, 2e-3, "wasteful"));
    points.push_back(kernel_point("fine", "1", 10, 0.09, 0.1, "fine"));
    const std::string text = run_table_of(points);
    EXPECT_THAT(text, HasSubstr("waste costs about 0.41 s")) << "0.4 and 0.006 s";
    EXPECT_THAT(
        text, HasSubstr("3 other kernels, 2.9 % of the time: costs little each, 6.00 ms together"));
    EXPECT_THAT(text, HasSubstr("1 other kernel, 1.0 % of the time: nothing to gain"));
}

TEST(RunTable, shows_the_largest_where_nothing_wastes) {
    const std::string text = run_table_of({kernel_point("good", "1", 2, 0, 0, "fine")});
    EXPECT_THAT(text, ContainsRegex("\ngood +100 +2 +0 +0 +fine\n"));
}

// Counters may not be read: lines have no times.
TEST(RunTable, leaves_out_times_that_nobody_knows) {
    Point point = kernel_point("k", "1", 2, 7, 0, "strided");
    point.measured.reset();
    for (auto& [key, value] : point.parameters)
        if (key.ends_with("_seconds")) value = Value{};
    const std::string text = run_table_of({point});
    EXPECT_THAT(text, ContainsRegex("\nk +2 +700 +strided\n"));
    EXPECT_THAT(text, Not(HasSubstr("costs")));
}

}  // namespace
}  // namespace coalprof
