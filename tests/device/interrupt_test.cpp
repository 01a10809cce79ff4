// Ctrl-C and SIGTERM in the middle of a sweep, in a child of the test's: the flag stays with it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "core/result/result.h"
#include "device/rig.h"

namespace coalprof {
namespace {

// Runs the sweep with `signal` raised in the course of call `at`, says what came and exits with
// the run's code.
[[noreturn]] void run_interrupted(std::uint64_t at, int signal) {
    std::signal(signal, SIG_DFL);  // a shell may have handed down that it is ignored
    stop_on_signals();
    Script script;
    script.signal_at = at;
    script.signal = signal;
    const Outcome outcome = run_scripted_sweep(script);
    for (const std::string& complaint : complaints(script, outcome))
        fmt::print(stderr, "complaint: {}\n", complaint);
    if (outcome.result.tail.status != Status::interrupted)
        fmt::print(stderr, "complaint: not interrupted\n");
    fmt::print(stderr, "{} points delivered, {} were finished, {} whole\n",
               outcome.result.points.size(), outcome.timed.size(), whole_points(outcome));
    std::exit(static_cast<int>(outcome.code));
}

std::uint64_t calls_of_a_sweep() {
    Script script;
    run_scripted_sweep(script);
    return script.calls();
}

// Nothing but the last line: a complaint would stand before it.
constexpr const char* no_complaint = "^[0-9]+ points delivered, [0-9]+ were finished, [0-9]+ whole";

class Interrupt : public ::testing::Test {
 protected:
    // The child begins anew: a fork has none of the threads that predict.
    Interrupt() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(Interrupt, delivers_the_finished_points_wherever_it_comes) {
    const std::uint64_t calls = calls_of_a_sweep();
    for (const std::uint64_t percent : {1u, 5u, 20u, 40u, 60u, 75u, 85u, 95u}) {
        SCOPED_TRACE(fmt::format("at {} % of the calls", percent));
        EXPECT_EXIT(run_interrupted(calls * percent / 100, SIGINT), ::testing::ExitedWithCode(130),
                    no_complaint);
    }
    EXPECT_EXIT(run_interrupted(calls / 2, SIGTERM), ::testing::ExitedWithCode(143), no_complaint);
}

TEST_F(Interrupt, before_the_first_point_delivers_none) {
    EXPECT_EXIT(run_interrupted(1, SIGINT), ::testing::ExitedWithCode(130),
                "^0 points delivered, 0 were finished");
}

// The counters are read last: by then every time is known, and reading ends with the point.
TEST_F(Interrupt, while_counters_are_read_delivers_every_time_and_some_counters) {
    const std::uint64_t calls = calls_of_a_sweep();
    EXPECT_EXIT(run_interrupted(calls * 85 / 100, SIGINT), ::testing::ExitedWithCode(130),
                "^33 points delivered, 33 were finished, ([0-9]|[12][0-9]) whole");
}

}  // namespace
}  // namespace coalprof
