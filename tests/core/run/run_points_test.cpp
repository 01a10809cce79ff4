// One way through: what a run keeps in flight, in what order it delivers, and how it ends.
#include "core/run/run_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/runtime/parallel.h"
#include "core/sweep/sweep.h"
#include "fewer_cases.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;

// 32 words from `first` on.
WarpAccess words_from(std::uint64_t first) {
    WarpAccess access;
    access.active_lanes = ~0u;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        access.addresses[lane] = first + std::uint64_t{4} * lane;
    return access;
}

// Warps that start 4 bytes further on each; what goes wrong, and where, a test says.
class Warps : public PointSource {
 public:
    explicit Warps(std::uint64_t count) : count_(count) {}
    void open() override {
        if (opening_fails) throw Error("the first line does not fit");
    }
    bool next(PlannedPoint& point) override {
        if (begun == fails_at) throw Error("this line does not fit");
        if (begun == count_) return false;
        point.number = begun++;
        point.name = std::to_string(point.number);
        point.machine = find_machine("h200");
        point.warp = words_from(4 * point.number);
        return true;
    }
    bool is_ready() override { return !is_live; }
    void make(PlannedPoint& point) const override {
        if (point.number == unmade) throw Error("this point cannot be made");
        while (point.number == waits && !has_overtaken) std::this_thread::yield();
        if (point.number > waits) has_overtaken = true;
    }

    bool opening_fails = false;
    std::uint64_t fails_at = ~0ull;
    std::uint64_t unmade = ~0ull;
    bool is_live = false;         // each line is kept back until the one before is answered
    std::uint64_t waits = ~0ull;  // until a later one is made
    std::uint64_t begun = 0;
    mutable std::atomic<bool> has_overtaken{false};

 private:
    std::uint64_t count_;
};

class Threads {
 public:
    explicit Threads(unsigned count) : before_(thread_count()) { set_thread_count(count); }
    ~Threads() { set_thread_count(before_); }
    Threads(const Threads&) = delete;
    Threads& operator=(const Threads&) = delete;

 private:
    unsigned before_;
};

std::vector<std::string> names_of(const fake::Recorder& result) {
    std::vector<std::string> names;
    for (const Point& point : result.points) names.push_back(point.name);
    return names;
}

// Every sector count, in order: 5 of a warp that starts within a sector, else 4.
void expect_all_in_order(const fake::Recorder& result, std::uint64_t count) {
    ASSERT_EQ(result.points.size(), count);
    for (std::uint64_t k = 0; k < count; ++k) {
        EXPECT_EQ(result.points[k].name, std::to_string(k));
        EXPECT_EQ(std::get<std::uint64_t>(result.points[k].predicted[Counter::load_sectors]),
                  k % 8 == 0 ? 4u : 5u);
    }
}

TEST(RunPoints, deliver_in_order_whatever_the_number_of_threads) {
    constexpr std::uint64_t count = 5000 / fewer_cases;
    for (const unsigned threads : {1u, 2u, 7u}) {
        const Threads set(threads);
        Warps warps(count);
        fake::Recorder result;
        EXPECT_EQ(run_on_model(warps, result), ExitCode::done);
        EXPECT_EQ(result.head.backend, "model");
        EXPECT_EQ(result.tail.status, Status::complete);
        expect_all_in_order(result, count);
    }
}

TEST(RunPoints, go_on_behind_a_point_that_takes_long) {
    const Threads set(4);
    Warps warps(1000);
    warps.waits = 500;  // without others beside it this would not end
    fake::Recorder result;
    EXPECT_EQ(run_on_model(warps, result), ExitCode::done);
    expect_all_in_order(result, 1000);
}

// Remembers how far the source was ahead of what has arrived.
class Lag : public ResultSink {
 public:
    explicit Lag(const Warps& warps) : warps_(warps) {}
    void begin(const ResultHead&) override {}
    void point(const Point&) override { most = std::max(most, warps_.begun - arrived++); }
    void finish(const ResultTail&) override {}
    std::uint64_t most = 0;
    std::uint64_t arrived = 0;

 private:
    const Warps& warps_;
};

// 64 points go to a thread together at most, and each thread has two such lots in flight.
TEST(RunPoints, keep_a_window_of_points_however_many_there_are) {
    constexpr std::uint64_t count = 20'000 / fewer_cases;  // several windows at least
    for (const unsigned threads : {1u, 3u}) {
        const Threads set(threads);
        Warps warps(count);
        Lag lag(warps);
        run_on_model(warps, lag);
        EXPECT_EQ(lag.arrived, count);
        EXPECT_LE(lag.most, 2u * 64 * threads);
    }
}

TEST(RunPoints, answer_a_live_line_before_they_wait_for_the_next) {
    const Threads set(3);
    Warps warps(20);
    warps.is_live = true;
    Lag lag(warps);
    run_on_model(warps, lag);
    EXPECT_EQ(lag.arrived, 20u);
    EXPECT_EQ(lag.most, 1u);
}

TEST(RunPoints, finish_the_result_of_the_points_before_a_failure_and_then_throw_it) {
    for (const auto member : {&Warps::fails_at, &Warps::unmade}) {
        const Threads set(2);
        Warps warps(100);
        warps.*member = 42;
        fake::Recorder result;
        EXPECT_THROW(run_on_model(warps, result), Error);
        expect_all_in_order(result, 42);
        EXPECT_EQ(result.tail.status, Status::interrupted);
    }
}

TEST(RunPoints, begin_no_result_where_there_is_no_first_point) {
    Warps warps(3);
    warps.opening_fails = true;
    fake::Recorder result;
    EXPECT_THROW(run_on_model(warps, result), Error);
    EXPECT_EQ(result.head.backend, "");
}

// Nobody wants what would come: nothing is finished after the reader has left.
TEST(RunPoints, pass_on_what_the_sink_throws_at_once) {
    class Leaving : public fake::Recorder {
     public:
        void point(const Point& given) override {
            if (points.size() == 2) throw Error("the disk is full", ExitCode::output);
            fake::Recorder::point(given);
        }
        void finish(const ResultTail&) override { ADD_FAILURE() << "finished all the same"; }
    };
    const Threads set(2);
    Warps warps(100);
    Leaving sink;
    EXPECT_THROW(run_on_model(warps, sink), Error);
    EXPECT_THAT(names_of(sink), ElementsAre("0", "1"));
}

// A machine without doubles is told once, not at every point.
TEST(RunPoints, tell_an_obstacle_of_a_machine_once) {
    Sweep sweep;
    sweep.pattern = "offset";
    sweep.values = {0, 1, 2};
    sweep.launch.type = ElementType::f64;
    sweep.machines = {find_machine("c870")};
    SweepPoints points(sweep);
    fake::Recorder result;
    EXPECT_EQ(run_on_model(points, result), ExitCode::done);
    ASSERT_EQ(result.tail.warnings.size(), 1u);
    EXPECT_EQ(result.tail.warnings.front().code, "W-IMPOSSIBLE");
}

}  // namespace
}  // namespace coalprof
