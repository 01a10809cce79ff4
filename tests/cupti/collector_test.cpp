// The collector against a scripted CUPTI: what it calls, what it answers, what it survives.
#include "cupti/collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "core/result/reading.h"
#include "cupti/cupti_api.h"
#include "cupti/fake_cupti.h"
#include "cupti/metric_table.h"

namespace coalprof {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::array load_sectors{Counter::load_sectors};

// A collector on a fake, and callbacks that note what they were asked to do.
class Collecting {
 public:
    Collecting() : api_(fake.api()), driver_(fake.driver()) {}

    std::vector<Readings> collect(std::span<const Counter> wanted, std::size_t points) {
        open();
        return collector->collect(
            wanted, points,
            [this](std::size_t point) {
                EXPECT_FALSE(fake.is_range_open()) << "before(" << point << ") inside a range";
                before_calls.push_back(point);
                before(point);
            },
            [this](std::size_t point) {
                EXPECT_TRUE(fake.is_range_open()) << "work(" << point << ") outside its range";
                work_calls.push_back(point);
                work(point);
            });
    }

    void open() { collector.emplace(api_, driver_, options); }

    // Lets the collector go and answers what it did wrong.
    std::vector<std::string> breaches() {
        collector.reset();
        return fake.breaches();
    }

    FakeCupti fake;
    CollectorOptions options;
    std::function<void(std::size_t)> before = [](std::size_t) {};
    std::function<void(std::size_t)> work = [](std::size_t) {};
    std::vector<std::size_t> before_calls;
    std::vector<std::size_t> work_calls;

 private:
    CuptiApi api_;
    CounterDriver driver_;

