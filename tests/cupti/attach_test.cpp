// What counts the kernels of other people's programs, against a scripted CUPTI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "core/text/symbol.h"
#include "cupti/attach/launch_counter.h"
#include "cupti/attach/launch_turn.h"
#include "cupti/attach/orders.h"
#include "cupti/collector.h"
#include "cupti/fake_cupti.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TracedKernel kernel_named(const std::string& name) {
    return {.name = name, .grid = {1, 1, 1}, .block = {32, 1, 1}};
}

// --- which launches ------------------------------------------------------------------------------

TEST(LaunchChoice, takes_the_first_of_each_kernel_and_shape) {
    LaunchChoice choice(2, std::nullopt);
    TracedKernel wide = kernel_named("a");
    wide.block = {64, 1, 1};
    EXPECT_TRUE(choice.takes(kernel_named("a")));
    EXPECT_TRUE(choice.takes(kernel_named("a")));  // the one before was not counted
    choice.count(kernel_named("a"));
    EXPECT_TRUE(choice.takes(kernel_named("a")));
    choice.count(kernel_named("a"));
    EXPECT_FALSE(choice.takes(kernel_named("a")));
    EXPECT_TRUE(choice.takes(wide));
    EXPECT_EQ(choice.total(), 5u);
    EXPECT_EQ(choice.launches().at(kernel_named("a")), 4u);
}

TEST(LaunchChoice, leaves_kernels_alone_that_wait_for_other_gpus) {
    LaunchChoice choice(1, std::nullopt);
    EXPECT_FALSE(choice.takes(kernel_named("ncclDevKernel_AllReduce")));
    EXPECT_FALSE(choice.takes(kernel_named("_Z13nvshmem_thingv")));
    LaunchChoice asked(1, "nccl");
    EXPECT_TRUE(asked.takes(kernel_named("ncclDevKernel_AllReduce")));
}

TEST(LaunchChoice, looks_for_its_pattern_in_the_name_that_people_read) {
    LaunchChoice choice(1, "scale\\(float");
    EXPECT_TRUE(choice.takes(kernel_named("_Z5scalePf")));
    EXPECT_FALSE(choice.takes(kernel_named("_Z5scalePd")));
    // All but one, as --help of run says; the names of templates begin with what they return.
    LaunchChoice others(1, "^(?!.*scale)");
    EXPECT_FALSE(others.takes(kernel_named("_Z5scaleIfEvPT_")));
    EXPECT_TRUE(others.takes(kernel_named("_Z4copyPf")));
    EXPECT_EQ(demangled("_Z5scalePf"), "scale(float*)");
    EXPECT_EQ(demangled("triton_kernel_0d1"), "triton_kernel_0d1");
}

// --- whose turn it is ----------------------------------------------------------------------------

TEST(LaunchTurn, others_wait_until_the_launch_has_returned) {
    std::mutex mutex;
    LaunchTurn turn(std::chrono::hours(1));
    bool has_come = false;
    bool is_free = false;
    turn.take();
    EXPECT_TRUE(turn.is_mine());
    std::thread other([&] {
        std::unique_lock lock(mutex);
        has_come = true;  // the lock is free again when it waits
        is_free = turn.wait(lock);
    });
    for (bool waits = false; !waits; std::this_thread::yield()) {
        const std::lock_guard lock(mutex);
        waits = has_come;
        if (waits) turn.end();
    }
    other.join();
    EXPECT_TRUE(is_free);
}

TEST(LaunchTurn, is_given_up_where_its_thread_has_ended) {
    std::mutex mutex;
    LaunchTurn turn(std::chrono::milliseconds(1));
    std::thread([&] { turn.take(); }).join();
    std::unique_lock lock(mutex);
    EXPECT_FALSE(turn.wait(lock));
    EXPECT_TRUE(lock.owns_lock());
    turn.end();
    EXPECT_TRUE(turn.wait(lock));
}

// Whoever has it would wait for itself.
TEST(LaunchTurn, is_not_waited_for_by_its_own_thread) {
    std::mutex mutex;
    LaunchTurn turn(std::chrono::hours(1));
    turn.take();
    std::unique_lock lock(mutex);
    EXPECT_FALSE(turn.wait(lock));
}

// --- counting ------------------------------------------------------------------------------------

