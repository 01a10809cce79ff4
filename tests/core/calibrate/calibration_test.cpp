// Rates from timed launches, and the file that holds them.
#include "core/calibrate/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/count/predict.h"
#include "core/machine/machine_file.h"
#include "core/result/document.h"
#include "core/sim/estimate.h"
#include "core/text/refusal.h"
#include "core/write/list_json.h"
#include "core/write/temporary_folder.h"
#include "fewer_cases.h"
#include "test_data.h"

namespace coalprof {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr CycleReadings some_cycles{.clock_hertz = 1.9e9,
                                    .instruction = 4,
                                    .shared_load = 31,
                                    .l1_load = 41,
                                    .l2_load = 271,
                                    .dram_load = 561,
                                    .next_block = 700,
                                    .line_request = 2,
                                    .sector = 0.5};

// What a GPU would take if it were the model.
class ModelledGpu : public KernelLauncher {
 public:
    explicit ModelledGpu(const std::string& board) : machine_(find_machine(board)) {
        facts_.name = "GPU of a test";
        facts_.major = machine_.rules->cc.major;
        facts_.minor = machine_.rules->cc.minor;
        facts_.multiprocessors = machine_.board->multiprocessors;
        facts_.l2_bytes = machine_.board->l2_bytes.value_or(0);
        facts_.memory_bytes = machine_.board->memory_bytes.value_or(0);
        facts_.memory_clock_hz = 3'200'000'000;
        facts_.memory_bus_bits = 6144;  // together 4.9e12 bytes a second
        facts_.free_memory_bytes = 64ull << 30;
    }
    const DeviceFacts& device() const override { return facts_; }
    void activate() override {}
    std::uint64_t pitch_bytes(std::uint64_t row_bytes) override { return row_bytes; }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) override;
    std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess&) override { return nullptr; }
    void flush_cache() override {}
    void start_anew() override {
        EXPECT_EQ(launches_alive, 0);
        ++contexts;
    }
    double read_ceiling() override { return 4e12; }
    double copy_ceiling() override { return 3e12; }
    CycleReadings read_cycles() override { return cycles; }

    // Of a plan that stays where it is: one is launched in every round.
    double seconds_of(const Plan& plan, CacheState cache) {
        double& seconds = seconds_[&plan];
        if (seconds == 0) seconds = modelled_seconds(plan, cache);
        return seconds;
    }

    // Times are stretched by this as more launches are timed.
    double slowdown_by_launch = 0;
    double longest_delay_seconds = 0;  // of one launch of each round
    // And by this in the n-th round.
    std::vector<double> stretch_of_round = {};
    std::map<const Plan*, std::size_t> rounds;
    std::size_t timed = 0;
    std::size_t contexts = 1;
    int launches_alive = 0;
    std::uint64_t most_bytes = ~std::uint64_t{0};  // for the arrays of a launch
    std::uint64_t largest_array_bytes = 0;
    DeviceFacts& facts() { return facts_; }
    CycleReadings cycles = some_cycles;
    double later_start_seconds = 0;  // than that of the model's host

 private:
    double modelled_seconds(const Plan& plan, CacheState cache) const {
        Readings readings = Predictor(machine_).predict_launch(plan, {});
        add_estimates(machine_, plan, cache, readings);
        return number_in(readings[Counter::duration_seconds]) + later_start_seconds;
    }

    std::map<const Plan*, double> seconds_;
    Machine machine_;
    DeviceFacts facts_;
};

class ModelledLaunch : public PreparedLaunch {
 public:
    ModelledLaunch(ModelledGpu& gpu, const Plan& plan) : gpu_(gpu), plan_(plan) {
        ++gpu_.launches_alive;
    }
    ~ModelledLaunch() override { --gpu_.launches_alive; }
    ModelledLaunch(const ModelledLaunch&) = delete;
    ModelledLaunch& operator=(const ModelledLaunch&) = delete;
    const Placement& placement() const override { return placement_; }
    LaunchSettings settings() const override { return {}; }
    void launch() override {}
    Timing time(std::uint64_t repeats, CacheState cache) override {
        double stretch = 1 + gpu_.slowdown_by_launch * static_cast<double>(gpu_.timed++);
        const std::size_t round = gpu_.rounds[&plan_]++;
        if (round < gpu_.stretch_of_round.size()) stretch *= gpu_.stretch_of_round[round];
        const double seconds = gpu_.seconds_of(plan_, cache) * stretch;
        return {repeats, seconds, seconds, seconds, seconds, seconds + gpu_.longest_delay_seconds};
    }
    void verify() override {}

