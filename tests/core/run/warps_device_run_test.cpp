#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "core/run/device_backend.h"
#include "core/run/fake_device.h"
#include "core/run/run_points.h"
#include "core/sweep/warps_source.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 32 words side by side, the first of them at `first`.
std::string line(const std::string& name, const std::string& op, int first) {
    std::string text = fmt::format("{} {} 4", name, op);
    for (int lane = 0; lane < 32; ++lane) text += fmt::format(" {}", first + 4 * lane);
    return text + "\n";
}

struct Replay {
    ExitCode code = ExitCode::internal;
    std::string refusal;
    fake::Recorder result;
};

Replay replay(fake::Script& script, const std::string& text) {
    // Tests run side by side, each in a process of its own.
    const std::string path = fmt::format("{}warps_{}.txt", ::testing::TempDir(), ::getpid());
    std::ofstream(path) << text;
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    Replay outcome;
    try {
        WarpsSource lines(path, find_machine("h200"));
        DeviceBackend device({.launcher = launcher,
                              .collector = &collector,
                              .no_counters = {},
                              .wanted = [](AccessSet accesses) -> std::vector<Counter> {
                                  if (accesses.has(Access::shared_load))
                                      return {Counter::shared_load_wavefronts};
                                  return {accesses.has(Access::global_load)
                                              ? Counter::load_sectors
                                              : Counter::store_sectors};
                              },
                              .repeats = 0,
                              .points_together = warps_together});
        outcome.code = run_points(lines, device, {}, outcome.result);
    } catch (const UsageError& error) {
        outcome.refusal = error.what();
    }
    std::remove(path.c_str());
    return outcome;
}

std::vector<std::string> names_of(const Replay& outcome) {
    std::vector<std::string> names;
    for (const Point& point : outcome.result.points) names.push_back(point.name);
    return names;
}

// Each kind of instruction is measured in a session of its own; the points keep the file's order.
TEST(WarpsDeviceRun, measures_every_line_and_keeps_their_order) {
    fake::Script script;
    const Replay outcome = replay(script, line("a", "load", 0) + line("b", "store", 16) +
                                              line("c", "shared_load", 0) + line("d", "load", 64));
    EXPECT_EQ(outcome.code, ExitCode::done);
    EXPECT_EQ(outcome.result.tail.status, Status::complete);
    EXPECT_TRUE(outcome.result.tail.warnings.empty());
    EXPECT_THAT(names_of(outcome), ElementsAre("a", "b", "c", "d"));
    const auto measured = [&](std::size_t point, Counter counter) {
        return std::get<std::uint64_t>((*outcome.result.points[point].measured)[counter]);
    };
    EXPECT_EQ(measured(0, Counter::load_sectors), 4u);   // 128 aligned bytes in sectors of 32
    EXPECT_EQ(measured(1, Counter::store_sectors), 5u);  // from byte 16 on they reach one more
    EXPECT_EQ(measured(2, Counter::shared_load_wavefronts), 1u);
    EXPECT_EQ(measured(3, Counter::load_sectors), 4u);
}

TEST(WarpsDeviceRun, warns_of_a_line_that_disagrees) {
    fake::Script script;
    script.distort = [](auto, Readings& readings) {
        readings[Counter::load_sectors] = std::uint64_t{7};
    };
    const Replay outcome = replay(script, line("a", "load", 0));
    ASSERT_EQ(outcome.result.tail.warnings.size(), 1u);
    EXPECT_EQ(outcome.result.tail.warnings.front().code, "W-MISMATCH");
    EXPECT_EQ(outcome.result.tail.warnings.front().point, "a");
}

TEST(WarpsDeviceRun, goes_on_after_a_line_that_cannot_be_launched) {
    fake::Script script;
    script.on_prepare_warp = [](const WarpAccess& warp) {
        if (warp.addresses[0] == 64) throw PointError("not enough memory");
    };
    const Replay outcome =
        replay(script, line("a", "load", 0) + line("b", "load", 64) + line("c", "load", 128));
    EXPECT_EQ(outcome.code, ExitCode::partial);
    EXPECT_EQ(outcome.result.tail.status, Status::partial);
    EXPECT_THAT(names_of(outcome), ElementsAre("a", "b", "c"));
    EXPECT_EQ(outcome.result.points[1].failure, "not enough memory");
    EXPECT_TRUE(is_number((*outcome.result.points[2].measured)[Counter::load_sectors]));
}

TEST(WarpsDeviceRun, predicts_the_lines_after_the_gpu_was_lost) {
    fake::Script script;
    script.on_launch = [](auto) { throw DeviceLostError("the GPU fell off the bus"); };
    const Replay outcome = replay(script, line("a", "load", 0) + line("b", "store", 0));
    EXPECT_THAT(names_of(outcome), ElementsAre("a", "b"));
    for (const Point& point : outcome.result.points) {
        ASSERT_TRUE(point.measured) << point.name;
        const Counter counter = point.name == "a" ? Counter::load_sectors : Counter::store_sectors;
        EXPECT_TRUE(is_number(point.predicted[counter]));
        EXPECT_FALSE(is_number((*point.measured)[counter]));
    }
}

TEST(WarpsDeviceRun, delivers_the_lines_before_a_wrong_one) {
    fake::Script script;
    const Replay outcome = replay(script, line("a", "load", 0) + line("b", "lod", 0));
    EXPECT_THAT(outcome.refusal, HasSubstr(":2:3: unknown op 'lod'"));
    EXPECT_THAT(names_of(outcome), ElementsAre("a"));
    EXPECT_EQ(outcome.result.tail.status, Status::interrupted);
    EXPECT_TRUE(is_number((*outcome.result.points[0].measured)[Counter::load_sectors]));
}

TEST(WarpsDeviceRun, begins_no_result_where_the_first_line_is_wrong) {
    fake::Script script;
    const Replay outcome = replay(script, line("b", "lod", 0) + line("a", "load", 0));
    EXPECT_THAT(outcome.refusal, HasSubstr(":1:3: unknown op 'lod'"));
    EXPECT_TRUE(outcome.result.head.backend.empty());
}

}  // namespace
}  // namespace coalprof
