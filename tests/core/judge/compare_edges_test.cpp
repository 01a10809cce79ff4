// Each decision of a comparison on both sides of its edge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/judge/compare.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = GateFinding::Kind;

ResultHead head_on(const char* machine) {
    ResultHead head;
    head.machine.name = machine;
    head.sweep.pattern = "offset";
    return head;
}

// One result, whole or not.
struct Side {
    std::vector<Point> points;
    Status status = Status::complete;
    const char* machine = "h200";
};

GateReport compare(const Side& older, const Side& newer, CompareOptions options = {}) {
    Comparison comparison(std::move(options));
    const auto feed = [](ResultSink& sink, const Side& side) {
        sink.begin(head_on(side.machine));
        for (const Point& point : side.points) sink.point(point);
        sink.finish({.status = side.status});
    };
    feed(comparison.older(), older);
    feed(comparison.newer(), newer);
    return comparison.report();
}

std::string kinds_of(const GateReport& report) {
    std::string kinds;
    for (const Kind kind : {Kind::broken, Kind::missing, Kind::changed, Kind::better})
        for (std::uint64_t i = 0; i < report.count(kind); ++i)
            kinds += std::string(name_of(kind)) + ' ';
    return kinds;
}

Point predicted(Counter counter, std::uint64_t value, std::string name = "p") {
    Point point;
    point.name = std::move(name);
    point.predicted[counter] = value;
    return point;
}

Point estimated(double low, std::uint64_t value, double high) {
    Point point = predicted(Counter::l2_read_sectors, value);
    point.estimates.emplace().intervals = {{Counter::l2_read_sectors, low, high}};
    return point;
}

// 10 to 20 has 20 in common with 20 to 30, and 10 with 5 to 10; with what begins or ends one
// further away it has nothing.
TEST(Comparison, of_estimates_finds_what_lies_wholly_above_or_below) {
    const Side before{{estimated(10, 15, 20)}};
    const auto now = [&](double low, std::uint64_t value, double high) {
        return kinds_of(compare(before, {{estimated(low, value, high)}}));
    };
    EXPECT_EQ(now(20, 25, 30), "");
    EXPECT_EQ(now(21, 25, 30), "worse ");
    EXPECT_EQ(now(5, 7, 10), "");
    EXPECT_EQ(now(5, 7, 9), "better ");
}

Point timed(double low, double median, double high) {
    Point point;
    point.name = "p";
    point.measured.emplace()[Counter::duration_seconds] = median;
    point.timing =
        Timing{.repeats = 20, .median_seconds = median, .low_seconds = low, .high_seconds = high};
    return point;
}

Point kernel(std::string line, double low, double seconds, double high) {
    Point point;
    point.name = line == "all" ? "k" : line;
    point.parameters = {{"line", std::move(line)}, {"kernel", "k"}};
    point.predicted[Counter::duration_seconds] = seconds;
    point.estimates.emplace().intervals = {{Counter::duration_seconds, low, high}};
    return point;
}

// The time is shown whatever the verdict, but only of the whole kernel.
TEST(Comparison, shows_the_time_of_a_whole_kernel_even_where_intervals_overlap) {
    const auto report = [](const Point& now) {
        return compare({{kernel("all", 2, 3, 5), kernel("a.cu:1", 2, 3, 5)}},
                       {{now, kernel("a.cu:1", 1, 2, 4)}});
    };
    const GateReport overlapping = report(kernel("all", 1, 2, 4));
    EXPECT_EQ(kinds_of(overlapping), "");
    ASSERT_EQ(overlapping.times.size(), 1u);
    const GateFinding& time = overlapping.times.front();
    EXPECT_EQ(std::tuple(time.point, time.kind, *time.before, *time.now),
              std::tuple("k", Kind::changed, 3.0, 2.0));
    EXPECT_THAT(time.text, HasSubstr("1.5 times as fast"));
    EXPECT_THAT(time.text, HasSubstr("~3"));
    EXPECT_EQ(report(kernel("all", 0.1, 0.2, 0.4)).times.front().kind, Kind::better);
    EXPECT_EQ(report(kernel("all", 10, 20, 40)).times.front().kind, Kind::broken);
    Point failed = kernel("all", 1, 2, 4);
    failed.predicted[Counter::duration_seconds] = Unavailable{"a fault"};
    EXPECT_TRUE(report(failed).times.empty());
}

// A measurement is no estimate.
TEST(Comparison, shows_the_measured_time_of_a_kernel_before_the_predicted_one) {
    Side sides[2];
    for (const double seconds : {4.0, 5.0}) {
        Point point = kernel("all", 1, 2, 3);
        point.measured.emplace()[Counter::duration_seconds] = seconds;
        sides[seconds != 4.0].points.push_back(point);
    }
    const GateReport report = compare(sides[0], sides[1]);
    ASSERT_EQ(report.times.size(), 1u);
    EXPECT_EQ(report.times.front().side, "measured");
    EXPECT_THAT(report.times.front().text, HasSubstr("1.25 times as long"));
    EXPECT_THAT(report.times.front().text, Not(HasSubstr("~")));
}

TEST(Comparison, of_times_finds_quartiles_that_lie_wholly_above_or_below) {
    const Side before{{timed(9, 10, 11)}};
    const auto now = [&](double low, double median, double high) {
        return kinds_of(compare(before, {{timed(low, median, high)}}));
    };
    EXPECT_EQ(now(11, 20, 21), "");
    EXPECT_EQ(now(11.5, 20, 21), "worse ");
    EXPECT_EQ(now(4, 5, 9), "");
    EXPECT_EQ(now(4, 5, 8.5), "better ");
}