 private:
    ModelledGpu& gpu_;
    const Plan& plan_;
    Placement placement_;
};

std::unique_ptr<PreparedLaunch> ModelledGpu::prepare(const Plan& plan) {
    if (plan.shape.size_bytes > most_bytes) throw PointError("no memory for it");
    for (const Array& array : plan.program.arrays)
        largest_array_bytes = std::max(largest_array_bytes, array.bytes());
    return std::make_unique<ModelledLaunch>(*this, plan);
}

Rates h200_rates() { return *rates_of(find_machine("h200")); }

// What differs between these is what the GPU says, not what is done with it: sanitizers see a
// calibration above, one in which launches fail and one that is saved, which takes them long
// enough.
class CalibrationNumbers : public testing::Test {
 protected:
    void SetUp() override {
        if (fewer_cases > 1) GTEST_SKIP() << "sanitizers see other calibrations";
    }
};

const FoundSimRate& rate_of(const Calibration& found, double SimRates::*rate) {
    return *std::ranges::find(found.rates, rate,
                              [](const FoundSimRate& one) { return one.info.value; });
}

// How long a launch takes to start is the host's.
TEST_F(CalibrationNumbers, finds_what_a_launch_takes_to_start_on_this_host) {
    ModelledGpu gpu("h200");
    gpu.later_start_seconds = 0.7e-6;
    const Calibration found = calibrate(gpu);
    EXPECT_NEAR(rate_of(found, &SimRates::launch_seconds).value,
                h200_rates().sim.launch_seconds + 0.7e-6, 1e-9);
    for (const TimedProbe& launch : found.launches)
        EXPECT_GT(launch.predicted_seconds, 0) << launch.command;
}

TEST_F(CalibrationNumbers, leaves_what_it_does_not_measure_as_it_was_and_says_whose_it_is) {
    ModelledGpu gpu("h200");
    const Calibration found = calibrate(gpu);
    EXPECT_THAT(found.disturbance, IsEmpty());
    EXPECT_THAT(found.failed, IsEmpty());
    EXPECT_EQ(gpu.contexts, found.launches.front().rounds);
    EXPECT_EQ(found.launches.size(), 2 * found.streams.size());
    EXPECT_EQ(found.prior, "h200, scaled");  // by its name it is nobody's
    const FoundSimRate& crowd = rate_of(found, &SimRates::crowd);
    EXPECT_FALSE(crowd.is_measured);
    EXPECT_EQ(crowd.value, h200_rates().sim.crowd);
}

// Each launch takes 0.1 % of the first's time longer than the one before: some 30 % from the first
// round to the last.
TEST_F(CalibrationNumbers, of_a_gpu_that_becomes_slower_says_that_it_was_disturbed) {
    ModelledGpu gpu("h200");
    gpu.slowdown_by_launch = 0.001;
    const Calibration found = calibrate(gpu);
    EXPECT_THAT(found.disturbance, HasSubstr("round"));
    const ListDocument document = machine_document(found);
    const Value* code = find_value(document.more, "warning_code");
    ASSERT_TRUE(code);
    EXPECT_EQ(text_of(*code), "W-DISTURBED");
}

// The three fastest and the three slowest of 15 rounds count for nothing; each is seen in the
// drift.
TEST_F(CalibrationNumbers, takes_the_middle_of_the_rounds) {
    ModelledGpu steady("h200"), gpu("h200");
    const Calibration usual = calibrate(steady);
    gpu.stretch_of_round = {0.5, 1, 1, 2, 1, 0.25, 1, 1, 4, 3, 1, 0.75};
    const Calibration found = calibrate(gpu);
    for (std::size_t i = 0; i < found.rates.size(); ++i)
        EXPECT_NEAR(found.rates[i].value / usual.rates[i].value, 1, 1e-9)
            << found.rates[i].info.key;
    for (std::size_t i = 0; i < found.launches.size(); ++i) {
        EXPECT_NEAR(found.launches[i].drift, 15, 1e-6);
        EXPECT_NEAR(found.launches[i].seconds / usual.launches[i].seconds, 1, 1e-9);
    }
    EXPECT_FALSE(found.disturbance.empty());
}

TEST(Calibration, goes_on_without_launches_that_fail_and_names_them) {
    for (const std::uint64_t mebibytes : {96u, 128u}) {
        ModelledGpu gpu("h200");
        gpu.most_bytes = mebibytes << 20;
        const Calibration found = calibrate(gpu);
        ASSERT_FALSE(found.failed.empty());
        EXPECT_THAT(found.failed.front(), HasSubstr("no memory for it"));
        EXPECT_GE(std::ranges::count_if(found.rates, &FoundSimRate::is_measured), 10);
    }
}

