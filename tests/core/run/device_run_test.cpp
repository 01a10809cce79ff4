#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "core/run/device_ceilings.h"
#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/sweep/sweep.h"

namespace coalprof {
namespace {

constexpr std::size_t sweep_points = 33;

SweepPoints offsets(const Machine& machine = find_machine("h200")) {
    Sweep sweep;
    sweep.pattern = "offset";
    for (std::uint64_t offset = 0; offset < sweep_points; ++offset) sweep.values.push_back(offset);
    sweep.launch.shape.size_bytes = 1 << 14;
    sweep.machines = {machine};
    return SweepPoints(std::move(sweep));
}

struct Outcome {
    ExitCode code;
    fake::Recorder result;
};

Outcome run_changed(fake::Script& script, const std::function<void(DeviceRun&)>& change,
                    const Machine& machine = find_machine("h200")) {
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    Outcome outcome{};
    SweepPoints points = offsets(machine);
    DeviceRun device{
        .launcher = launcher,
        .collector = &collector,
        .no_counters = {},
        .wanted = wants({Counter::load_requests, Counter::load_sectors, Counter::store_sectors}),
        .repeats = 3};
    change(device);
    outcome.code = run_on_device(points, device, outcome.result);
    return outcome;
}

Outcome run(fake::Script& script, bool with_counters = true, std::uint64_t repeats = 3,
            const Machine& machine = find_machine("h200")) {
    const auto change = [&](DeviceRun& device) {
        device.repeats = repeats;
        if (with_counters) return;
        device.collector = nullptr;
        device.no_counters = "access is restricted to administrators";
    };
    return run_changed(script, change, machine);
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
// The first launch brings the kernel's code; the second one is counted.
TEST(DeviceRun, launches_then_flushes_before_each_range) {
    fake::Script script;
    run(script);
    std::string expected = "ceiling ";  // before everything else
    for (std::size_t i = 0; i < sweep_points; ++i) expected += "launch flush launch ";
    EXPECT_EQ(script.log, expected);
}

TEST(DeviceRun, launches_before_each_range_and_flushes_nothing_where_l2_is_to_be_warm) {
    fake::Script script;
    run_changed(script, [](DeviceRun& device) { device.cache = CacheState::warm; });
    std::string expected = "ceiling ";
    for (std::size_t i = 0; i < sweep_points; ++i) expected += "launch launch ";
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

// rmw writes, so copying is its ceiling: 2 x 16 KiB in 1 us are 32.768 GB/s, of 32 GB/s.
TEST(DeviceRun, compares_bandwidth_with_what_the_gpu_itself_reached) {
    fake::Script script;
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.result.head.device->read_ceiling, Reading{64e9});
    EXPECT_EQ(outcome.result.head.device->copy_ceiling, Reading{32e9});
    for (const Point& point : outcome.result.points)
        EXPECT_DOUBLE_EQ(number_in((*point.measured)[Counter::bandwidth_share]), 1.024);
}

TEST(DeviceRun, measures_no_ceiling_where_no_time_is_measured) {
    fake::Script script;
    const Outcome outcome = run(script, true, 0);
    EXPECT_EQ(script.log.find("ceiling"), std::string::npos);
    EXPECT_FALSE(is_present(outcome.result.head.device->read_ceiling));
    EXPECT_FALSE(is_present((*outcome.result.points[0].measured)[Counter::bandwidth_share]));
}

TEST(DeviceRun, says_why_there_is_no_ceiling_and_measures_all_the_same) {
    fake::Script script;
    script.on_ceiling = [] { throw PointError("needs 64.0 MiB, 1.0 MiB free"); };
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.code, ExitCode::done);
    ASSERT_EQ(outcome.result.tail.warnings.size(), 1u);
    EXPECT_EQ(outcome.result.tail.warnings.front().code, "W-NO-CEILINGS");
    for (const Point& point : outcome.result.points) {
        EXPECT_TRUE(is_number((*point.measured)[Counter::duration_seconds]));
        const Reading& share = (*point.measured)[Counter::bandwidth_share];
        EXPECT_EQ(std::get<Unavailable>(share).reason,
                  "this GPU's ceilings could not be measured: needs 64.0 MiB, 1.0 MiB free");
    }
}

TEST(DeviceRun, predicts_every_point_when_the_gpu_is_lost_before_the_first) {
    fake::Script script;
    script.on_ceiling = [] { throw DeviceLostError("illegal address"); };
    std::size_t prepared = 0;
    script.on_prepare = [&](std::uint64_t) { ++prepared; };
    const Outcome outcome = run(script);
    EXPECT_EQ(outcome.code, ExitCode::partial);
    EXPECT_EQ(prepared, 0u);
    ASSERT_EQ(outcome.result.points.size(), sweep_points);
    for (const Point& point : outcome.result.points) {
        EXPECT_FALSE(point.measured);
        EXPECT_NE(point.failure.find("illegal address"), std::string::npos);
        EXPECT_TRUE(is_number(point.predicted[Counter::load_sectors]));
    }
}

DeviceFacts h200_facts() {
    DeviceFacts facts = fake::facts_of("NVIDIA H200");
    facts.major = 9;
    facts.multiprocessors = 132;
    facts.l2_bytes = 60 << 20;
    facts.memory_clock_hz = 3'201'000'000;
    facts.memory_bus_bits = 6016;
    return facts;
}

double predicted_seconds(const Point& point) {
    return number_in(point.predicted[Counter::duration_seconds]);
}

// Every launch of the fake GPU takes 1 us, the shortest too, for which the model takes 3.3 us of an
// H200: its launches start 2.3 us sooner than those of the hosts that were measured.
TEST(DeviceRun, predicts_the_times_of_the_gpu_at_hand_by_the_start_that_it_timed) {
    fake::Script script;
    script.facts = h200_facts();
    const Outcome at_hand = run(script, true, 3, machine_of(script.facts));
    const Outcome other = run(script);
    const double start = number_in(at_hand.result.head.device->start);
    EXPECT_GT(start, 0.5e-6);
    EXPECT_LT(start, 1e-6);
    ASSERT_EQ(at_hand.result.points.size(), sweep_points);
    for (std::size_t k = 0; k < sweep_points; ++k) {
        const double sooner =
            predicted_seconds(other.result.points[k]) - predicted_seconds(at_hand.result.points[k]);
        EXPECT_NEAR(sooner, 2.3e-6, 0.1e-6);
    }
}

TEST(DeviceRun, times_no_start_of_a_gpu_without_rates_nor_where_no_time_is_measured) {
    fake::Script unknown;
    EXPECT_FALSE(is_present(run(unknown).result.head.device->start));
    fake::Script script;
    script.facts = h200_facts();
    EXPECT_FALSE(is_present(run(script, true, 0).result.head.device->start));
}

// The model knows their memory, not their launches.
TEST(DeviceRun, times_no_start_of_gpus_before_7_0) {
    fake::Script script;
    script.facts = h200_facts();
    script.facts.major = 6;
    EXPECT_FALSE(is_present(run(script).result.head.device->start));
}

// A machine that is named is predicted as it is named.
TEST(DeviceRun, predicts_a_named_machine_by_its_own_start) {
    fake::Script script;
    script.facts = h200_facts();
    fake::Script without;
    EXPECT_EQ(predicted_seconds(run(script).result.points[0]),
              predicted_seconds(run(without).result.points[0]));
}

TEST(DeviceRun, says_why_no_start_was_timed_and_predicts_by_the_usual_one) {
    fake::Script script;
    script.facts = h200_facts();
    bool is_first = true;
    script.on_prepare = [&](std::uint64_t) {
        if (std::exchange(is_first, false)) throw PointError("needs 64.0 KiB, 0 B free");
    };
    const Outcome outcome = run(script, true, 3, machine_of(script.facts));
    EXPECT_EQ(outcome.code, ExitCode::done);
    const auto& start = std::get<Unavailable>(outcome.result.head.device->start);
    EXPECT_NE(start.reason.find("needs 64.0 KiB"), std::string::npos);
    ASSERT_EQ(outcome.result.tail.warnings.size(), 1u);
    EXPECT_EQ(outcome.result.tail.warnings.front().code, "W-NO-START");
    EXPECT_GT(predicted_seconds(outcome.result.points[0]), 3e-6);
}

TEST(DeviceRun, predicts_every_point_when_the_gpu_is_lost_while_its_start_is_timed) {
    fake::Script script;
    script.facts = h200_facts();
    script.on_prepare = [](std::uint64_t) { throw DeviceLostError("illegal address"); };
    const Outcome outcome = run(script, true, 3, machine_of(script.facts));
    EXPECT_EQ(outcome.code, ExitCode::partial);
    ASSERT_EQ(outcome.result.points.size(), sweep_points);
    for (const Point& point : outcome.result.points) {
        EXPECT_NE(point.failure.find("illegal address"), std::string::npos);
        EXPECT_TRUE(is_number(point.predicted[Counter::duration_seconds]));
    }
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

// 33 points, ten at a time.
TEST(DeviceRun, warns_once_of_counters_that_fail_for_every_batch) {
    fake::Script script;
    int sessions = 0;
    script.on_collect = [&] {
        ++sessions;
        throw CountersError("another profiler has them");
    };
    const Outcome outcome =
        run_changed(script, [](DeviceRun& device) { device.points_together = 10; });
    EXPECT_EQ(sessions, 4);
    EXPECT_EQ(outcome.result.tail.warnings.size(), 1u);
}

// Of which the third cannot be made.
class BreakingPoints : public SweptPoints {
 public:
    std::uint64_t count() const override { return sweep_.count(); }
    void make(PlannedPoint& point) const override {
        if (breaks && point.number == 2) throw UsageError("it cannot be made");
        sweep_.make(point);
    }
    bool breaks = false;

 private:
    SweepPoints sweep_ = offsets();
};

TEST(DeviceRun, delivers_the_points_before_one_that_cannot_be_made_and_no_other) {
    fake::Script script;
    fake::Launcher launcher(script);
    fake::Recorder result;
    BreakingPoints points;
    DeviceBackend device(
        {.launcher = launcher, .wanted = wants({}), .accesses = points.check(), .repeats = 3});
    points.breaks = true;
    EXPECT_THROW(run_points(points, device, {}, result), UsageError);
    ASSERT_EQ(result.points.size(), 2u);
    EXPECT_EQ(result.points[1].name, "offset=1");
    EXPECT_EQ(result.tail.status, Status::interrupted);
}

Outcome run_constants(fake::Script& script) {
    Sweep sweep;
    sweep.pattern = "constant";
    sweep.values = {1, 4};
    sweep.launch.shape.size_bytes = 1 << 14;
    sweep.machines = {find_machine("h200")};
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    Outcome outcome{};
    SweepPoints points(std::move(sweep));
    outcome.code = run_on_device(points,
                                 {.launcher = launcher,
                                  .collector = &collector,
                                  .no_counters = {},
                                  .wanted = wants({Counter::constant_requests}),
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
