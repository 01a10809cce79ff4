#include "core/calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/count/predict.h"
#include "core/machine/machine_file.h"
#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/sim/estimate.h"

namespace coalprof {
namespace {

// All launches are timed in order, and again: changes during the run are seen, and the steps of the
// GPU's clock average out. Each round has a new context: within one, all launches start up to 0.16
// us sooner than in another, as long as it lives (docs/measurements/h200/contexts.txt). Starts of
// 15 contexts together differ by 0.7 % from run to run.
constexpr std::size_t rounds = 15;
constexpr std::uint64_t repeats_of_round = 25;

// Launches shorter than this differ by the clock's resolution.
constexpr double least_told_seconds = 10e-6;
constexpr double most_drift = 0.05;
constexpr double most_drifting = 0.1;  // share of the launches
// Processes share a GPU in time slices: a launch that another one interrupts takes longer by a
// slice, while the medians stay as they are.
constexpr double least_turn_seconds = 2e-4;
constexpr double least_turn = 0.2;      // share of the launch
constexpr double most_delayed = 0.005;  // share of the rounds

struct Asked {
    const Probe* probe = nullptr;
    std::vector<Timing> rounds = {};
    std::string failure = {};
};

Timing time_once(KernelLauncher& launcher, const Probe& probe) {
    return launcher.prepare(probe.plan)->time(repeats_of_round, probe.cache);
}

// A launch that failed once is not tried again.
void time_once(KernelLauncher& launcher, Asked& one) {
    stop_if_asked();
    if (!one.failure.empty()) return;
    try {
        one.rounds.push_back(time_once(launcher, *one.probe));
    } catch (const PointError& error) {
        one.failure = error.what();
    }
}

// Both launches of each stream, one after the other.
std::vector<Asked> launches_of(std::span<const SimStream> streams) {
    std::vector<Asked> all;
    for (const SimStream& stream : streams)
        for (const Probe* const probe : {&stream.shorter, &stream.longer})
            all.push_back({.probe = probe});
    return all;
}

SimRound read_once(KernelLauncher& launcher, Calibration& found) {
    SimRound round;
    if (const HostStart start = measure_start(launcher); is_number(start.seconds))
        round.streams.push_back({&SimRates::launch_seconds, number_in(start.seconds)});
    try {
        round.cycles = launcher.read_cycles();
    } catch (const PointError& error) {
        if (std::ranges::find(found.failed, error.what()) == found.failed.end())
            found.failed.emplace_back(error.what());
    }
    return round;
}

void add_streams(std::span<const SimStream> streams, std::span<const Asked> asked,
                 std::span<SimRound> read) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const Asked& shorter = asked[2 * i];
        const Asked& longer = asked[2 * i + 1];
        if (!shorter.failure.empty() || !longer.failure.empty()) continue;
        for (std::size_t round = 0; round < read.size(); ++round)
            if (const double seconds =
                    longer.rounds[round].median_seconds - shorter.rounds[round].median_seconds;
                seconds > 0)
                read[round].streams.push_back({streams[i].rate, streams[i].more / seconds});
    }
}

double predicted_seconds(const Machine& machine, const Probe& probe) {
    Readings readings = Predictor(machine).predict_launch(probe.plan, {});
    add_estimates(machine, probe.plan, probe.cache, readings);
    return number_in(readings[Counter::duration_seconds]);
}

// The machine with the rates that were found.
Machine calibrated(Machine machine, const Rates& prior, std::span<const FoundSimRate> found) {
    auto measured = std::make_shared<MeasuredRates>();
    measured->rates = prior;
    for (const FoundSimRate& rate : found) measured->rates.sim.*rate.info.value = rate.value;
    machine.measured = std::move(measured);
    return machine;
}

// The mean of the rounds' medians, which are sorted, without the lowest and the highest quarter.
double middle_mean(std::span<const Timing> sorted) {
    const std::span<const Timing> middle =
        sorted.subspan(sorted.size() / 4, sorted.size() - 2 * (sorted.size() / 4));
    double sum = 0;
    for (const Timing& round : middle) sum += round.median_seconds;
    return sum / static_cast<double>(middle.size());
}

TimedProbe summary_of(const Asked& one) {
    std::vector<Timing> sorted = one.rounds;
    std::ranges::sort(sorted, {}, &Timing::median_seconds);
    const Timing& middle = sorted[sorted.size() / 2];
    TimedProbe probe{.command = one.probe->command, .seconds = middle_mean(sorted)};
    probe.rounds = sorted.size();
    for (const Timing& round : sorted) {
        probe.repeats += round.repeats;
        probe.longest_seconds = std::max(probe.longest_seconds, round.max_seconds);
        probe.delayed_rounds += round.max_seconds - round.median_seconds >
                                std::max(least_turn_seconds, least_turn * round.median_seconds);
    }
    probe.spread = (middle.high_seconds - middle.low_seconds) / middle.median_seconds;
    probe.drift = sorted.back().median_seconds / sorted.front().median_seconds - 1;
    return probe;
}