// Other programs need some of it, and a launch has up to three arrays.
TEST_F(CalibrationNumbers, takes_at_most_a_quarter_of_the_memory_that_is_free_for_an_array) {
    ModelledGpu gpu("h200");
    gpu.facts().free_memory_bytes = 512ull << 20;
    calibrate(gpu);
    EXPECT_LE(gpu.largest_array_bytes, 128ull << 20);
    EXPECT_GT(gpu.largest_array_bytes, 0u);
}

TEST(Calibration, is_refused_where_time_is_not_modelled) {
    ModelledGpu gpu("c2050");
    EXPECT_THAT([&] { calibrate(gpu); }, ThrowsMessage<Error>(HasSubstr("compute capability 2.0")));
}

TEST(Calibration, is_refused_where_hardly_a_launch_can_be_timed) {
    ModelledGpu gpu("h200");
    gpu.most_bytes = 0;
    EXPECT_THAT([&] { calibrate(gpu); }, ThrowsMessage<Error>(HasSubstr("no memory for it")));
}

std::map<std::string, FoundSimRate> by_key(std::span<const FoundSimRate> rates) {
    std::map<std::string, FoundSimRate> all;
    for (const FoundSimRate& rate : rates) all[std::string(rate.info.key)] = rate;
    return all;
}

// A load waits for its own instruction (4 cycles), a pass through L1 (1), the way out (2 cycles a
// line), and its latency; 132 multiprocessors at 1.9 GHz start a block each 250.8 cycles where the
// GPU starts 1e9 a second.
TEST(SimReadings, tell_latencies_from_what_comes_before_them) {
    Rates prior = h200_rates();
    prior.sim_read = {};
    const std::vector<SimRound> rounds(3, {some_cycles, {{&SimRates::blocks_per_second, 1e9}}});
    const auto found = by_key(sim_rates_of(rounds, prior, 132));
    const auto expect = [&](const std::string& key, double value) {
        EXPECT_TRUE(found.at(key).is_measured) << key;
        EXPECT_DOUBLE_EQ(found.at(key).value, value) << key;
    };
    expect("sim_clock_hertz", 1.9e9);
    expect("sim_blocks_per_second", 1e9);
    expect("sim_block_latency", 700 - 250.8);
    expect("sim_dependent_issue", 4);
    expect("sim_shared_latency", 26);
    expect("sim_l1_latency", 36);
    expect("sim_l2_latency", 264);
    expect("sim_dram_latency", 290);
    expect("sim_least_request", 2);
    expect("sim_least_sector", 0.5);
    EXPECT_EQ(found.size(), all_sim_rates().size());
}

// By the launches that were timed: of 2, 3 and 10 the one in the middle.
TEST(SimReadings, are_the_middle_of_the_rounds_and_say_how_far_these_are_apart) {
    Rates prior = h200_rates();
    prior.sim_read = {};
    std::vector<SimRound> rounds;
    for (const double rate : {3e11, 2e11, 10e11})
        rounds.push_back({std::nullopt, {{&SimRates::sectors_per_second, rate}}});
    const auto found = by_key(sim_rates_of(rounds, prior, 132));
    EXPECT_DOUBLE_EQ(found.at("sim_sectors_per_second").value, 3e11);
    EXPECT_DOUBLE_EQ(found.at("sim_sectors_per_second").doubt, 8.0 / 3);
    EXPECT_FALSE(found.at("sim_l1_latency").is_measured);
    EXPECT_EQ(found.at("sim_l1_latency").value, h200_rates().sim.l1_latency);
}

// The simulation of a chip is at its best with 600 cycles where 400 are read: with 750 where it is
// 500.
TEST(SimReadings, keep_the_ratio_of_what_is_best_to_what_is_read) {
    Rates prior = h200_rates();
    prior.sim.dram_latency = 600;
    prior.sim_read.dram_latency = 400;
    CycleReadings cycles = some_cycles;
    cycles.dram_load = cycles.l2_load + 500;
    const std::vector<SimRound> rounds(1, {cycles, {}});
    const auto found = by_key(sim_rates_of(rounds, prior, 132));
    EXPECT_DOUBLE_EQ(found.at("sim_dram_latency").value, 750);
}

