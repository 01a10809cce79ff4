#include "core/run/device_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/run/fake_device.h"

namespace coalprof {
namespace {

constexpr std::size_t sweep_points = 33;

std::vector<PlannedPoint> offsets() {
    Sweep sweep;
    sweep.pattern = "offset";
    for (std::uint64_t offset = 0; offset < sweep_points; ++offset) sweep.values.push_back(offset);
    sweep.shape.size_bytes = 1 << 14;
    sweep.machines = {find_machine("h200")};
    return expand(sweep);
}

struct Outcome {
    ExitCode code;
    fake::Recorder result;
};

Outcome run(fake::Script& script, bool with_counters = true) {
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    Outcome outcome{};
    outcome.code = run_sweep_on_device(
        offsets(), {},
        {.launcher = launcher,
         .collector = with_counters ? &collector : nullptr,
         .no_counters = with_counters ? "" : "access is restricted to administrators",
         .wanted = {Counter::load_requests, Counter::load_sectors, Counter::store_sectors},
         .repeats = 3},
        outcome.result);
    return outcome;
}

std::uint64_t count(const Readings& readings, Counter counter) {
    return std::get<std::uint64_t>(readings[counter]);
}

bool is_whole(const Point& point) {
    return point.measured && is_number((*point.measured)[Counter::load_sectors]) &&
           is_number((*point.measured)[Counter::duration_seconds]);
}

TEST(DeviceRun, sets_measurement_beside_prediction_under_the_same_names) {
    fake::Script script;
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.code, ExitCode::done);
    EXPECT_EQ(outcome.result.head.backend, "device");
    EXPECT_EQ(outcome.result.tail.status, Status::complete);
    ASSERT_EQ(outcome.result.points.size(), sweep_points);
    EXPECT_TRUE(outcome.result.tail.warnings.empty());
    for (const Point& point : outcome.result.points) {
        ASSERT_TRUE(is_whole(point));
        EXPECT_EQ(count(point.predicted, Counter::load_sectors),
                  count(*point.measured, Counter::load_sectors));
    }
}

// Two launches would count twice, and a cache that was not flushed would hide DRAM traffic.
TEST(DeviceRun, flushes_once_and_launches_once_for_each_range) {
    fake::Script script;
    run(script);
    std::string expected;
    for (std::size_t i = 0; i < sweep_points; ++i) expected += "flush launch ";
    EXPECT_EQ(script.log, expected);
}

TEST(DeviceRun, warns_with_both_numbers_when_a_predicted_counter_differs) {
    fake::Script script;
    script.distort = [](std::uint64_t value, Readings& readings) {
        if (value == 11) readings[Counter::load_sectors] = std::uint64_t{1};
    };
    const Outcome outcome = run(script);
    ASSERT_EQ(outcome.result.tail.warnings.size(), 1u);
    const Warning& warning = outcome.result.tail.warnings.front();
    EXPECT_EQ(warning.code, "W-MISMATCH");
    EXPECT_EQ(warning.point, "offset=11");
    // 16 KiB are 4096 floats, 128 warps of 5 sectors each.
    EXPECT_EQ(warning.text, "load_sectors: predicted 640, measured 1");
}

TEST(DeviceRun, loses_no_other_point_when_one_fails_in_any_of_its_steps) {
    using Hook = std::function<void(std::uint64_t)> fake::Script::*;
    for (const Hook hook :
         {&fake::Script::on_prepare, &fake::Script::on_time, &fake::Script::on_verify}) {
        fake::Script script;
        script.*hook = [](std::uint64_t value) {
            if (value == 7) throw PointError("needs 12.0 GiB, 3.1 GiB free");
        };
        const Outcome outcome = run(script);
        EXPECT_EQ(outcome.code, ExitCode::partial);
        ASSERT_EQ(outcome.result.points.size(), sweep_points);
        for (const Point& point : outcome.result.points) {
            const bool failed = point.name == "offset=7";
            EXPECT_EQ(is_whole(point), !failed) << point.name;
            EXPECT_EQ(point.failure, failed ? "needs 12.0 GiB, 3.1 GiB free" : "");
            EXPECT_TRUE(is_number(point.predicted[Counter::load_sectors]));
        }
    }
}

TEST(DeviceRun, keeps_the_time_of_a_point_whose_counted_launch_fails) {
    fake::Script script;
    script.on_launch = [](std::uint64_t value) {
        if (value == 7) throw PointError("the launch was refused");
    };
    const Outcome outcome = run(script);
    ASSERT_EQ(outcome.result.points.size(), sweep_points);
    const Point& failed = outcome.result.points[7];
    EXPECT_TRUE(is_number((*failed.measured)[Counter::duration_seconds]));
    EXPECT_EQ(std::get<Unavailable>((*failed.measured)[Counter::load_sectors]).reason,
              "the launch was refused");
    EXPECT_TRUE(is_whole(outcome.result.points[8]));
}

TEST(DeviceRun, delivers_what_was_finished_when_the_gpu_is_lost) {
    fake::Script script;
    script.on_time = [](std::uint64_t value) {
        if (value == 20) throw DeviceLostError("illegal address");
    };
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.code, ExitCode::partial);
    ASSERT_EQ(outcome.result.points.size(), sweep_points);
    for (std::size_t i = 0; i < sweep_points; ++i) {
        const Point& point = outcome.result.points[i];
        EXPECT_TRUE(is_number(point.predicted[Counter::load_sectors]));
        EXPECT_EQ(point.measured.has_value(), i < 20);  // their times were taken before
        EXPECT_EQ(point.failure.empty(), i < 20);
    }
    EXPECT_NE(outcome.result.points[32].failure.find("illegal address"), std::string::npos);
}

