// A GPU that is lost while the first of two sessions counts: the second does not ask it for
// anything.
#include <gtest/gtest.h>

#include "core/run/fake_device.h"
#include "core/run/runs.h"
#include "core/sweep/sweep.h"

namespace coalprof {
namespace {

constexpr std::size_t points = 300;  // a session holds 256

SweepPoints many_offsets() {
    Sweep sweep;
    sweep.pattern = "offset";
    for (std::uint64_t offset = 0; offset < points; ++offset) sweep.values.push_back(offset);
    sweep.launch.shape.size_bytes = 1024;
    sweep.machines = {find_machine("h200")};
    return SweepPoints(std::move(sweep));
}

TEST(LostGpu, while_counters_are_read_is_not_used_by_the_next_session) {
    fake::Script script;
    bool is_lost = false;
    std::size_t prepared_after = 0;
    script.on_prepare = [&](std::uint64_t) { prepared_after += is_lost ? 1 : 0; };
    script.on_launch = [&](std::uint64_t offset) {
        is_lost = offset == 3;
        if (is_lost) throw DeviceLostError("illegal address");
    };
    fake::Launcher launcher(script);
    fake::Collector collector(script, launcher);
    fake::Recorder result;
    SweepPoints sweep = many_offsets();
    const ExitCode code = run_on_device(sweep,
                                        {.launcher = launcher,
                                         .collector = &collector,
                                         .no_counters = {},
                                         .wanted = wants({Counter::load_sectors}),
                                         .repeats = 1},
                                        result);
    EXPECT_EQ(code, ExitCode::partial);
    EXPECT_EQ(prepared_after, 0u);
    ASSERT_EQ(result.points.size(), points);
    EXPECT_TRUE(is_number((*result.points[2].measured)[Counter::load_sectors]));
    EXPECT_TRUE(result.points[255].timing);
    EXPECT_FALSE(result.points[256].measured);
    EXPECT_EQ(result.points[256].failure,
              "the GPU was lost while counting offset=3: illegal address");
    EXPECT_TRUE(is_number(result.points[299].predicted[Counter::load_sectors]));
    ASSERT_EQ(result.tail.warnings.size(), 1u);
    EXPECT_EQ(result.tail.warnings.front().code, "W-NO-COUNTERS");
}

}  // namespace
}  // namespace coalprof