// What two calibrations of an H100 read (docs/measurements/h100/calibrate/simulation.txt), here the
// first: its file holds the rates that predict whole kernels best, within 5 %.
TEST(SimReadings, of_an_h100_give_the_rates_of_its_chip) {
    const Rates prior = *rates_of(find_machine("h100"));
    CycleReadings cycles;
    cycles.clock_hertz = 1.9798e9;
    cycles.instruction = 4.1531;
    cycles.shared_load = 4.1531 + 1 + 17.992;
    cycles.l1_load = 4.1531 + 1 + 27.345;
    cycles.line_request = 1.0201;
    cycles.sector = 0.30037;
    cycles.l2_load = 4.1531 + 1 + 1.0201 + 269.4;
    cycles.dram_load = cycles.l2_load + 416.55;
    cycles.next_block = 229.86 + 132 * 1.9798e9 / 1.6627e9;
    const std::vector<SimRound> rounds(1, {cycles,
                                           {{&SimRates::blocks_per_second, 1.6627e9},
                                            {&SimRates::read_requests_per_second, 1.4372e11},
                                            {&SimRates::sectors_per_second, 2.6373e11},
                                            {&SimRates::write_requests_per_second, 7.6116e10},
                                            {&SimRates::write_sectors_per_second, 1.0452e11},
                                            {&SimRates::reductions_per_second, 1.0452e11},
                                            {&SimRates::line_reductions_per_second, 1.3642e9},
                                            {&SimRates::dram_read_bytes_per_second, 3.2153e12},
                                            {&SimRates::dram_write_bytes_per_second, 3.3183e12},
                                            {&SimRates::dram_rows_per_second, 3.453e10},
                                            {&SimRates::dram_turns_per_second, 1.69e10}}});
    for (const FoundSimRate& one : sim_rates_of(rounds, prior, 132))
        EXPECT_NEAR(one.value / (prior.sim.*one.info.value), 1, 0.05) << one.info.key;
}

TEST(SimStreams, move_more_of_one_thing_by_a_longer_launch_of_the_same_formula) {
    const std::vector<SimStream> streams =
        simulation_streams(find_machine("h200"), std::uint64_t{1} << 40);
    EXPECT_EQ(streams.size(), 11u);
    for (const SimStream& one : streams) {
        EXPECT_EQ(one.longer.plan.program.threads, 2 * one.shorter.plan.program.threads);
        EXPECT_GT(one.more, 0);
    }
    EXPECT_LT(simulation_streams(find_machine("h200"), 64 << 20).size(), streams.size());
}

// 2 of 10 launches drift by 6 %: more than a tenth of them.
TEST(Disturbance, is_told_where_more_than_a_tenth_of_long_launches_drift) {
    std::vector<TimedProbe> launches(10, {.command = "x", .seconds = 1e-4, .drift = 0.01});
    EXPECT_THAT(disturbance_in(launches), IsEmpty());
    launches[3].drift = launches[4].drift = 0.06;
    EXPECT_THAT(disturbance_in(launches), HasSubstr("2 of 10"));
    for (TimedProbe& launch : launches) launch.seconds = 5e-6;  // the clock's own steps
    EXPECT_THAT(disturbance_in(launches), IsEmpty());
}

TEST_F(CalibrationNumbers, beside_another_process_says_that_it_was_disturbed) {
    ModelledGpu gpu("h200");
    gpu.longest_delay_seconds = 2e-3;
    EXPECT_THAT(calibrate(gpu).disturbance, HasSubstr("another process"));
}

// Another process's turn falls into 6 of 900 rounds: more than one in 200.
TEST(Disturbance, is_told_where_launches_waited_for_another_process) {
    std::vector<TimedProbe> launches(100, {.command = "x", .seconds = 1e-4, .rounds = 9});
    launches[0].delayed_rounds = 4;
    EXPECT_THAT(disturbance_in(launches), IsEmpty());
    launches[50].delayed_rounds = 2;
    EXPECT_THAT(disturbance_in(launches), HasSubstr("6 of 900"));
}

class MachineFile : public testing::Test {
 protected:
    std::string write(const std::string& text) {
        const std::string path = folder_ / "mine.json";
        std::ofstream(path) << text;
        return path;
    }
    TemporaryFolder folder_;
};