// From 4 to 5 is a quarter more of the faster time, and a fifth of the slower.
TEST(Comparison, of_times_allows_the_slowdown_itself_and_no_more) {
    const auto now = [](double seconds) {
        Point slow = timed(0, seconds, 0);
        slow.timing.reset();
        return kinds_of(compare({{timed(0, 4, 0)}}, {{slow}}, {.max_slowdown = 0.25}));
    };
    EXPECT_EQ(now(5), "");
    EXPECT_EQ(now(5.1), "worse ");
}

// A counter that nothing predicts may differ by a quarter of the smaller value: 32 and 40.
TEST(Comparison, of_what_varies_allows_the_tolerance_itself_and_no_more) {
    const auto now = [](std::uint64_t sectors) {
        Side sides[2];
        for (const std::uint64_t value : {std::uint64_t{32}, sectors}) {
            Point point;
            point.name = "p";
            point.measured.emplace()[Counter::l2_read_sectors] = value;
            sides[value != 32].points.push_back(point);
        }
        return kinds_of(compare(sides[0], sides[1], {.tolerance = 0.25}));
    };
    EXPECT_EQ(now(40), "");
    EXPECT_EQ(now(41), "worse ");
}

// The parts of a ratio are both exact, or it may vary.
TEST(Comparison, holds_a_measured_ratio_to_the_number_where_both_its_parts_are_exact) {
    const auto kinds = [](bool has_requests) {
        Side sides[2];
        for (const double ratio : {4.0, 4.1}) {
            Point point = predicted(Counter::load_sectors, 128);
            if (has_requests) point.predicted[Counter::load_requests] = std::uint64_t{32};
            point.measured.emplace()[Counter::load_sectors_per_request] = ratio;
            sides[ratio != 4.0].points.push_back(point);
        }
        return kinds_of(compare(sides[0], sides[1]));
    };
    EXPECT_EQ(kinds(true), "worse ");
    EXPECT_EQ(kinds(false), "");
}

TEST(Comparison, lets_a_prediction_vary_that_one_of_the_results_calls_an_estimate) {
    const Side exact{{predicted(Counter::l2_read_sectors, 100)}};
    const Side estimate{{estimated(90, 104, 110)}};
    EXPECT_EQ(kinds_of(compare(exact, estimate)), "");
    EXPECT_EQ(kinds_of(compare(estimate, exact)), "");
    EXPECT_EQ(kinds_of(compare(exact, {{predicted(Counter::l2_read_sectors, 104)}})), "worse ");
}

TEST(Comparison, finds_hits_neither_better_nor_worse) {
    for (const Counter counter : {Counter::l1_hit_sectors, Counter::texture_hit_sectors})
        for (const auto& [before, now] : {std::pair{0, 28'672}, std::pair{28'672, 0}})
            EXPECT_EQ(kinds_of(compare({{predicted(counter, static_cast<std::uint64_t>(before))}},
                                       {{predicted(counter, static_cast<std::uint64_t>(now))}})),
                      "changed ");
}

TEST(Comparison, of_a_part_is_not_complete) {
    const std::vector<Point> points{predicted(Counter::load_sectors, 1)};
    EXPECT_EQ(compare({points}, {points}).code(), ExitCode::done);
    EXPECT_EQ(compare({points, Status::interrupted}, {points}).code(), ExitCode::partial);
    EXPECT_EQ(compare({points}, {points, Status::interrupted}).code(), ExitCode::partial);
}

// Two points of one name, in another place now: each is held against one of its own.
TEST(Comparison, takes_each_point_of_a_name_once) {
    const Point other = predicted(Counter::load_sectors, 7, "other");
    const Point first = predicted(Counter::load_sectors, 1, "same");
    const Point second = predicted(Counter::load_sectors, 2, "same");
    const GateReport report = compare({{other, first, second}}, {{first, second, other}});
    EXPECT_EQ(kinds_of(report), "");
    EXPECT_EQ(report.points, 3u);
}

TEST(Comparison, holds_no_measurement_against_that_of_a_failed_point) {
    Point failed = timed(1, 1, 1);
    failed.failure = "the GPU was lost";
    EXPECT_EQ(kinds_of(compare({{failed}}, {{timed(5, 5, 5)}})), "better ");
}

// What was not measured there any more is lost on any machine; what its model has no rule for is
// not.
TEST(Comparison, misses_a_measurement_on_another_machine_too) {
    const CompareOptions across{.across = {"machine"}};
    Point measured = predicted(Counter::load_sectors, 1);
    measured.measured.emplace()[Counter::l2_read_sectors] = std::uint64_t{5};
    const Side before{{measured}};
    const auto kinds = [&](Point now) {
        return kinds_of(compare(before, {{std::move(now)}, Status::complete, "a100"}, across));
    };
    Point unavailable = measured;
    (*unavailable.measured)[Counter::l2_read_sectors] = Unavailable{"no such counter"};
    EXPECT_EQ(kinds(unavailable), "");
    EXPECT_EQ(kinds(predicted(Counter::load_sectors, 1)), "missing ");
}

}  // namespace
}  // namespace coalprof