std::optional<Rates> modelled_rates(const Machine& machine) {
    if (machine.rules->global != GlobalRule::sectors_by_warp) return std::nullopt;
    return rates_of(machine);
}

std::string drift_in(std::span<const TimedProbe> launches) {
    std::size_t told = 0;
    std::size_t drifting = 0;
    const TimedProbe* worst = nullptr;
    for (const TimedProbe& launch : launches) {
        if (launch.seconds < least_told_seconds) continue;
        ++told;
        drifting += launch.drift > most_drift;
        if (!worst || launch.drift > worst->drift) worst = &launch;
    }
    if (static_cast<double>(drifting) <= most_drifting * static_cast<double>(told)) return {};
    return fmt::format(
        "{} of {} launches took more than {:.0f} % longer in one round than in another ({}: {:.0f} "
        "%): another process was on the GPU, or its clocks changed",
        drifting, told, 100 * most_drift, worst->command, 100 * worst->drift);
}

}  // namespace

std::string disturbance_in(std::span<const TimedProbe> launches) {
    if (std::string drift = drift_in(launches); !drift.empty()) return drift;
    std::uint64_t rounds = 0;
    std::uint64_t delayed = 0;
    for (const TimedProbe& launch : launches) {
        rounds += launch.rounds;
        delayed += launch.delayed_rounds;
    }
    if (static_cast<double>(delayed) <= most_delayed * static_cast<double>(rounds)) return {};
    return fmt::format(
        "in {} of {} rounds a launch took more than {:.1f} ms longer than the others: another "
        "process was on the GPU",
        delayed, rounds, 1e3 * least_turn_seconds);
}

Calibration calibrate(KernelLauncher& launcher) {
    const DeviceFacts facts = launcher.device();  // a copy: the launcher's end with its context
    const Machine machine = machine_of(facts);
    const std::optional<Rates> prior = modelled_rates(machine);
    if (!prior)
        throw Error(fmt::format(
            "calibrate: no rates are modelled for {} (compute capability {}.{}): its predicted "
            "time follows from device memory alone",
            facts.name, facts.major, facts.minor));

    Calibration found;
    found.device = facts;
    found.prior = source_of_rates(machine);
    found.ceilings = measure_ceilings(launcher);
    found.streams = simulation_streams(machine, facts.free_memory_bytes / 4);
    std::vector<Asked> asked = launches_of(found.streams);
    std::vector<SimRound> read;
    {
        const Step step("launches timed");
        for (std::size_t round = 0; round < rounds; ++round) {
            if (round > 0) launcher.start_anew();
            for (Asked& one : asked) time_once(launcher, one);
            read.push_back(read_once(launcher, found));
        }
    }
    add_streams(found.streams, asked, read);
    found.rates = sim_rates_of(read, *prior, facts.multiprocessors);
    const Machine measured = calibrated(machine, *prior, found.rates);
    const Step step("launches predicted");
    for (const Asked& one : asked) {
        if (!one.failure.empty()) {
            found.failed.push_back(fmt::format("{}: {}", one.probe->command, one.failure));
            continue;
        }
        found.launches.push_back(summary_of(one));
        found.launches.back().predicted_seconds = predicted_seconds(measured, *one.probe);
    }
    if (found.launches.size() < asked.size() / 2)
        throw Error(fmt::format("calibrate: {} of {} launches failed, the first with: {}",
                                found.failed.size(), asked.size(), found.failed.front()));
    found.disturbance = disturbance_in(found.launches);
    return found;
}

namespace {

constexpr std::string_view kind_of_launch = "launch";

Value number_or_nothing(const Reading& reading) {
    return is_number(reading) ? Value{number_in(reading)} : Value{};
}

ListRow row_of(const FoundSimRate& rate, const Calibration& calibration) {
    ListRow row{{{"kind", machine_file_rate},
                 {"name", rate.info.key},
                 {"value", rate.value},
                 {"unit", rate.info.unit},
                 {"source", rate.is_measured ? std::string("measured") : calibration.prior},
                 {"doubt", rate.is_measured ? Value{rate.doubt} : Value{}}}};
    std::vector<Value> launches;
    for (const SimStream& stream : calibration.streams)
        if (stream.rate == rate.info.value)
            launches = {stream.shorter.command, stream.longer.command};
    row.lists = {{"launches", std::move(launches)}};
    return row;
}

ListRow row_of(const TimedProbe& launch) {
    return {{{"kind", kind_of_launch},
             {"name", launch.command},
             {"value", launch.seconds},
             {"unit", "s"},
             {"predicted", launch.predicted_seconds},
             {"repeats", launch.repeats},
             {"spread", launch.spread},
             {"drift", launch.drift},
             {"longest", launch.longest_seconds},
             {"rounds", launch.rounds},
             {"delayed_rounds", launch.delayed_rounds}}};
}

}  // namespace