TEST(DeviceRun, delivers_time_and_prediction_where_counters_are_refused) {
    fake::Script script;
    for (const bool has_collector : {true, false}) {
        script.on_collect = [] { throw CountersError("access is restricted to administrators"); };
        const Outcome outcome = run(script, has_collector);
        EXPECT_EQ(outcome.code, ExitCode::done);
        ASSERT_EQ(outcome.result.points.size(), sweep_points);
        for (const Point& point : outcome.result.points) {
            EXPECT_TRUE(is_number((*point.measured)[Counter::duration_seconds]));
            EXPECT_EQ(std::get<Unavailable>((*point.measured)[Counter::load_sectors]).reason,
                      "access is restricted to administrators");
        }
        ASSERT_EQ(outcome.result.tail.warnings.size(), 1u);
        EXPECT_EQ(outcome.result.tail.warnings.front().code, "W-NO-COUNTERS");
    }
}

Outcome run_constants(fake::Script& script) {
    Sweep sweep;
    sweep.pattern = "constant";
    sweep.values = {1, 4};
    sweep.shape.size_bytes = 1 << 14;
    sweep.machines = {find_machine("h200")};
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    Outcome outcome{};
    outcome.code = run_sweep_on_device(expand(sweep), {},
                                       {.launcher = launcher,
                                        .collector = &collector,
                                        .no_counters = {},
                                        .wanted = {Counter::constant_requests},
                                        .repeats = 3},
                                       outcome.result);
    return outcome;
}

// 16 KiB of floats are 128 warps; 4 addresses are 4 passes each. The kernel loads its parameters
// from constant memory too: 300 passes more, which a launch without the accesses tells.
TEST(DeviceRun, takes_off_what_a_kernel_loads_from_constant_memory_besides) {
    fake::Script script;
    script.constant_overhead = 300;
    const Outcome outcome = run_constants(script);
    EXPECT_EQ(outcome.code, ExitCode::done);
    ASSERT_EQ(outcome.result.points.size(), 2u);
    EXPECT_EQ(count(*outcome.result.points[0].measured, Counter::constant_requests), 128u);
    EXPECT_EQ(count(*outcome.result.points[1].measured, Counter::constant_requests), 4 * 128u);
    EXPECT_TRUE(outcome.result.tail.warnings.empty());
}

TEST(DeviceRun, does_without_constants_where_the_rest_cannot_be_told_apart) {
    fake::Script script;
    script.constant_overhead = 300;
    script.distort = [&script](std::uint64_t value, Readings& readings) {
        if (value == 4 && script.without_constants)
            readings[Counter::constant_requests] = std::uint64_t{1} << 20;
    };
    const Outcome outcome = run_constants(script);
    EXPECT_EQ(count(*outcome.result.points[0].measured, Counter::constant_requests), 128u);
    EXPECT_FALSE(is_number((*outcome.result.points[1].measured)[Counter::constant_requests]));
}

}  // namespace
}  // namespace coalprof
