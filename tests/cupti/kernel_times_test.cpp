// Times of kernels from CUPTI's records, which a scripted CUPTI hands over.
#include "cupti/attach/kernel_times.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/device/device.h"

namespace coalprof {
namespace {

std::vector<CUpti_ActivityKernel10>* records = nullptr;

// One after the other, then none is left.
CUptiResult next_record(std::uint8_t*, std::size_t, CUpti_Activity** record) {
    const auto next =
        *record ? reinterpret_cast<CUpti_ActivityKernel10*>(*record) + 1 : records->data();
    if (next == records->data() + records->size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

CUptiResult refused(CUpti_ActivityKind) { return CUPTI_ERROR_NOT_COMPATIBLE; }
CUptiResult accepted(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc) {
    return CUPTI_SUCCESS;
}
CUptiResult flushed(std::uint32_t) { return CUPTI_SUCCESS; }

class RecordedKernels : public ::testing::Test {
 protected:
    RecordedKernels() { records = &all_; }

    void add(const char* name, std::uint64_t nanoseconds, std::uint32_t graph = 0) {
        CUpti_ActivityKernel10 record;
        std::memset(static_cast<void*>(&record), 0, sizeof record);
        record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        record.start = 1'000;
        record.end = record.start + nanoseconds;
        record.gridX = 64;
        record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
        record.blockX = 256;
        record.name = name;
        record.graphId = graph;
        all_.push_back(record);
    }
    std::map<TracedKernel, TimedLaunches> sums() {
        KernelTimes times({.next_record = next_record});
        times.read(nullptr, 0);
        return times.sums();
    }

    std::vector<CUpti_ActivityKernel10> all_;
    const TracedKernel scale_{.name = "scale", .grid = {64, 1, 1}, .block = {256, 1, 1}};
};

TEST_F(RecordedKernels, have_median_and_sum) {
    for (const std::uint64_t nanoseconds : {2733'000u, 1'800u, 1'900u}) add("scale", nanoseconds);
    const TimedLaunches times = sums().at(scale_);
    EXPECT_EQ(times.launches, 3u);
    EXPECT_DOUBLE_EQ(times.median_seconds, 1.9e-6);
    EXPECT_DOUBLE_EQ(times.total_seconds, 2736.7e-6);
}

TEST_F(RecordedKernels, of_an_even_number_have_the_shorter_one_in_the_middle) {
    for (const std::uint64_t nanoseconds : {9'000u, 1'000u, 2'000u, 4'000u})
        add("scale", nanoseconds);
    EXPECT_DOUBLE_EQ(sums().at(scale_).median_seconds, 2e-6);
}

// Two launches of a graph of two kernels.
TEST_F(RecordedKernels, of_a_graph_are_one_launch) {
    for (const std::uint32_t launch : {7u, 8u})
        for (const std::uint64_t nanoseconds : {1'000u, 3'000u}) {
            add("part", nanoseconds, 5);
            all_.back().correlationId = launch;
        }
    const TimedLaunches times = sums().at(graph_launch(0));
    EXPECT_EQ(times.launches, 2u);
    EXPECT_DOUBLE_EQ(times.median_seconds, 4e-6);
    EXPECT_DOUBLE_EQ(times.total_seconds, 8e-6);
}

TEST_F(RecordedKernels, without_stamps_are_left_out) {
    add("scale", 0);
    EXPECT_TRUE(sums().empty());
}

// 20,000 launches of 1, 2, ... 20,000 ns: their median is 10 us, and few of them are kept.
TEST_F(RecordedKernels, of_any_number_keep_their_median) {
    for (std::uint64_t i = 1; i <= 20'000; ++i) add("scale", i);
    const TimedLaunches times = sums().at(scale_);
    EXPECT_EQ(times.launches, 20'000u);
    EXPECT_NEAR(times.median_seconds, 10e-6, 0.01e-6);
    EXPECT_NEAR(times.total_seconds, 0.20001, 1e-9);
}

// Which launches are recorded: none while one is counted, then all of the first and the stretch of
// 512 behind them, then some.
TEST_F(RecordedKernels, pause_while_one_is_counted_and_become_fewer) {
    static bool is_on = false;
    const auto on = [](CUpti_ActivityKind) { return is_on = true, CUPTI_SUCCESS; };
    const auto off = [](CUpti_ActivityKind) { return is_on = false, CUPTI_SUCCESS; };
    KernelTimes times({.register_callbacks = accepted,
                       .enable = on,
                       .disable = off,
                       .next_record = next_record,
                       .flush_all = flushed});
    times.start(nullptr, nullptr);
    times.pause();
    EXPECT_FALSE(is_on);
    times.resume();
    EXPECT_TRUE(is_on);
    int recorded = 0;
    for (int launch = 0; launch < 1'000'000; ++launch) {
        times.launch_begins();
        EXPECT_TRUE(is_on || launch >= 8'703);
        recorded += is_on ? 1 : 0;
    }
    EXPECT_NEAR(recorded, 8'192 + 1'000'000 / 16, 1'024);
}

TEST_F(RecordedKernels, cannot_be_had_of_a_cupti_that_refuses) {
    KernelTimes none({});
    EXPECT_THROW(none.start(nullptr, nullptr), CountersError);
    KernelTimes refusing({.register_callbacks = accepted,
                          .enable = refused,
                          .disable = refused,
                          .next_record = next_record,
                          .flush_all = flushed});
    EXPECT_THROW(refusing.start(nullptr, nullptr), CountersError);
}

}  // namespace
}  // namespace coalprof