class Attached : public ::testing::Test {
 protected:
    LaunchCounter& counter(std::size_t most_pending = 4, RunPass pass = RunPass::traffic) {
        counter_.reset();
        config_.reset();
        if (!profiler_) profiler_.emplace(api_ = fake.api());
        CUcontext context = nullptr;
        fake.driver().context_get_current(&context);
        metrics_.emplace(pass, "GH100", [](std::string_view) { return true; });
        config_.emplace(api_, "GH100", metrics_->names());
        counter_.emplace(LaunchCounter::Setup{
            .api = api_,
            .context = context,
            .config = *config_,
            .metrics = *metrics_,
            .most_pending = most_pending,
            .deliver = [this](const CountedLaunch& launch) { delivered.push_back(launch); },
            .problem = [this](const std::string& text) { problems.push_back(text); }});
        return *counter_;
    }
    void launch(std::uint64_t number, bool succeeds = true) {
        counter_->begin(number, kernel_named("k"));
        counter_->end(succeeds);
    }
    std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> all;
        for (const CountedLaunch& one : delivered) all.push_back(one.number);
        return all;
    }
    std::vector<std::string> breaches() {
        counter_.reset();
        config_.reset();
        profiler_.reset();
        return fake.breaches();
    }

    FakeCupti fake;
    std::vector<CountedLaunch> delivered;
    std::vector<std::string> problems;

 private:
    CuptiApi api_;
    std::optional<StartedProfiler> profiler_;
    std::optional<RunMetrics> metrics_;
    std::optional<MetricConfig> config_;
    std::optional<LaunchCounter> counter_;
};

TEST_F(Attached, every_launch_is_delivered_once_however_many_a_session_holds) {
    for (const std::size_t room : {1u, 2u, 3u, 100u}) {
        delivered.clear();
        LaunchCounter& counting = counter(room);
        for (std::uint64_t number = 1; number <= 5; ++number) launch(number);
        counting.close();
        EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5)) << room;
    }
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_THAT(breaches(), IsEmpty());
}

TEST_F(Attached, says_when_its_room_was_full) {
    LaunchCounter& counting = counter(2);
    std::vector<bool> was_full;
    for (std::uint64_t number = 1; number <= 5; ++number) {
        was_full.push_back(counting.begin(number, kernel_named("k")));
        counting.end(true);
    }
    EXPECT_THAT(was_full, ElementsAre(false, false, true, false, true));
}

// Making room takes time, and a program that goes on and off makes it again and again.
TEST_F(Attached, room_that_nobody_needed_is_not_made_again) {
    const auto room_after = [&](std::uint64_t launches) {
        LaunchCounter& counting = counter(500);
        for (std::uint64_t number = 1; number <= launches; ++number) launch(number);
        EXPECT_EQ(fake.session_sizes.back(), 500u);
        counting.close();
        launch(launches + 1);
        return fake.session_sizes.back();
    };
    EXPECT_LT(room_after(1), 500u);
    EXPECT_EQ(room_after(300), 300u);
}

// Requests are those of loads and of asynchronous copies. Warps were there for 4 of 5 cycles of the
// range's 2500 ns; before them and after them comes what an empty kernel takes, 2 us.
TEST_F(Attached, readings_are_sums_of_metrics_in_our_units) {
    fake.value = [](const std::string& metric, const std::string&) {
        return metric.starts_with("gpu__time")      ? 2500.0
               : metric.starts_with("dram")         ? std::nan("")
               : metric == "sm__cycles_elapsed.max" ? 5.0
                                                    : 4.0;
    };
    LaunchCounter& counting = counter();
    launch(2);
    counting.close();
    ASSERT_THAT(delivered, SizeIs(1));
    EXPECT_EQ(delivered[0].measured[Counter::load_requests], Reading{std::uint64_t{8}});
    EXPECT_EQ(delivered[0].measured[Counter::load_sectors], Reading{std::uint64_t{4}});
    EXPECT_EQ(delivered[0].measured[Counter::load_sectors_per_request], Reading{0.5});
    EXPECT_DOUBLE_EQ(number_in(delivered[0].measured[Counter::duration_seconds]), 4e-6);
    EXPECT_TRUE(
        std::holds_alternative<Unavailable>(delivered[0].measured[Counter::dram_read_bytes]));
}

TEST_F(Attached, a_launch_that_failed_is_not_delivered) {
    LaunchCounter& counting = counter();
    launch(1);
    launch(2, false);
    launch(3);
    counting.close();
    EXPECT_THAT(numbers(), ElementsAre(1, 3));
}

