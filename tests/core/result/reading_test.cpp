#include "core/result/reading.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/result/result.h"

namespace coalprof {
namespace {

double real(const Reading& reading) { return std::get<double>(reading); }
std::string_view reason(const Reading& reading) { return std::get<Unavailable>(reading).reason; }

TEST(Reading, number_in_converts_integers) {
    EXPECT_EQ(number_in(Reading{std::uint64_t{7}}), 7.0);
    EXPECT_EQ(number_in(Reading{0.5}), 0.5);
}

TEST(Reading, each_visits_what_is_there_in_output_order) {
    Readings readings;
    readings[Counter::store_sectors] = std::uint64_t{2};
    readings[Counter::load_sectors] = std::uint64_t{1};
    readings[Counter::dram_read_bytes] = Unavailable{"no"};
    std::vector<Counter> seen;
    readings.each([&](Counter counter, const Reading&) { seen.push_back(counter); });
    EXPECT_EQ(seen, (std::vector{Counter::load_sectors, Counter::store_sectors,
                                 Counter::dram_read_bytes}));
}

TEST(Ratios, follow_from_the_sums_of_a_kind) {
    // float offset 11 on a warp: 128 bytes in 5 sectors, 1 request.
    Readings readings;
    readings[Counter::load_requests] = std::uint64_t{32768};
    readings[Counter::load_sectors] = std::uint64_t{32768 * 5};
    readings[Counter::load_unique_bytes] = std::uint64_t{32768 * 128};
    derive_ratios(readings);
    EXPECT_EQ(real(readings[Counter::load_sectors_per_request]), 5.0);
    EXPECT_EQ(real(readings[Counter::load_bytes_per_sector]), 25.6);
    EXPECT_EQ(real(readings[Counter::load_efficiency]), 0.8);
}

TEST(Ratios, excess_is_what_exceeds_the_ideal_sectors) {
    Readings readings;
    readings[Counter::load_sectors] = std::uint64_t{32768 * 5};
    readings[Counter::load_ideal_sectors] = std::uint64_t{32768 * 4};
    readings[Counter::store_sectors] = std::uint64_t{7};
    readings[Counter::atomic_sectors] = std::uint64_t{0};
    readings[Counter::atomic_ideal_sectors] = std::uint64_t{0};
    readings[Counter::reduce_sectors] = std::uint64_t{1};
    readings[Counter::reduce_ideal_sectors] = std::uint64_t{2};  // as no program of ours counts
    derive_ratios(readings);
    EXPECT_EQ(readings[Counter::load_excess_sectors], Reading{std::uint64_t{32768}});
    EXPECT_EQ(real(readings[Counter::load_excess]), 0.25);
    EXPECT_FALSE(is_present(readings[Counter::store_excess_sectors]));
    EXPECT_FALSE(is_present(readings[Counter::store_excess]));
    EXPECT_EQ(readings[Counter::atomic_excess_sectors], Reading{std::uint64_t{0}});
    EXPECT_NE(reason(readings[Counter::atomic_excess]), "");
    EXPECT_EQ(readings[Counter::reduce_excess_sectors], Reading{std::uint64_t{0}});
}

TEST(Ratios, leave_kinds_that_are_not_there_alone) {
    Readings readings;
    readings[Counter::load_requests] = std::uint64_t{1};
    readings[Counter::load_sectors] = std::uint64_t{4};
    derive_ratios(readings);
    EXPECT_FALSE(is_present(readings[Counter::store_sectors_per_request]));
    EXPECT_FALSE(is_present(readings[Counter::store_efficiency]));
    // Bytes were not counted: their ratios are not there either.
    EXPECT_FALSE(is_present(readings[Counter::load_bytes_per_sector]));
    EXPECT_FALSE(is_present(readings[Counter::bandwidth_bytes_per_second]));
}

TEST(Ratios, with_nothing_below_the_line_are_unavailable) {
    Readings readings;  // a warp with no active lane
    readings[Counter::load_requests] = std::uint64_t{0};
    readings[Counter::load_sectors] = std::uint64_t{0};
    readings[Counter::load_unique_bytes] = std::uint64_t{0};
    derive_ratios(readings);
    EXPECT_NE(reason(readings[Counter::load_sectors_per_request]), "");
    EXPECT_NE(reason(readings[Counter::load_bytes_per_sector]), "");
    EXPECT_EQ(readings[Counter::load_efficiency], readings[Counter::load_bytes_per_sector]);
}

TEST(Ratios, of_which_a_part_is_unavailable_pass_its_reason_on) {
    Readings readings;
    readings[Counter::load_requests] = std::uint64_t{1};
    readings[Counter::load_sectors] = Unavailable{"counters are refused"};
    readings[Counter::load_unique_bytes] = std::uint64_t{128};
    readings[Counter::duration_seconds] = 2.0;
    readings[Counter::useful_bytes] = Unavailable{"not known"};
    derive_ratios(readings);
    EXPECT_EQ(reason(readings[Counter::load_sectors_per_request]), "counters are refused");
    EXPECT_EQ(reason(readings[Counter::load_efficiency]), "counters are refused");
    EXPECT_EQ(reason(readings[Counter::bandwidth_bytes_per_second]), "not known");
}

TEST(Ratios, bandwidth_is_useful_bytes_over_the_duration) {
    Readings readings;
    readings[Counter::useful_bytes] = std::uint64_t{8'000'000};
    readings[Counter::duration_seconds] = 0.004;
    derive_ratios(readings);
    EXPECT_DOUBLE_EQ(real(readings[Counter::bandwidth_bytes_per_second]), 2e9);
    readings[Counter::duration_seconds] = 0.0;
    derive_ratios(readings);
    EXPECT_NE(reason(readings[Counter::bandwidth_bytes_per_second]), "");
}

TEST(Reason, is_kept_once_for_equal_texts) {
    std::string text = "a reason made at run time";
    const std::string_view kept = keep_reason(text);
    text = "overwritten";
    EXPECT_EQ(kept, "a reason made at run time");
    EXPECT_EQ(keep_reason("a reason made at run time").data(), kept.data());
}

TEST(Reason, may_be_kept_from_several_threads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            for (int i = 0; i < 1000; ++i) keep_reason("reason " + std::to_string(i));
        });
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < 1000; ++i) {
        const std::string text = "reason " + std::to_string(i);
        EXPECT_EQ(keep_reason(text), text);
    }
}

TEST(Status, has_the_names_of_the_result_file) {
    EXPECT_EQ(name_of(Status::complete), "complete");
    EXPECT_EQ(name_of(Status::partial), "partial");
    EXPECT_EQ(name_of(Status::interrupted), "interrupted");
}

TEST(Limit, is_found_by_its_name) {
    for (std::size_t i = 0; i < limit_count; ++i) {
        const auto limit = static_cast<Limit>(i);
        EXPECT_EQ(find_limit(name_of(limit)), limit);
        EXPECT_FALSE(phrase_of(limit).empty());
    }
    EXPECT_FALSE(find_limit("speed"));
}

}  // namespace
}  // namespace coalprof
