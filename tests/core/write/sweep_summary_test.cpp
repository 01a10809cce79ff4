// A sweep in one sentence, which every point of it must bear out.
#include "core/write/sweep_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <ranges>
#include <regex>

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
    EXPECT_EQ(summary_over("offset", {0, 1, 2, 3, 4, 5, 6, 7, 8}, sectors),
              "Offsets that are no multiple of 8 cost 25 % more sectors.");
    // Of 8 nothing is known, or of 4.
    EXPECT_EQ(summary_over("offset", {0, 1, 16, 17}, sectors),
              "Offset 1 costs 25 % more sectors than offset 0.");
    EXPECT_EQ(summary_over("offset", {0, 1, 8, 9}, sectors),
              "Offset 1 costs 25 % more sectors than offset 0.");
    EXPECT_EQ(summary_over("offset", {0, 1, 2, 3}, sectors),
              "All rows but offset 0 cost 25 % more sectors.");
}

TEST(SweepSummary, finds_the_multiples_that_cost_most) {
    const auto passes = [](int stride) { return std::gcd(stride, 32); };
    EXPECT_EQ(summary_over("stride", {1, 2, 3, 4, 5, 6, 7, 8}, passes),
              "Strides that are a multiple of 2 cost 2 to 8 times the sectors of all others.");
}

TEST(SweepSummary, says_where_a_slope_ends) {
    const auto sectors = [](int stride) { return std::min(4 * stride, 32); };
    EXPECT_EQ(summary_over("stride", {1, 2, 4, 8, 16}, sectors),
              "Sectors rise with the stride: 8 times as many from 8 on as at 1.");
    EXPECT_EQ(summary_over("stride", {1, 2, 4}, sectors),
              "Sectors rise with the stride: 4 times as many at 4 as at 1.");
    const auto falling = [](int width) { return 32 / width; };
    EXPECT_EQ(summary_over("width", {1, 2, 4}, falling),
              "Sectors fall with the width: 4 times as many at 1 as at 4.");
}

TEST(SweepSummary, of_what_does_not_vary_says_how_far_from_the_ideal_it_is) {
    EXPECT_EQ(summary_over("lanes", {1, 2}, [](int) { return 4; }),
              "All rows are ideal: none wastes sectors.");
    EXPECT_EQ(summary_over("width", {64, 128}, [](int) { return 32; }),
              "All rows cost 8 times the sectors of the ideal.");
}

// Rows of 4,028 bytes and of 4,000 need different numbers of sectors, and waste different shares.
TEST(SweepSummary, of_different_work_compares_with_the_ideal_of_each) {
    EXPECT_EQ(
        summary_of({point_of({{"row_bytes", 4000}}, 4, 4), point_of({{"row_bytes", 4004}}, 6, 5),
                    point_of({{"row_bytes", 4008}}, 5, 5), point_of({{"row_bytes", 4012}}, 8, 5)}),
        "row_bytes 4012 costs 60 % more sectors than the ideal, row_bytes 4000 wastes "
        "none.");
}

TEST(SweepSummary, of_two_axes_says_nothing) {
    std::vector<Point> points;
    for (const char* type : {"f32", "f64"})
        for (int offset = 0; offset <= 8; ++offset) {
            const int ideal = type == std::string("f32") ? 4 : 8;
            const bool is_aligned = offset % (type == std::string("f32") ? 8 : 4) == 0;
            points.push_back(point_of({{"offset", offset}, {"type", type}},
                                      static_cast<std::uint64_t>(ideal + (is_aligned ? 0 : 1)),
                                      static_cast<std::uint64_t>(ideal)));
        }
    EXPECT_EQ(summary_of(points), "");
}

// Random costs of random offsets: what a sentence says of them is held against every point.
TEST(SweepSummary, says_nothing_that_a_point_contradicts) {
    std::mt19937 random(7);
    const std::regex multiples("\\w+ that are (no|a) multiple of (\\d+) cost .*");
    const std::regex slope("Sectors (rise|fall) with .*");
    const std::regex exception("All rows but offset (\\d+) cost .*");
    const std::regex ends(
        "Offset (\\d+) costs .* than offset (\\d+)\\.|"
        "Offset (\\d+) costs .* as offset (\\d+)\\.");
    std::map<std::string, int> seen;
    for (int round = 0; round < 4000; ++round) {
        std::map<int, int> costs;
        const int modulus = 1 << random() % 5;
        const bool is_regular = random() % 2 == 0;
        for (std::size_t i = 0, count = 2 + random() % 12; i < count; ++i) {
            const int offset =
                round % 3 == 0 ? static_cast<int>(i) : static_cast<int>(random() % 33);
            costs[offset] =
                is_regular ? (offset % modulus == 0 ? 4 : 5) : 4 + static_cast<int>(random() % 3);
        }
        std::vector<Point> points;
        for (const auto& [offset, sectors] : costs)
            points.push_back(point_of({{"offset", offset}}, static_cast<std::uint64_t>(sectors)));
        const std::string text = summary_of(points);
        const auto [least, most] = std::ranges::minmax(costs | std::views::values);
        std::smatch part;
        const auto all = [&](auto holds) {
            return std::ranges::all_of(costs, [&](const auto& one) { return holds(one); });
        };
        const auto number = [&](std::size_t i) { return std::stoi(part[i]); };
        if (std::regex_match(text, part, multiples)) {
            EXPECT_TRUE(all([&](const auto& one) {
                return (one.first % number(2) == 0) == ((part[1] == "no") == (one.second == least));
            })) << text;
            EXPECT_TRUE(!is_regular || number(2) == modulus) << text;
            ++seen["multiples"];
        } else if (std::regex_match(text, part, slope)) {
            std::vector<int> in_order(costs.size());
            std::ranges::copy(costs | std::views::values, in_order.begin());
            if (part[1] == "fall") std::ranges::reverse(in_order);
            EXPECT_TRUE(std::ranges::is_sorted(in_order)) << text;
            ++seen["slope"];
        } else if (std::regex_match(text, part, exception)) {
            EXPECT_TRUE(all([&](const auto& one) {
                return (one.first == number(1)) == (one.second == least);
            })) << text;
            ++seen["exception"];
        } else if (std::regex_match(text, part, ends)) {
            const std::size_t first = part[1].matched ? 1 : 3;
            EXPECT_EQ(costs.at(number(first)), most) << text;
            EXPECT_EQ(costs.at(number(first + 1)), least) << text;
            ++seen["ends"];
        } else {
            EXPECT_TRUE(least == most || costs.size() < 2) << text;
        }
    }
    EXPECT_EQ(seen.size(), 4u);
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

TEST(SweepSummary, is_silent_below_a_hundredth) {
    for (const std::uint64_t sectors : {10'099u, 10'100u}) {
        const bool says_it = sectors == 10'100;
        EXPECT_EQ(summary_of({point_of({{"k", 0}}, 10'000, 10'000),
                              point_of({{"k", 1}}, sectors, 10'000)}) != "",
                  says_it);
        EXPECT_EQ(summary_of({point_of({{"k", 0}}, sectors, 10'000),
                              point_of({{"k", 1}}, sectors, 10'000)}) != "",
                  says_it);
    }
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
