#include "core/judge/best.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/text/error.h"
#include "core/write/table_notes.h"

namespace coalprof {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Collected : public ResultSink {
 public:
    void begin(const ResultHead& its_head) override { head = its_head; }
    void point(const Point& point) override { points.push_back(point); }
    void finish(const ResultTail& end) override { tail = end; }
    ResultHead head;
    std::vector<Point> points;
    ResultTail tail;
};

Point point_of(NamedValues parameters, std::uint64_t sectors, double efficiency = 1) {
    Point point;
    point.name = "p";
    point.parameters = std::move(parameters);
    point.predicted[Counter::load_sectors] = sectors;
    point.predicted[Counter::load_efficiency] = efficiency;
    return point;
}

ResultHead head_of_strides() {
    ResultHead head;
    head.sweep = {.pattern = "stride", .parameter = "stride"};
    return head;
}

Verdict best_of(const std::vector<Point>& points, Counter counter) {
    Collected collected;
    BestSink best(collected, counter);
    best.begin(head_of_strides());
    for (const Point& point : points) best.point(point);
    best.finish({});
    EXPECT_EQ(collected.points.size(), points.size());
    return collected.tail.verdicts.at(0);
}

// Block 64: 10 and 30 sectors, the mean is 20; block 128: 10 and 50, the mean is 30.
TEST(Best, combinations_are_compared_over_the_swept_parameter) {
    const Verdict verdict = best_of(
        {point_of({{"stride", 1}, {"block", 64}}, 10), point_of({{"stride", 2}, {"block", 64}}, 30),
         point_of({{"stride", 1}, {"block", 128}}, 10),
         point_of({{"stride", 2}, {"block", 128}}, 50)},
        Counter::load_sectors);
    ASSERT_EQ(verdict.best.size(), 1u);
    EXPECT_EQ(verdict.best.front(), (NamedValues{{"block", 64}}));
    EXPECT_EQ(verdict.combinations, 2u);
    EXPECT_EQ(verdict.values, 2u);
    EXPECT_DOUBLE_EQ(verdict.gain, 1.5);
}

TEST(Best, of_a_sweep_without_combinations_the_values_are_compared) {
    const Verdict verdict = best_of({point_of({{"stride", 1}}, 40), point_of({{"stride", 2}}, 10),
                                     point_of({{"stride", 3}}, 20)},
                                    Counter::load_sectors);
    ASSERT_EQ(verdict.best.size(), 1u);
    EXPECT_EQ(verdict.best.front(), (NamedValues{{"stride", 2}}));
    EXPECT_DOUBLE_EQ(verdict.gain, 4);
}

TEST(Best, the_larger_efficiency_is_the_better_one) {
    const Verdict verdict =
        best_of({point_of({{"stride", 1}}, 1, 0.25), point_of({{"stride", 2}}, 1, 0.5)},
                Counter::load_efficiency);
    EXPECT_EQ(verdict.best.front(), (NamedValues{{"stride", 2}}));
    EXPECT_DOUBLE_EQ(verdict.gain, 2);
}

TEST(Best, equals_are_all_named) {
    const Verdict verdict = best_of({point_of({{"stride", 1}}, 8), point_of({{"stride", 2}}, 8)},
                                    Counter::load_sectors);
    EXPECT_EQ(verdict.best.size(), 2u);
    EXPECT_DOUBLE_EQ(verdict.gain, 1);
}

TEST(Best, measurements_decide_where_every_point_has_one) {
    Point slow = point_of({{"stride", 1}}, 8);
    slow.measured.emplace()[Counter::load_sectors] = std::uint64_t{9};
    Point fast = point_of({{"stride", 2}}, 100);
    fast.measured.emplace()[Counter::load_sectors] = std::uint64_t{3};
    EXPECT_EQ(best_of({slow, fast}, Counter::load_sectors).best.front(),
              (NamedValues{{"stride", 2}}));
    fast.measured.reset();
    EXPECT_EQ(best_of({slow, fast}, Counter::load_sectors).best.front(),
              (NamedValues{{"stride", 1}}));
}

// Stride 1 reads 4 KiB with 160 sectors, stride 2 8 KiB with 256: fewer for each byte.
TEST(Best, totals_of_different_work_say_so_and_which_is_best_for_each_byte) {
    const auto verdict_of = [](std::uint64_t larger, Counter counter) {
        Point one = point_of({{"stride", 1}}, 160, 0.8);
        one.predicted[Counter::useful_bytes] = std::uint64_t{4096};
        Point two = point_of({{"stride", 2}}, 256, 1);
        two.predicted[Counter::useful_bytes] = larger;
        return best_of({one, two}, counter).text;
    };
    const std::string text = verdict_of(8192, Counter::load_sectors);
    EXPECT_THAT(text, HasSubstr("stride 1 needs 4 KiB, stride 2 8 KiB"));
    EXPECT_THAT(text, HasSubstr("per byte, the best is stride 2"));
    EXPECT_THAT(verdict_of(4096, Counter::load_sectors), Not(HasSubstr("per byte")));
    EXPECT_THAT(verdict_of(8192, Counter::load_efficiency), Not(HasSubstr("per byte")));
}

Point kernel_point(const std::string& name, double seconds, Limit limit) {
    Point point;
    point.parameters = {{"kernel", name}};
    point.predicted[Counter::duration_seconds] = seconds;
    point.estimates =
        Estimates{.intervals = {{Counter::duration_seconds, 0.9 * seconds, 1.1 * seconds}},
                  .limits = {limit}};
    return point;
}

// Intervals of 10 % overlap up to a ratio of 1.22.
TEST(Best, kernels_whose_times_overlap_are_in_an_order_that_held_for_so_many_pairs) {
    const auto text_of_times = [](double other) {
        return best_of(
                   {kernel_point("one", 1e-3, Limit::l1), kernel_point("other", other, Limit::l1)},
                   Counter::duration_seconds)
            .text;
    };
    EXPECT_THAT(text_of_times(1.15e-3), HasSubstr("in tests 72 of 100"));
    EXPECT_THAT(text_of_times(1.21e-3), HasSubstr("in tests 81 of 100"));
    EXPECT_THAT(text_of_times(1.05e-3), HasSubstr("cannot be told apart"));
    for (const double other : {1.05e-3, 1.3e-3})
        EXPECT_THAT(text_of_times(other), Not(HasSubstr("of 100")));
}

// The tile has a sixteenth of the requests, an eighth of the sectors and two
// thirds of all passes; its stores are few beside them, and L2 limits neither.
TEST(Best, kernels_are_told_apart_by_the_counters_of_what_limits_the_slower_one) {
    Point naive = kernel_point("naive", 3e-3, Limit::l1),
          tiled = kernel_point("tiled", 2e-3, Limit::l1);
    for (const auto& [counter, of_naive, of_tiled] :
         {std::tuple{Counter::load_requests, 160'000, 10'000},
          std::tuple{Counter::load_sectors, 320'000, 40'000},
          std::tuple{Counter::l1_passes, 240'000, 160'000},
          std::tuple{Counter::store_requests, 10, 30},
          std::tuple{Counter::l2_read_sectors, 900'000, 30'000}}) {
        naive.predicted[counter] = static_cast<std::uint64_t>(of_naive);
        tiled.predicted[counter] = static_cast<std::uint64_t>(of_tiled);
    }
    tiled.predicted[Counter::shared_load_wavefronts] = std::uint64_t{150'000};
    const std::string same = best_of({naive, tiled}, Counter::duration_seconds).text;
    EXPECT_THAT(same, HasSubstr("L1 limits both"));
    EXPECT_THAT(same, HasSubstr("tiled has 33.3 % fewer passes through L1 and shared memory than "
                                "naive; 93.8 % fewer load requests, but 150,000 passes"));
    // More of something is no reason to be faster.
    Point busier = tiled;
    busier.predicted[Counter::l1_passes] = std::uint64_t{300'000};
    EXPECT_THAT(best_of({naive, busier}, Counter::duration_seconds).text,
                HasSubstr("has 93.8 % fewer load requests than naive; 87.5 % fewer load "
                          "sectors, but 150,000 passes"));
    EXPECT_THAT(same, Not(HasSubstr("L2 read")));
    EXPECT_THAT(same, Not(HasSubstr("store")));
    naive.estimates->limits = {Limit::l2};
    const std::string others = best_of({naive, tiled}, Counter::duration_seconds).text;
    EXPECT_THAT(others, HasSubstr("L2 limits naive, L1 tiled"));
    EXPECT_THAT(others, HasSubstr("96.7 % fewer L2 read sectors"));
    EXPECT_THAT(best_of({naive, tiled}, Counter::load_sectors).text, Not(HasSubstr("limits")));
}

// Two matrix products, each with n*n results of 4 bytes.
Point product_point(const std::string& kernel, std::int64_t n, std::int64_t pitch, double seconds) {
    Point point = kernel_point(kernel, seconds, Limit::l1);
    point.parameters = {{"kernel", kernel}, {"grid", "129x129"}, {"n", n}, {"pitch", pitch}};
    point.predicted[Counter::useful_bytes] = static_cast<std::uint64_t>(4 * n * n);
    point.predicted[Counter::load_unique_bytes] = static_cast<std::uint64_t>(8 * n * n);
    return point;
}

std::vector<Verdict> verdicts_of_kernels(const std::vector<Point>& points) {
    Collected collected;
    const BestSink::Lines lines{{"p", "mm.cu:6"}};
    BestSink best(collected, Counter::duration_seconds, &lines);
    ResultHead head;
    head.sweep = {.pattern = "kernel", .parameter = "kernel"};
    best.begin(head);
    for (Point point : points) {
        point.name = "p";
        best.point(point);
    }
    best.finish({});
    return collected.tail.verdicts;
}

// The smaller size is never the better choice, even where it does nearly the same work.
TEST(Best, kernels_are_compared_at_each_size_of_the_problem) {
    std::vector<Point> points;
    for (const std::int64_t n : {2047, 2048}) {
        const bool is_power = n == 2048;
        points.push_back(product_point("naive", n, 0, is_power ? 3e-3 : 2e-3));
        points.push_back(product_point("tiled", n, 0, is_power ? 1.5e-3 : 3e-3));
    }
    const std::vector<Verdict> verdicts = verdicts_of_kernels(points);
    ASSERT_EQ(verdicts.size(), 2u);
    EXPECT_EQ(verdicts[0].scope,
              (NamedValues{{"counter", "duration_seconds"}, {"n", std::int64_t{2047}}}));
    EXPECT_EQ(*find_value(verdicts[0].best.at(0), "kernel"), Value("naive"));
    EXPECT_THAT(verdicts[0].text, ::testing::StartsWith("naive"));
    EXPECT_THAT(verdicts[1].text, ::testing::StartsWith("tiled"));
    EXPECT_DOUBLE_EQ(verdicts[1].gain, 2);
}

TEST(Best, a_kernel_that_is_best_at_all_sizes_has_one_sentence) {
    const std::vector<Verdict> verdicts = verdicts_of_kernels(
        {product_point("naive", 64, 0, 3e-3), product_point("tiled", 64, 0, 2e-3),
         product_point("naive", 96, 0, 8e-3), product_point("tiled", 96, 0, 2e-3)});
    ASSERT_EQ(verdicts.size(), 3u);
    EXPECT_EQ(verdicts[0].best,
              (std::vector<NamedValues>{
                  {{"kernel", "tiled"}, {"grid", "129x129"}, {"pitch", std::int64_t{0}}}}));
    EXPECT_EQ(verdicts[0].values, 2u);
    EXPECT_DOUBLE_EQ(verdicts[0].gain, 1.5);
    EXPECT_THAT(verdicts[0].text, HasSubstr("1.5 to 4 times as fast as naive"));
    EXPECT_THAT(verdicts[0].text, HasSubstr("mm.cu:6"));
}

TEST(Best, tables_show_one_sentence_or_some_of_the_sizes) {
    std::vector<Point> points;
    for (std::int64_t n = 1; n <= 9; ++n)
        for (const char* kernel : {"naive", "tiled"})
            points.push_back(product_point(kernel, n, 0, kernel[0] == 'n' ? 3e-3 : 2e-3));
    EXPECT_EQ(verdict_lines(verdicts_of_kernels(points)).size(), 1u);
    points.front().predicted[Counter::duration_seconds] = 1e-3;
    points.front().estimates.reset();
    const std::vector<std::string> lines = verdict_lines(verdicts_of_kernels(points));
    ASSERT_EQ(lines.size(), 7u);
    EXPECT_THAT(lines[0], ::testing::StartsWith("Best at n 1: naive"));
    EXPECT_THAT(lines[6], HasSubstr("3 more sizes"));
}

TEST(Best, sizes_whose_best_cannot_be_told_have_no_common_sentence) {
    EXPECT_EQ(verdicts_of_kernels(
                  {product_point("naive", 64, 0, 2.1e-3), product_point("tiled", 64, 0, 2e-3),
                   product_point("naive", 96, 0, 8e-3), product_point("tiled", 96, 0, 2e-3)})
                  .size(),
              2u);
}

// A pitch changes no byte of the work; a size alone has nothing to choose.
TEST(Best, arguments_that_change_no_work_are_choices) {
    const std::vector<Verdict> verdicts = verdicts_of_kernels(
        {product_point("naive", 64, 64, 4e-3), product_point("tiled", 64, 64, 3e-3),
         product_point("naive", 64, 80, 5e-3), product_point("tiled", 64, 80, 2e-3)});
    ASSERT_EQ(verdicts.size(), 1u);
    EXPECT_THAT(verdicts[0].text, ::testing::StartsWith("kernel tiled, pitch 80"));
    const std::vector<Verdict> sizes = verdicts_of_kernels(
        {product_point("tiled", 64, 64, 3e-3), product_point("tiled", 96, 64, 5e-3)});
    ASSERT_EQ(sizes.size(), 1u);
    EXPECT_THAT(sizes[0].text, HasSubstr("not the same work"));
}

TEST(Best, a_counter_that_the_instructions_do_not_have_is_refused) {
    Collected collected;
    BestSink best(collected, Counter::shared_load_wavefronts);
    best.begin(head_of_strides());
    EXPECT_THROW(best.point(point_of({{"stride", 1}}, 8)), UsageError);
}

TEST(Best, what_cannot_be_had_is_no_best) {
    Point point = point_of({{"stride", 1}}, 8);
    point.predicted[Counter::dram_read_bytes] = Unavailable{"for a reason"};
    Collected collected;
    BestSink best(collected, Counter::dram_read_bytes);
    best.begin(head_of_strides());
    best.point(point);
    best.finish({});
    EXPECT_FALSE(best.was_there());
    EXPECT_TRUE(collected.tail.verdicts.at(0).best.empty());
}

// One has 5 sectors, of the other nothing is known: that is no contest.
TEST(Best, one_with_a_number_is_not_best_of_those_without) {
    Point unknown = point_of({{"stride", 2}}, 0);
    unknown.predicted[Counter::load_sectors] = Unavailable{"it is atomic"};
    Point absent;
    absent.parameters = {{"stride", 3}};
    for (const Point& other : {unknown, absent}) {
        const Verdict verdict =
            best_of({point_of({{"stride", 1}}, 5), other}, Counter::load_sectors);
        EXPECT_TRUE(verdict.best.empty());
        EXPECT_NE(verdict.text.find(text_of(other.parameters.front().second)), std::string::npos)
            << "it names the one without: " << verdict.text;
    }
    EXPECT_NE(best_of({point_of({{"stride", 1}}, 5), unknown}, Counter::load_sectors)
                  .text.find("it is atomic"),
              std::string::npos);
}

Point estimated(NamedValues parameters, double low, double seconds, double high) {
    Point point = point_of(std::move(parameters), 1);
    point.predicted[Counter::duration_seconds] = seconds;
    point.estimates.emplace().intervals = {{Counter::duration_seconds, low, high}};
    return point;
}

TEST(Best, estimates_whose_intervals_overlap_are_not_told_apart) {
    const Point a = estimated({{"stride", 1}}, 1e-5, 2e-5, 3e-5);
    const Point b = estimated({{"stride", 2}}, 2.9e-5, 4e-5, 5e-5);
    const Point c = estimated({{"stride", 3}}, 6e-5, 7e-5, 8e-5);
    EXPECT_EQ(best_of({a, b, c}, Counter::duration_seconds).best.size(), 2u);
    EXPECT_TRUE(best_of({a, b}, Counter::duration_seconds).text.starts_with("likely"));
    const Point near = estimated({{"stride", 4}}, 1e-5, 2.1e-5, 3e-5);
    EXPECT_TRUE(best_of({a, near}, Counter::duration_seconds).text.starts_with("cannot be told"));
    EXPECT_EQ(best_of({a, c}, Counter::duration_seconds).best.size(), 1u);
}

TEST(Best, a_verdict_that_a_result_has_is_not_given_twice) {
    Collected collected;
    BestSink best(collected, Counter::load_sectors);
    best.begin(head_of_strides());
    for (const std::int64_t stride : {1, 2})
        best.point(point_of({{"stride", stride}}, 10 * static_cast<std::uint64_t>(stride)));
    best.finish({});
    ResultTail saved = collected.tail;
    ASSERT_EQ(saved.verdicts.size(), 1u);
    // Only the run itself knows the costliest line.
    saved.verdicts[0].text += ". The line that costs most is k.cu:6";
    best.finish(saved);
    EXPECT_EQ(collected.tail.verdicts.size(), 1u);
}

TEST(Best, combinations_that_lack_a_number_are_not_ranked) {
    Point lacks = point_of({{"stride", 2}, {"block", 64}}, 0);
    lacks.predicted[Counter::load_sectors] = Unavailable{"for a reason"};
    std::vector<Point> points{point_of({{"stride", 1}, {"block", 64}}, 1), lacks};
    for (const std::int64_t block : {128, 256})
        for (const std::int64_t stride : {1, 2})
            points.push_back(point_of({{"stride", stride}, {"block", block}},
                                      static_cast<std::uint64_t>(block)));
    const Verdict verdict = best_of(points, Counter::load_sectors);
    ASSERT_EQ(verdict.best.size(), 1u);
    EXPECT_EQ(verdict.best.front(), (NamedValues{{"block", 128}}));
}

// Times are never quite the same twice: measured ones are alike within 1 %.
TEST(Best, measured_times_are_alike_within_a_hundredth) {
    const auto alike = [](double seconds) {
        std::vector<Point> points;
        for (const double each : {1.0, seconds}) {
            points.push_back(point_of({{"stride", each == 1.0 ? 1 : 2}}, 1));
            points.back().measured.emplace()[Counter::duration_seconds] = each;
        }
        return best_of(points, Counter::duration_seconds).best.size();
    };
    EXPECT_EQ(alike(1.009), 2u);
    EXPECT_EQ(alike(1.02), 1u);
}

// What a point that failed would have had is not known.
TEST(Best, a_first_point_that_failed_refuses_no_counter) {
    Point failed;
    failed.parameters = {{"stride", 1}};
    EXPECT_THROW(best_of({failed}, Counter::load_sectors), UsageError);
    failed.failure = "not enough memory";
    EXPECT_NE(best_of({failed, point_of({{"stride", 2}}, 8)}, Counter::load_sectors)
                  .text.find("only stride 2"),
              std::string::npos);
}

std::vector<std::uint64_t> sorted_by(const std::string& key, std::vector<Point> points) {
    Collected collected;
    SortedSink sorted(collected, key);
    sorted.begin(head_of_strides());
    for (const Point& point : points) sorted.point(point);
    sorted.finish({});
    std::vector<std::uint64_t> strides;
    for (const Point& point : collected.points)
        strides.push_back(
            static_cast<std::uint64_t>(std::stoull(text_of(point.parameters.front().second))));
    return strides;
}

TEST(Sorted, the_best_comes_first_and_what_has_no_number_last) {
    const std::vector<Point> points{point_of({{"stride", 1}}, 30, 0.1),
                                    point_of({{"stride", 2}}, 10, 0.9),
                                    point_of({{"stride", 3}}, 20, 0.5)};
    using Strides = std::vector<std::uint64_t>;
    EXPECT_EQ(sorted_by("load_sectors", points), (Strides{2, 3, 1}));
    EXPECT_EQ(sorted_by("load_sectors:desc", points), (Strides{1, 3, 2}));
    EXPECT_EQ(sorted_by("load_efficiency", points), (Strides{2, 3, 1}));
    EXPECT_EQ(sorted_by("stride:desc", points), (Strides{3, 2, 1}));
    std::vector<Point> with_gap = points;
    with_gap[1].predicted[Counter::load_sectors] = Unavailable{"for a reason"};
    EXPECT_EQ(sorted_by("load_sectors", with_gap), (Strides{3, 1, 2}));
}

TEST(Sorted, points_come_out_as_they_went_in) {
    Point point = point_of({{"stride", 1}, {"dlcm", "ca"}}, 30, 0.1);
    point.predicted[Counter::dram_read_bytes] = Unavailable{"for a reason"};
    point.instructions = {{"a", "load", "f32", "i*3", "", point.predicted}};
    point.failure = "it failed";
    Collected collected;
    SortedSink sorted(collected, "stride");
    sorted.begin(head_of_strides());
    sorted.point(point_of({{"stride", 2}}, 20, 0.5));
    sorted.point(point);
    sorted.finish({});
    ASSERT_EQ(collected.points.size(), 2u);
    const Point& first = collected.points[0];
    EXPECT_EQ(first.parameters, point.parameters);
    EXPECT_EQ(first.predicted[Counter::dram_read_bytes], Reading(Unavailable{"for a reason"}));
    EXPECT_EQ(first.failure, "it failed");
    EXPECT_EQ(first.instructions.front().index, "i*3");
}

TEST(Sorted, results_show_the_counter_that_they_are_sorted_by) {
    Collected collected;
    SortedSink(collected, "load_sectors").begin(head_of_strides());
    EXPECT_EQ(collected.head.foremost, std::vector{Counter::load_sectors});
    SortedSink(collected, "stride").begin(head_of_strides());
    EXPECT_TRUE(collected.head.foremost.empty());
}

TEST(Sorted, keys_that_nothing_has_are_refused) {
    EXPECT_THROW(sorted_by("strides", {point_of({{"stride", 1}}, 8)}), UsageError);
    EXPECT_THROW(sorted_by("stride:up", {point_of({{"stride", 1}}, 8)}), UsageError);
}

}  // namespace
}  // namespace coalprof