// As when the program ends while another thread launches.
TEST_F(Attached, a_launch_that_returns_after_close_ends_nothing) {
    LaunchCounter& counting = counter();
    counting.begin(1, kernel_named("k"));
    counting.close();
    counting.end(true);
    EXPECT_FALSE(counting.is_open());
    EXPECT_THAT(delivered, IsEmpty());
    EXPECT_THAT(breaches(), IsEmpty());
}

TEST_F(Attached, the_profiler_is_off_after_close_and_on_again_when_it_is_needed) {
    LaunchCounter& counting = counter();
    EXPECT_FALSE(counting.is_open());
    launch(1);
    EXPECT_TRUE(fake.is_enabled);
    counting.close();
    EXPECT_FALSE(fake.is_enabled);
    launch(2);
    EXPECT_TRUE(fake.is_enabled);
    counting.close();
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
    EXPECT_THAT(breaches(), IsEmpty());
}

class FailingCall : public Attached, public ::testing::WithParamInterface<const char*> {};

// 26 is HARDWARE_BUSY. The first launch is lost with the call; the program is not.
TEST_P(FailingCall, is_told_once_and_ends_the_counting) {
    fake.fail(GetParam(), 1, 26);
    LaunchCounter& counting = counter();
    for (std::uint64_t number = 1; number <= 6; ++number) launch(number);
    EXPECT_FALSE(fake.is_enabled);
    counting.close();
    EXPECT_THAT(problems, SizeIs(1));
    EXPECT_THAT(delivered, IsEmpty());
    EXPECT_THAT(breaches(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Calls, FailingCall,
                         ::testing::Values("RangeEnable", "RangeGetCounterDataSize",
                                           "RangeImageInitialize", "RangeSetConfig", "RangeStart",
                                           "RangePush", "RangePop", "RangeStop", "RangeDecode",
                                           "RangeGetCounterDataInfo", "HostEvaluateToGpuValues"));

TEST_F(Attached, ranges_that_nobody_asked_for_are_no_launches) {
    LaunchCounter& counting = counter();
    launch(1);
    for (const char* name : {"0x", "", "9"}) fake.ranges_of_pass.emplace_back(name);
    counting.close();
    EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(Attached, ranges_that_cupti_loses_are_told) {
    fake.dropped = 1;
    LaunchCounter& counting = counter();
    for (std::uint64_t number = 1; number <= 3; ++number) launch(number);
    counting.close();
    EXPECT_THAT(numbers(), ElementsAre(1, 2));
    EXPECT_THAT(problems, SizeIs(1));
}

// What is in bytes of lanes comes from patched code, which is a pass of its own.
TEST(RunMetrics, of_a_pass_are_all_of_one_kind) {
    const auto has = [](std::string_view) { return true; };
    const RunMetrics traffic(RunPass::traffic, "GH100", has);
    const RunMetrics use(RunPass::use, "GH100", has);
    for (const std::string& name : traffic.names())
        EXPECT_FALSE(name.starts_with("smsp__sass_")) << name;
    for (const std::string& name : use.names())
        EXPECT_TRUE(name.starts_with("smsp__sass_")) << name;
}

using Time = Patience::Time;

TEST(Patience, with_a_kernel_that_ran_on_is_at_an_end_and_with_others_half_as_long) {
    Patience patience(Time(1600));
    EXPECT_EQ(patience.with_kernel("k"), Time(1600));
    for (int i = 0; i < 2; ++i) patience.kernel_ran_on("waits");
    EXPECT_EQ(patience.with_kernel("waits"), Time(0));
    EXPECT_EQ(patience.with_kernel("k"), Time(800));
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) patience.kernel_ran_on(name);
    EXPECT_EQ(patience.with_kernel("k"), Time(100));  // a sixteenth, at least
}

// A kernel that ran on may well hold up its context.
TEST(Patience, with_a_context_is_a_tenth_when_a_kernel_ran_on) {
    Patience patience(Time(1600));
    EXPECT_EQ(patience.with_context(), Time(1600));
    patience.kernel_ran_on("waits");
    EXPECT_EQ(patience.with_context(), Time(160));
}

TEST(Patience, with_a_context_that_runs_on_halves_but_not_at_the_end) {
    Patience patience(Time(1600));
    patience.context_ran_on();
    EXPECT_EQ(patience.with_context(), Time(800));
    EXPECT_EQ(patience.at_the_end(), Time(800));
    for (int i = 0; i < 20; ++i) patience.context_ran_on();
    EXPECT_EQ(patience.with_context(), Patience::short_wait);
    EXPECT_EQ(patience.at_the_end(), Time(160));
}

}  // namespace
}  // namespace coalprof
