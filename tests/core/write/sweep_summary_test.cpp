// A sweep in one sentence, which every point of it must bear out.
#include "core/write/sweep_summary.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/write/synthetic.h"

namespace coalprof {
namespace {

Point point_of(NamedValues parameters, std::uint64_t sectors, std::uint64_t ideal = 4) {
    Point point;
    point.parameters = std::move(parameters);
    point.predicted[Counter::load_requests] = std::uint64_t{1};
    point.predicted[Counter::load_sectors] = sectors;
    point.predicted[Counter::load_ideal_sectors] = ideal;
    return point;
}

std::string summary_of(const std::vector<Point>& points) {
    SweepSummary summary;
    summary.begin(synthetic::head());
    for (const Point& point : points) summary.look_at(point);
    return summary.sentence();
}

template <typename SectorsOf>
std::string summary_over(const std::string& key, std::initializer_list<int> values,
                         SectorsOf sectors_of) {
    std::vector<Point> points;
    for (const int value : values)
        points.push_back(point_of({{key, value}}, static_cast<std::uint64_t>(sectors_of(value))));
    return summary_of(points);
}

TEST(SweepSummary, finds_the_multiples_that_cost_least) {
    const auto sectors = [](int offset) { return offset % 8 == 0 ? 4 : 5; };
    EXPECT_EQ(summary_over("offset", {0, 1, 4, 8, 11, 16}, sectors),
              "Offsets that are no multiple of 8 cost 25 % more sectors.");
    // 8 was not tried, or 4 was not.
    EXPECT_EQ(summary_over("offset", {0, 1, 16, 17}, sectors),
              "Offset 1 costs 25 % more sectors than offset 0.");
    EXPECT_EQ(summary_over("offset", {0, 1, 8, 9}, sectors),
              "Offset 1 costs 25 % more sectors than offset 0.");
    EXPECT_EQ(summary_over("offset", {0, 1, 3, 7}, sectors),
              "All rows but offset 0 cost 25 % more sectors.");
}

TEST(SweepSummary, finds_the_multiples_that_cost_most) {
    const auto passes = [](int stride) { return std::gcd(stride, 32); };
    EXPECT_EQ(summary_over("stride", {1, 2, 3, 4, 5, 32}, passes),
              "Strides that are a multiple of 2 cost 2 to 32 times the sectors.");
}

TEST(SweepSummary, says_where_a_slope_ends) {
    const auto sectors = [](int stride) { return std::min(4 * stride, 32); };
    EXPECT_EQ(summary_over("stride", {1, 2, 4, 8, 16}, sectors),
              "Sectors rise with the stride: 8 times as many from 8 to 16 as at 1.");
    EXPECT_EQ(summary_over("stride", {1, 2, 4}, sectors),
              "Sectors rise with the stride: 4 times as many at 4 as at 1.");
    const auto falling = [](int width) { return 32 / width; };
    EXPECT_EQ(summary_over("width", {1, 2, 4}, falling),
              "Sectors fall with the width: 4 times as many at 1 as at 4.");
}

TEST(SweepSummary, of_what_does_not_vary_says_how_far_from_the_ideal_it_is) {
    EXPECT_EQ(summary_over("lanes", {1, 2}, [](int) { return 4; }),
              "All rows cost the fewest sectors that there can be.");
    EXPECT_EQ(summary_over("width", {64, 128}, [](int) { return 32; }),
              "All rows cost 8 times the sectors of the ideal.");
}

TEST(SweepSummary, of_names_says_which_cost_most) {
    EXPECT_EQ(summary_of({point_of({{"variant", "naive"}}, 32), point_of({{"variant", "tile"}}, 4),
                          point_of({{"variant", "padded"}}, 4)}),
              "naive costs 8 times as many sectors as tile, padded.");
}

TEST(SweepSummary, of_two_axes_says_what_holds_for_each) {
    std::vector<Point> points;
    for (const char* type : {"f32", "f64"})
        for (const int offset : {0, 1, 2, 4, 5, 8}) {
            const int ideal = type == std::string("f32") ? 4 : 8;
            const bool is_aligned = offset % (type == std::string("f32") ? 8 : 4) == 0;
            points.push_back(point_of({{"offset", offset}, {"type", type}},
                                      static_cast<std::uint64_t>(ideal + (is_aligned ? 0 : 1)),
                                      static_cast<std::uint64_t>(ideal)));
        }
    EXPECT_EQ(summary_of(points),
              "Type f32: offsets that are no multiple of 8 cost 25 % more sectors than the ideal; "
              "type f64: offsets that are no multiple of 4 cost 12.5 % more sectors than the "
              "ideal.");
    for (Point& point : points) point.parameters[1].second = Value("f32");
    points.resize(6);
    for (std::size_t i = 0; i < 6; ++i) {
        points.push_back(points[i]);
        points.back().parameters[1].second = Value("u32");
    }
    EXPECT_EQ(summary_of(points),
              "Offsets that are no multiple of 8 cost 25 % more sectors, whatever the type.");
}

TEST(SweepSummary, is_absent_where_nothing_can_be_said) {
    const Point one = point_of({{"offset", 0}}, 4);
    EXPECT_EQ(summary_of({one}), "");                                // alone
    EXPECT_EQ(summary_of({one, point_of({{"stride", 1}}, 8)}), "");  // of other parameters
    Point failed = point_of({{"offset", 1}}, 5);
    failed.failure = "no memory";
    EXPECT_EQ(summary_of({one, failed}), "");
    Point unknown = point_of({{"offset", 1}}, 5);
    unknown.predicted[Counter::load_sectors] = Unavailable{"nobody knows"};
    EXPECT_EQ(summary_of({one, unknown}), "");
    // The work differs, and none of it is ideal: sectors alone compare nothing.
    EXPECT_EQ(summary_of({point_of({{"type", "f32"}}, 8, 4), point_of({{"type", "f64"}}, 24, 8)}),
              "");
}

TEST(SweepSummary, believes_what_was_measured) {
    std::vector<Point> points;
    for (const int offset : {0, 1, 2}) {
        points.push_back(point_of({{"offset", offset}}, 4));
        points.back().measured = points.back().predicted;
        if (offset > 0) (*points.back().measured)[Counter::load_sectors] = std::uint64_t{8};
    }
    EXPECT_EQ(summary_of(points), "All rows but offset 0 cost 2 times the sectors.");
}

}  // namespace
}  // namespace coalprof
