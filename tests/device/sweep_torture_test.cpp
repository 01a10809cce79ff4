// Every call of the driver, NVRTC and CUPTI in a 33-point sweep fails once, with several codes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "device/rig.h"

namespace coalprof {
namespace {

using ::testing::IsEmpty;

// Illegal address, launch failed, unknown: the context is gone for good.
const std::set<int> sticky_codes{700, 719, 999};

// Invalid value, out of memory, launch out of resources, not supported, and the sticky ones.
const std::vector<int> driver_codes{1, 2, 701, 801, 700, 719, 999};
// Out of memory, program creation, compilation, internal error.
const std::vector<int> nvrtc_codes{1, 2, 6, 11};
// Invalid parameter, not initialised, out of memory, not supported, hardware busy, insufficient
// privileges, virtualised device, unknown: cupti/cupti_api.cpp names them all.
const std::vector<int> cupti_codes{1, 7, 8, 15, 26, 35, 39, 999};

const std::vector<int>& codes_of(Library library) {
    return library == Library::driver  ? driver_codes
           : library == Library::nvrtc ? nvrtc_codes
                                       : cupti_codes;
}

// Every fault of one library: each call of a clean sweep with each code.
std::vector<FailingCall> all_faults(Library library) {
    Script script;
    run_scripted_sweep(script);
    std::vector<FailingCall> faults;
    for (const auto& [call, count] : script.counts())
        for (std::uint64_t nth = 1; call.owner == library && nth <= count; ++nth)
            for (const int code : codes_of(library)) faults.push_back({call, nth, code});
    return faults;
}

// Sanitizers make a sweep fifteen times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t sparser = 5;
#else
constexpr std::size_t sparser = 1;
#endif

// With COALPROF_ALL_FAULTS in the environment every fault is played. Without, every `stride`-th of
// the long list: fewer than the codes, and prime to their number, so that each call still fails
// and each code meets calls of every kind.
std::vector<FailingCall> some_faults(Library library, std::size_t stride) {
    const std::vector<FailingCall> all = all_faults(library);
    if (std::getenv("COALPROF_ALL_FAULTS") != nullptr) return all;
    std::vector<FailingCall> some;
    for (std::size_t k = 0; k < all.size(); k += stride * sparser) some.push_back(all[k]);
    return some;
}

struct Torture {
    std::size_t faults = 0;
    std::size_t without_gpu = 0;
    std::size_t without_collector = 0;
    std::size_t all_whole = 0;
};

// Plays each fault; `judge` says what else must hold of its kind.
template <typename Judge>
Torture torture(const std::vector<FailingCall>& faults, Judge judge) {
    Torture done;
    for (const FailingCall& fault : faults) {
        SCOPED_TRACE(
            fmt::format("{} number {} answers {}", fault.call.name, fault.nth, fault.code));
        Script script(fault);
        script.sticky = sticky_codes;
        script.cupti_is_lost_too = fault.nth % 2 == 1;
        const Outcome outcome = run_scripted_sweep(script);
        EXPECT_TRUE(script.has_failed());
        EXPECT_THAT(complaints(script, outcome), IsEmpty());
        judge(fault, script, outcome);
        ++done.faults;
        done.without_gpu += outcome.has_gpu ? 0 : 1;
        done.without_collector += outcome.has_gpu && !outcome.has_collector ? 1 : 0;
        done.all_whole += whole_points(outcome) == sweep_points ? 1 : 0;
        if (::testing::Test::HasFailure()) break;  // one is enough to look at
    }
    fmt::print("{} faults; without GPU {}, without collector {}, all points whole {}\n",
               done.faults, done.without_gpu, done.without_collector, done.all_whole);
    return done;
}

TEST(SweepTorture, starts_from_a_sweep_in_which_every_point_is_whole) {
    Script script;
    const Outcome outcome = run_scripted_sweep(script);
    EXPECT_EQ(outcome.code, ExitCode::done);
    EXPECT_EQ(whole_points(outcome), sweep_points);
    EXPECT_THAT(complaints(script, outcome), IsEmpty());
    std::map<Library, std::uint64_t> calls;
    for (const auto& [call, count] : script.counts()) calls[call.owner] += count;
    // Each point is prepared, filled, timed, checked and counted twice: at least 20 calls of the
    // driver, and one range pushed, popped, named and evaluated in each of two sessions.
    EXPECT_GT(calls[Library::driver], 20 * sweep_points);
    EXPECT_GT(calls[Library::cupti], 8 * sweep_points);
    EXPECT_GT(calls[Library::nvrtc], 10u);
    fmt::print("calls: driver {}, NVRTC {}, CUPTI {}\n", calls[Library::driver],
               calls[Library::nvrtc], calls[Library::cupti]);
}

TEST(SweepTorture, of_the_driver_loses_one_point_or_what_comes_after_a_lost_gpu) {
    const Torture done = torture(
        some_faults(Library::driver, 5),
        [](const FailingCall&, const Script& script, const Outcome& o) {
            if (!o.has_gpu || !o.has_collector) return;
            if (!script.is_lost()) {
                EXPECT_GE(whole_points(o), sweep_points - 1);
            }
            // A GPU lost at a point is lost for those after it, never for those before.
            bool is_lost = false;
            for (const Point& point : o.result.points) {
                if (script.is_lost() && !point.failure.empty()) is_lost = true;
                EXPECT_EQ(script.is_lost() && !point.failure.empty(), is_lost) << point.name;
            }
        });
    EXPECT_GT(done.faults, 1000u / sparser);
    EXPECT_GT(done.without_gpu, 0u);
    EXPECT_GT(done.all_whole, 0u);
}

TEST(SweepTorture, of_the_compiler_loses_one_point_unless_the_kernel_is_refused) {
    torture(some_faults(Library::nvrtc, 1), [](const FailingCall& fault, const Script&,
                                               const Outcome& outcome) {
        if (!outcome.has_gpu) return;
        const std::string& call = fault.call.name;
        const bool is_refused =
            fault.code == 6 && (call == "nvrtcCompileProgram" || call == "nvrtcCreateProgram");
        EXPECT_GE(whole_points(outcome), is_refused ? 0 : sweep_points - 1);
    });
}

TEST(SweepTorture, of_the_collector_costs_counters_and_nothing_else) {
    const Torture done = torture(some_faults(Library::cupti, 3),
                                 [](const FailingCall&, const Script&, const Outcome& outcome) {
                                     EXPECT_TRUE(outcome.has_gpu);
                                     EXPECT_EQ(outcome.code, ExitCode::done);
                                     for (const Point& point : outcome.result.points) {
                                         EXPECT_TRUE(point.timing) << point.name;
                                     }
                                 });
    EXPECT_GT(done.without_collector, 0u);
    EXPECT_GT(done.all_whole, 0u);
}

}  // namespace
}  // namespace coalprof