TEST_F(MachineFile, predicts_as_the_gpu_that_it_was_measured_on) {
    ModelledGpu gpu("h200");
    gpu.later_start_seconds = 0.7e-6;
    const Calibration found = calibrate(gpu);
    const std::string path = write(list_as_json({}, machine_document(found)));
    const Machine machine = machine_named(path);
    EXPECT_EQ(machine.name, path);
    EXPECT_EQ(machine.board->name, "GPU of a test");
    EXPECT_EQ(machine.board->multiprocessors, 132u);
    const Rates rates = *rates_of(machine);
    std::vector<std::string> kept;
    for (const FoundSimRate& rate : found.rates) {
        EXPECT_DOUBLE_EQ(rates.sim.*rate.info.value, rate.value) << rate.info.key;
        if (!rate.is_measured) kept.emplace_back(rate.info.key);
    }
    // Of whole launches, of counters, or documented: those of the chip.
    EXPECT_THAT(
        kept, testing::ElementsAre("sim_start_seconds", "flush_seconds", "sim_first_block_latency",
                                   "sim_l1_pass", "sim_shared_pass", "sim_crowd", "sim_write_crowd",
                                   "sim_l1_queue", "sim_l2_queue", "sim_join_cycles",
                                   "sim_between_schedulers", "sim_l2_share", "sim_dirty_share",
                                   "sim_partial_share"));
    EXPECT_EQ(rates.doubt, 1);
    // This host's was measured, but for what calibrating does to it.
    const StartRange known = *h200_rates().starts;
    EXPECT_LT(rates.starts->most_seconds - rates.starts->least_seconds,
              known.most_seconds - known.least_seconds);
    EXPECT_LE(rates.starts->least_seconds, rates.sim.launch_seconds);
    EXPECT_GE(rates.starts->most_seconds, rates.sim.launch_seconds);
}

TEST_F(MachineFile, of_a_newer_version_keeps_what_is_known_of_the_rest) {
    const std::string path = write(
        R"({"schema":"coalprof/1","calibration":[
            {"kind":"rate","name":"sim_blocks_per_second","value":1000000000,"unit":"1/s"},
            {"kind":"rate","name":"start_seconds","value":4e-6,"unit":"s","source":"h100"},
            {"kind":"rate","name":"sim_least_request","value":4,"unit":"cycles"},
            {"kind":"rate","name":"a_rate_of_tomorrow","value":3,"unit":"1/s"},
            {"kind":"launch","name":"offset","value":-1}],
            "machine":"NVIDIA X","compute_capability":"99.0","multiprocessors":10,
            "peak_bytes_per_second":1e12,"l2_bytes":1048576})");
    const Rates rates = *rates_of(machine_named(path));
    EXPECT_EQ(rates.sim.blocks_per_second, 1e9);
    EXPECT_EQ(rates.sim.least_request, 4);
    EXPECT_EQ(rates.sim.launch_seconds, 4e-6);
    EXPECT_EQ(rates.sim.crowd, h200_rates().sim.crowd);
    EXPECT_EQ(rates.starts->least_seconds, h200_rates().starts->least_seconds);
}

TEST_F(MachineFile, that_is_none_is_refused_with_what_is_wrong) {
    const std::string head = R"({"schema":"coalprof/1","calibration":[)";
    const std::string tail = R"(],"machine":"X","compute_capability":"9.0","multiprocessors":1,)"
                             R"("peak_bytes_per_second":1e12,"l2_bytes":1024})";
    for (const auto& [text, word] : std::map<std::string, std::string>{
             {"", "empty"},
             {"{}", "schema"},
             {R"({"schema":"coalprof/1","patterns":[]})", "machine file"},
             {head + "]}", "machine"},
             {head + R"({"kind":"rate","name":"sim_crowd","value":0})" + tail, "sim_crowd"},
             {head + R"({"kind":"rate","name":"sim_crowd","value":"much"})" + tail, "sim_crowd"},
             {head + R"({"kind":"rate","name":"sim_crowd"})" + tail, "sim_crowd"},
             {head + R"({"kind":"rate","value":1})" + tail, "name"},
         }) {
        const UsageError error = usage_error_of([&] { machine_named(write(text)); });
        EXPECT_THAT(error.what(), HasSubstr(word)) << text;
    }
    for (const std::string cc : {"9", ".0", "x", "9.0.0", "2.0", "9.x", "99999999999999999999.0"}) {
        const std::string text = head + tail;
        const std::string at = R"("9.0")";
        std::string changed = text;
        changed.replace(changed.find(at), at.size(), '"' + cc + '"');
        EXPECT_THROW(machine_named(write(changed)), UsageError) << cc;
    }
    for (const std::string count : {"0.5", "1.5", "100001"}) {
        std::string changed = head + tail;
        const std::string at = R"("multiprocessors":1)";
        changed.replace(changed.find(at), at.size(), R"("multiprocessors":)" + count);
        EXPECT_THROW(machine_named(write(changed)), UsageError) << count;
    }
    EXPECT_THROW(machine_named("./no/such/file.json"), Error);
    EXPECT_EQ(machine_named("h200").board->key, "h200");
}

}  // namespace
}  // namespace coalprof