 public:
    std::optional<CuptiCollector> collector;
};

// "p17" -> 17.
double number_of_range(const std::string& range) { return std::stod(range.substr(1)); }

std::string reason_in(const Reading& reading) {
    const auto* none = std::get_if<Unavailable>(&reading);
    return none == nullptr ? "(a number)" : std::string(none->reason);
}

TEST(Collector, takes_a_whole_sweep_in_one_start_and_stop) {
    Collecting run;
    const auto readings = run.collect(load_sectors, 33);
    EXPECT_EQ(readings.size(), 33u);
    EXPECT_EQ(run.fake.calls("RangeEnable"), 1);
    EXPECT_EQ(run.fake.calls("RangeSetConfig"), 1);
    EXPECT_EQ(run.fake.calls("RangeStart"), 1);
    EXPECT_EQ(run.fake.calls("RangeStop"), 1);
    EXPECT_EQ(run.fake.calls("RangeDecode"), 1);
    EXPECT_EQ(run.fake.calls("RangePush"), 33);
    EXPECT_EQ(run.work_calls.size(), 33u);
    EXPECT_THAT(run.fake.session_sizes, ElementsAre(33u));  // the image is sized exactly
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, launches_three_times_for_three_passes_and_sets_up_once) {
    Collecting run;
    run.fake.passes = 3;
    run.collect(load_sectors, 2);
    EXPECT_THAT(run.work_calls, ElementsAre(0, 1, 0, 1, 0, 1));
    EXPECT_THAT(run.before_calls, ElementsAre(0, 1, 0, 1, 0, 1));
    EXPECT_EQ(run.fake.calls("RangeEnable"), 1);
    EXPECT_EQ(run.fake.calls("RangeSetConfig"), 1);
    EXPECT_EQ(run.fake.calls("RangeStart"), 3);
    EXPECT_EQ(run.fake.calls("RangeStop"), 3);
    EXPECT_EQ(run.fake.calls("RangeDecode"), 1);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, leaves_the_profiler_running_for_another_collector) {
    FakeCupti fake;
    const CuptiApi api = fake.api();
    const CounterDriver driver = fake.driver();
    std::optional<CuptiCollector> first(std::in_place, api, driver, CollectorOptions{});
    std::optional<CuptiCollector> second(std::in_place, api, driver, CollectorOptions{});
    first.reset();
    EXPECT_EQ(fake.calls("ProfilerDeInitialize"), 0);
    second.reset();
    EXPECT_EQ(fake.calls("ProfilerInitialize"), 1);
    EXPECT_EQ(fake.calls("ProfilerDeInitialize"), 1);
}

TEST(Collector, tells_points_apart_by_the_name_of_their_range_not_by_its_place) {
    Collecting run;
    run.fake.returns_ranges_backwards = true;
    run.fake.value = [](const std::string&, const std::string& range) {
        return 100 + number_of_range(range);
    };
    const auto readings = run.collect(load_sectors, 12);
    for (std::size_t point = 0; point < 12; ++point)
        EXPECT_EQ(readings[point][Counter::load_sectors], Reading{std::uint64_t{100 + point}});
}

// 100 requests in 164 passes, 64 of them conflicts; the hardware saw warps wait 9 times more.
TEST(Collector, takes_waiting_off_the_passes_of_shared_memory) {
    Collecting run;
    run.fake.value = [](const std::string& metric, const std::string&) {
        if (metric.starts_with("smsp__sass")) return 164.0;
        return metric.find("conflicts") != std::string::npos ? 73.0 : 173.0;
    };
    const std::array wanted{Counter::shared_load_wavefronts, Counter::shared_load_conflicts};
    const auto readings = run.collect(wanted, 2);
    EXPECT_EQ(readings.at(1)[Counter::shared_load_wavefronts], Reading{std::uint64_t{164}});
    EXPECT_EQ(readings.at(1)[Counter::shared_load_conflicts], Reading{std::uint64_t{64}});
    EXPECT_THAT(run.breaches(), IsEmpty());
}

// Both as measured on an H100: loads of 8 bytes of which instrumented code says 616 passes, and of
// 16 bytes of which it says 36. The hardware made 560 and 48, of which 240 and none were conflicts.
TEST(Collector, believes_the_hardware_where_instrumented_code_cannot_be_right) {
    struct Case {
        double passes, conflicts, instrumented;
    };
    for (const Case& one : {Case{560, 240, 616}, Case{48, 0, 36}}) {
        Collecting run;
        run.fake.value = [&](const std::string& metric, const std::string&) {
            if (metric.starts_with("smsp__sass")) return one.instrumented;
            return metric.find("conflicts") != std::string::npos ? one.conflicts : one.passes;
        };
        const std::array wanted{Counter::shared_load_wavefronts, Counter::shared_load_conflicts};
        const auto readings = run.collect(wanted, 1);
        EXPECT_EQ(readings.at(0)[Counter::shared_load_wavefronts],
                  Reading{static_cast<std::uint64_t>(one.passes)});
        EXPECT_EQ(readings.at(0)[Counter::shared_load_conflicts],
                  Reading{static_cast<std::uint64_t>(one.conflicts)});
    }
}

TEST(Collector, answers_what_was_wanted_and_nothing_else) {
    // 96 unique bytes in 4 sectors: 24 bytes a sector, efficiency 24 / 32 = 0.75. The parts were
    // not asked for, and time is not CUPTI's.
    Collecting run;
    run.fake.value = [](const std::string& metric, const std::string&) {
        return metric.find("data_bytes") != std::string::npos ? 96.0 : 4.0;
    };
    const std::array wanted{Counter::load_efficiency, Counter::duration_seconds};
    const auto readings = run.collect(wanted, 1);
    std::vector<Counter> there;
    readings[0].each([&](Counter counter, const Reading&) { there.push_back(counter); });
    EXPECT_THAT(there, ElementsAre(Counter::load_efficiency));
    EXPECT_EQ(readings[0][Counter::load_efficiency], Reading{0.75});
}

TEST(Collector, takes_instrumented_metrics_in_a_session_of_their_own_after_the_hardware) {
    Collecting run;
    const std::array wanted{Counter::load_unique_bytes, Counter::load_sectors};
    run.collect(wanted, 4);
    EXPECT_THAT(run.fake.metric_sets,
                ElementsAre(ElementsAre("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
                            ElementsAre("smsp__sass_data_bytes_mem_global_op_ld.sum")));
    EXPECT_EQ(run.fake.calls("RangeEnable"), 2);  // a fresh profiler object for each set
    EXPECT_EQ(run.work_calls.size(), 8u);
    EXPECT_EQ(run.collector->passes(wanted), 2u);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, takes_no_instrumented_pass_for_the_basic_counters) {
    Collecting run;
    const auto wanted = counters_of(CounterSet::basic, {Access::global_load, Access::global_store});
    run.collect(wanted, 4);
    EXPECT_EQ(run.fake.calls("RangeEnable"), 1);
    EXPECT_EQ(run.collector->passes(wanted), 1u);
}

TEST(Collector, cuts_a_long_sweep_into_sessions) {
    Collecting run;
    run.fake.value = [](const std::string&, const std::string& range) {
        return number_of_range(range);
    };
    const auto readings = run.collect(load_sectors, 2500);
    EXPECT_THAT(run.fake.session_sizes, ElementsAre(1000u, 1000u, 500u));
    EXPECT_EQ(readings[2499][Counter::load_sectors], Reading{std::uint64_t{2499}});
    EXPECT_EQ(run.work_calls.size(), 2500u);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, launches_nothing_for_counters_that_it_cannot_have) {
    Collecting run;
    const std::array wanted{Counter::load_ideal_sectors, Counter::load_transactions,
                            Counter::useful_bytes};
    const auto readings = run.collect(wanted, 2);
    EXPECT_THAT(run.work_calls, IsEmpty());
    EXPECT_EQ(run.collector->passes(wanted), 0u);
    EXPECT_THAT(reason_in(readings[1][Counter::load_ideal_sectors]), HasSubstr("single instruct"));
    EXPECT_THAT(reason_in(readings[1][Counter::load_transactions]), HasSubstr("7.0"));
    EXPECT_FALSE(is_present(readings[1][Counter::useful_bytes]));
}

TEST(Collector, says_which_metric_a_chip_lacks) {
    Collecting run;
    run.fake.unknown_metrics = {"dram__bytes_read", "dram__bytes_op_read"};
    const std::array wanted{Counter::dram_read_bytes, Counter::load_sectors};
    const auto readings = run.collect(wanted, 1);
    EXPECT_EQ(reason_in(readings[0][Counter::dram_read_bytes]),
              "GH100 has no metric dram__bytes_read.sum");
    EXPECT_TRUE(is_number(readings[0][Counter::load_sectors]));
}

TEST(Collector, takes_the_first_metric_that_the_chip_has) {
    Collecting run;
    run.fake.unknown_metrics = {"dram__bytes_read"};
    const std::array wanted{Counter::dram_read_bytes};
    run.collect(wanted, 1);
    EXPECT_THAT(run.fake.metric_sets, ElementsAre(ElementsAre("dram__bytes_op_read.sum")));
}

TEST(Collector, never_takes_nan_for_a_count) {
    Collecting run;
    run.fake.value = [](const std::string&, const std::string&) {
        return std::numeric_limits<double>::quiet_NaN();
    };
    const auto readings = run.collect(load_sectors, 1);
    EXPECT_THAT(reason_in(readings[0][Counter::load_sectors]),
                HasSubstr("no value for l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"));
}

TEST(Collector, counts_the_data_stage_only_where_no_other_access_was_made) {
    const std::array wanted{Counter::load_data_wavefronts};
    for (const double stores : {0.0, 1.0}) {
        Collecting run;
        run.fake.value = [stores](const std::string& metric, const std::string&) {
            if (metric == "l1tex__data_pipe_lsu_wavefronts_mem_lgds.sum") return 9.0;
            return metric.find("global_st") != std::string::npos ? stores : 0.0;
        };
        const auto readings = run.collect(wanted, 1);
        if (stores == 0) {
            EXPECT_EQ(readings[0][Counter::load_data_wavefronts], Reading{std::uint64_t{9}});
        } else {
            EXPECT_THAT(reason_in(readings[0][Counter::load_data_wavefronts]),
                        HasSubstr("others too"));
        }
    }
}

TEST(Collector, goes_on_after_a_point_that_failed) {
    Collecting run;
    run.fake.passes = 2;
    run.work = [](std::size_t point) {
        if (point == 5) throw PointError("cannot launch offset=5: refused");
    };
    const auto readings = run.collect(load_sectors, 8);
    for (std::size_t point = 0; point < 8; ++point)
        if (point == 5)
            EXPECT_EQ(reason_in(readings[5][Counter::load_sectors]),
                      "cannot launch offset=5: refused");
        else
            EXPECT_TRUE(is_number(readings[point][Counter::load_sectors])) << point;
    // Seven points twice, the failed one once; but sixteen ranges, so that the passes look alike.
    EXPECT_EQ(run.work_calls.size(), 15u);
    EXPECT_EQ(run.fake.calls("RangePush"), 16);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, does_not_launch_a_point_whose_preparation_failed) {
    Collecting run;
    run.before = [](std::size_t point) {
        if (point == 1) throw PointError("cannot allocate 8 GiB: 2 GiB are free");
    };
    const std::array wanted{Counter::load_sectors, Counter::load_unique_bytes};
    const auto readings = run.collect(wanted, 3);
    EXPECT_THAT(run.work_calls, ElementsAre(0, 2, 0, 2));
    EXPECT_EQ(reason_in(readings[1][Counter::load_sectors]),
              "cannot allocate 8 GiB: 2 GiB are free");
    EXPECT_EQ(reason_in(readings[1][Counter::load_unique_bytes]),
              "cannot allocate 8 GiB: 2 GiB are free");
    EXPECT_TRUE(is_number(readings[2][Counter::load_unique_bytes]));
}

TEST(Collector, keeps_the_points_before_a_launch_that_lost_the_gpu) {
    Collecting run;
    run.work = [](std::size_t point) {
        if (point == 10) throw DeviceLostError("the GPU was lost: illegal address");
    };
    const std::array wanted{Counter::load_sectors, Counter::load_unique_bytes};
    const auto readings = run.collect(wanted, 33);
    ASSERT_EQ(readings.size(), 33u);
    for (std::size_t point = 0; point < 33; ++point) {
        EXPECT_EQ(is_number(readings[point][Counter::load_sectors]), point < 10) << point;
        EXPECT_EQ(reason_in(readings[point][Counter::load_unique_bytes]),
                  "the GPU was lost: illegal address");
    }
    EXPECT_EQ(run.work_calls.size(), 11u);
    EXPECT_EQ(run.fake.calls("RangeEnable"), 1);  // no instrumented session on a GPU that is gone
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, keeps_the_points_that_the_last_pass_reached_before_the_gpu_was_lost) {
    Collecting run;
    run.fake.passes = 2;
    run.work = [&run](std::size_t point) {
        if (point == 2 && run.work_calls.size() > 4) throw DeviceLostError("the GPU was lost");
    };
    const auto readings = run.collect(load_sectors, 4);
    for (std::size_t point = 0; point < 4; ++point)
        EXPECT_EQ(is_number(readings[point][Counter::load_sectors]), point < 2) << point;
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, gives_no_half_counted_point_when_the_gpu_is_lost_before_the_last_pass) {
    Collecting run;
    run.fake.passes = 2;
    run.work = [](std::size_t point) {
        if (point == 2) throw DeviceLostError("the GPU was lost");
    };
    const auto readings = run.collect(load_sectors, 4);
    for (const Readings& point : readings)
        EXPECT_EQ(reason_in(point[Counter::load_sectors]), "the GPU was lost");
    EXPECT_EQ(run.fake.calls("RangeDecode"), 0);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, keeps_earlier_sessions_when_the_gpu_is_lost) {
    Collecting run;
    run.options.points_per_session = 4;
    run.fake.passes = 2;
    run.work = [](std::size_t point) {
        if (point == 6) throw DeviceLostError("the GPU was lost");
    };
    const auto readings = run.collect(load_sectors, 12);
    for (std::size_t point = 0; point < 12; ++point)
        EXPECT_EQ(is_number(readings[point][Counter::load_sectors]), point < 4) << point;
    EXPECT_EQ(reason_in(readings[11][Counter::load_sectors]), "the GPU was lost");
}

struct Interrupt {};

TEST(Collector, closes_the_session_and_passes_on_what_it_does_not_know) {
    for (const bool in_before : {true, false}) {
        Collecting run;
        const auto interrupt = [](std::size_t point) {
            if (point == 3) throw Interrupt{};
        };
        (in_before ? run.before : run.work) = interrupt;
        EXPECT_THROW(run.collect(load_sectors, 8), Interrupt);
        EXPECT_EQ(run.fake.calls("RangeStop"), 1);
        EXPECT_EQ(run.fake.calls("RangeDisable"), 1);
        EXPECT_THAT(run.breaches(), IsEmpty());
    }
}

TEST(Collector, does_not_repeat_for_ever_when_cupti_never_has_enough) {
    Collecting run;
    run.fake.passes_really = 1'000'000;
    try {
        run.collect(load_sectors, 1);
        FAIL() << "no exception";
    } catch (const CountersError& error) {
        EXPECT_THAT(error.what(), HasSubstr("more than the 1 passes"));
    }
    EXPECT_LE(run.work_calls.size(), 2u);
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, names_points_that_cupti_lost) {
    Collecting run;
    run.fake.dropped = 2;
    const auto readings = run.collect(load_sectors, 5);
    EXPECT_TRUE(is_number(readings[2][Counter::load_sectors]));
    EXPECT_THAT(reason_in(readings[3][Counter::load_sectors]), HasSubstr("lost 2 of 5 points"));
}

TEST(Collector, keeps_the_hardware_counters_when_the_instrumented_session_fails) {
    Collecting run;
    run.fake.fail("RangeEnable", 2, 8);
    const std::array wanted{Counter::load_sectors, Counter::load_unique_bytes,
                            Counter::load_efficiency};
    const auto readings = run.collect(wanted, 3);
    EXPECT_TRUE(is_number(readings[2][Counter::load_sectors]));
    EXPECT_THAT(reason_in(readings[2][Counter::load_unique_bytes]),
                HasSubstr("CUPTI_ERROR_OUT_OF_MEMORY"));
    EXPECT_THAT(reason_in(readings[2][Counter::load_efficiency]),
                HasSubstr("CUPTI_ERROR_OUT_OF_MEMORY"));
}

TEST(Collector, needs_a_current_context) {
    Collecting run;
    run.fake.has_context = false;
    EXPECT_THROW(run.collect(load_sectors, 1), CountersError);
    EXPECT_THAT(run.work_calls, IsEmpty());
    EXPECT_THAT(run.breaches(), IsEmpty());
}

TEST(Collector, gives_metrics_by_their_own_name) {
    Collecting run;
    run.fake.value = [](const std::string& metric, const std::string&) {
        return static_cast<double>(metric.size());
    };
    run.open();
    const auto nothing = [](std::size_t) {};
    const auto values = run.collector->collect_metrics({"abc.sum", "a.sum"}, 2, nothing, nothing);
    EXPECT_THAT(values.at(1).values, ElementsAre(7.0, 5.0));
    run.fake.unknown_metrics = {"a"};
    try {
        run.collector->collect_metrics({"abc.sum", "a.sum"}, 2, nothing, nothing);
        FAIL() << "no exception";
    } catch (const CountersError& error) {
        EXPECT_STREQ(error.what(), "cannot read counters: GH100 has no metric a.sum");
    }
}

TEST(Collector, says_why_a_device_cannot_be_profiled) {
    const auto refusal = [](auto member, CUpti_Profiler_Support_Level level) -> std::string {
        Collecting run;
        run.fake.support.*member = level;
        try {
            run.open();
        } catch (const CountersError& error) {
            EXPECT_THAT(run.fake.breaches(), IsEmpty());
            return error.what();
        }
        return "(none)";
    };
    using Params = CUpti_Profiler_DeviceSupported_Params;
    const auto no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    EXPECT_THAT(refusal(&Params::architecture, no), HasSubstr("7.5"));
    EXPECT_THAT(refusal(&Params::vGpu, CUPTI_PROFILER_CONFIGURATION_DISABLED),
                HasSubstr("enable_profiling"));
    EXPECT_THAT(refusal(&Params::confidentialCompute, no), HasSubstr("confidential"));
    EXPECT_THAT(refusal(&Params::cmp, no), HasSubstr("crypto-mining"));
    EXPECT_THAT(refusal(&Params::sli, no), HasSubstr("SLI"));
    EXPECT_THAT(refusal(&Params::wsl, no), HasSubstr("WSL"));
    EXPECT_THAT(refusal(&Params::isSupported, no), HasSubstr("doctor"));
    // What CUPTI cannot tell is tried.
    EXPECT_EQ(refusal(&Params::vGpu, CUPTI_PROFILER_CONFIGURATION_UNKNOWN), "(none)");
}

TEST(Collector, needs_every_call_of_the_range_profiler) {
    FakeCupti fake;
    const CounterDriver driver = fake.driver();
    LoadedCupti cupti{.api = fake.api(), .path = "/old/libcupti.so.12", .nvperf_path = {}};
    EXPECT_NE(make_collector(driver, cupti, {}), nullptr);
    cupti.api.range_enable = nullptr;
    try {
        make_collector(driver, cupti, {});
        FAIL() << "no exception";
    } catch (const CountersError& error) {
        EXPECT_THAT(error.what(), HasSubstr("/old/libcupti.so.12"));
        EXPECT_THAT(error.what(), HasSubstr("cuptiRangeProfilerEnable"));
    }
}

TEST(Collector, refuses_a_chip_without_a_name) {
    FakeCupti fake;
    CuptiApi api = fake.api();
    api.device_get_chip_name = [](CUpti_Device_GetChipName_Params* params) {
        params->pChipName = nullptr;
        return CUPTI_SUCCESS;
    };
    EXPECT_THROW(chip_of_device(api, 0), CountersError);
}

TEST(Collector, asks_the_driver_before_cupti) {
    for (const int result : {100, 34, 999}) {
        Collecting run;
        run.fake.init_result = result;
        EXPECT_THROW(run.open(), CountersError);
        EXPECT_THAT(run.fake.all_calls(), IsEmpty());
    }
    Collecting run;
    run.options.device = 1;
    EXPECT_THROW(run.open(), CountersError);
    EXPECT_THAT(run.fake.all_calls(), IsEmpty());
}

}  // namespace
}  // namespace coalprof