ListDocument machine_document(const Calibration& calibration) {
    const DeviceFacts& device = calibration.device;
    const bool is_disturbed = !calibration.disturbance.empty();
    ListDocument list{
        .key = std::string(machine_file_key),
        .rows = {},
        .more = {{"machine", device.name},
                 {"compute_capability", text_of(ComputeCapability{device.major, device.minor})},
                 {"multiprocessors", device.multiprocessors},
                 {"peak_bytes_per_second", device.peak_bytes_per_second()},
                 {"l2_bytes", device.l2_bytes},
                 {"memory_bytes", device.memory_bytes},
                 {"uuid", device.uuid},
                 {"driver_version", device.driver_version},
                 {"clock_hz", device.clock_hz},
                 {"read_ceiling", number_or_nothing(calibration.ceilings.read)},
                 {"copy_ceiling", number_or_nothing(calibration.ceilings.copy)},
                 {"warning_code", is_disturbed ? "W-DISTURBED" : ""},
                 {"warning", calibration.disturbance}}};
    for (const FoundSimRate& rate : calibration.rates)
        list.rows.push_back(row_of(rate, calibration));
    for (const TimedProbe& launch : calibration.launches) list.rows.push_back(row_of(launch));
    return list;
}

namespace {

double value_of(const std::vector<SimValue>& values, double SimRates::*rate, double otherwise) {
    const auto found = std::ranges::find(values, rate, &SimValue::rate);
    return found == values.end() ? otherwise : found->value;
}

// A load that waits for the one before costs issue, L1's pass and its latency; beyond L1 also the
// way out (core/sim/multiprocessor.cpp). Before its latency a block waits for the GPU's rate of
// starting blocks.
std::vector<SimValue> values_of(const SimRound& round, const SimRates& prior,
                                double multiprocessors) {
    std::vector<SimValue> values = round.streams;
    if (!round.cycles) return values;
    const CycleReadings& read = *round.cycles;
    const double issued = read.instruction;
    const double turn = multiprocessors * read.clock_hertz /
                        value_of(values, &SimRates::blocks_per_second, prior.blocks_per_second);
    const SimValue of_cycles[] = {
        {&SimRates::clock_hertz, read.clock_hertz},
        {&SimRates::block_latency, read.next_block - turn},
        {&SimRates::dependent_issue, issued},
        {&SimRates::shared_latency, read.shared_load - issued - prior.shared_pass},
        {&SimRates::l1_latency, read.l1_load - issued - prior.l1_pass},
        {&SimRates::l2_latency, read.l2_load - issued - prior.l1_pass - read.line_request},
        {&SimRates::dram_latency, read.dram_load - read.l2_load},
        {&SimRates::least_request, read.line_request},
        {&SimRates::least_sector, read.sector}};
    for (const SimValue& one : of_cycles)
        if (one.value > 0) values.push_back(one);
    return values;
}

}  // namespace

std::vector<FoundSimRate> sim_rates_of(std::span<const SimRound> rounds, const Rates& prior,
                                       double multiprocessors) {
    std::vector<std::vector<SimValue>> values;
    for (const SimRound& round : rounds)
        values.push_back(values_of(round, prior.sim, multiprocessors));
    std::vector<FoundSimRate> found;
    for (const SimRateInfo& info : all_sim_rates()) {
        std::vector<double> seen;
        for (const std::vector<SimValue>& of_round : values)
            if (const double one = value_of(of_round, info.value, 0); one > 0) seen.push_back(one);
        const double shipped = prior.sim.*info.value, read_there = prior.sim_read.*info.value;
        FoundSimRate rate{.info = info, .value = shipped};
        if (!seen.empty()) {
            std::ranges::sort(seen);
            const double read = seen[seen.size() / 2];
            rate.value = read_there > 0 ? shipped * read / read_there : read;
            rate.is_measured = true;
            rate.doubt = (seen[seen.size() * 3 / 4] - seen[seen.size() / 4]) / read;
        }
        found.push_back(rate);
    }
    return found;
}

}  // namespace coalprof
