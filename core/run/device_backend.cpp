#include "core/run/device_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/count/launch_sum.h"
#include "core/count/predict.h"
#include "core/runtime/signal.h"
#include "core/runtime/steps.h"
#include "core/sim/estimate.h"

namespace coalprof {
namespace {

// A batch ends after this much timing, so that finished points come soon.
constexpr std::chrono::seconds batch_time{2};

constexpr std::string_view unread = "interrupted before its counters were read";

}  // namespace

MeasuredDevice describe_device(const DeviceFacts& facts) {
    return {
        .index = static_cast<std::uint64_t>(facts.index),
        .name = facts.name,
        .uuid = facts.uuid,
        .pci_bus_id = facts.pci_bus_id,
        .compute_capability = fmt::format("{}.{}", facts.major, facts.minor),
        .multiprocessors = facts.multiprocessors,
        .l2_bytes = facts.l2_bytes,
        .memory_bytes = facts.memory_bytes,
        .clock_hz = facts.clock_hz,
        .memory_clock_hz = facts.memory_clock_hz,
        .memory_bus_bits = facts.memory_bus_bits,
        .ecc = facts.ecc,
        .driver_version = facts.driver_version,
        .nvrtc_version = facts.nvrtc_version,
    };
}

// The unit that the collector counts: a point's launch, or its launch without its accesses.
struct DeviceBackend::Range {
    Measured* of = nullptr;
    bool is_overhead = false;
};

void DeviceBackend::begin(ResultHead& head) {
    head.backend = "device";
    MeasuredDevice device = describe_device(run_.launcher.device());
    const std::vector<Counter> wanted = run_.wanted(run_.accesses);
    try {
        if (run_.collector && !wanted.empty()) count_passes(wanted);
    } catch (const CountersError& error) {  // time and prediction are still possible
        run_.collector = nullptr;
        run_.no_counters = error.what();
    }
    head.passes = passes_;
    if ((!run_.collector || wanted.empty()) && !run_.no_counters.empty())
        warn("W-NO-COUNTERS", run_.no_counters);
    const auto goes_on = [this] { return run_.repeats > 0 && stop_signal() == 0 && lost_.empty(); };
    if (goes_on() && run_.accesses.meets(global_accesses)) measure_ceilings();
    if (goes_on()) measure_start();
    device.read_ceiling = ceilings_.read;
    device.copy_ceiling = ceilings_.copy;
    device.start = start_.seconds;
    head.device = std::move(device);
}

void DeviceBackend::count_passes(const std::vector<Counter>& wanted) {
    if (!counted_.insert(wanted).second) return;
    passes_ = std::max(passes_, run_.collector->passes(wanted));
}

template <typename Work>
void DeviceBackend::unless_lost(std::string_view meanwhile, Work work) {
    try {
        work();
    } catch (const DeviceLostError& error) {
        lost_ = fmt::format("the GPU was lost while {}: {}", meanwhile, error.what());
    }
}

void DeviceBackend::warn_where_missing(const Reading& reading, std::string code) {
    if (const auto* none = std::get_if<Unavailable>(&reading)) warn(std::move(code), none->reason);
}

void DeviceBackend::measure_ceilings() {
    const Step step("ceilings measured");
    unless_lost("its ceilings were measured", [this] {
        ceilings_ = coalprof::measure_ceilings(run_.launcher);
        warn_where_missing(ceilings_.read, "W-NO-CEILINGS");
    });
}

void DeviceBackend::measure_start() {
    const Step step("start of a launch timed");
    unless_lost("the start of a launch was timed", [this] {
        start_ = coalprof::measure_start(run_.launcher);
        warn_where_missing(start_.seconds, "W-NO-START");
    });
}

Machine DeviceBackend::with_host_start(const Machine& planned) const {
    Machine machine = planned;
    if (!machine.measured && machine.name == run_.launcher.device().name)
        machine.measured = start_.rates;
    return machine;
}

void DeviceBackend::answer(PointSource& source, Delivery& delivery) {
    std::exception_ptr failure;
    for (bool more = true; more && !failure;) {
        try {
            more = take_batch(source);
        } catch (...) {
            failure = std::current_exception();
        }
        read_counters();
        for (Warning& warning : std::exchange(warnings_, {})) delivery.warn(std::move(warning));
        for (Measured& one : batch_) {
            finish(one);
            delivery.point(one.point);
        }
    }
    if (stop_signal() != 0) delivery.interrupted();
    if (failure) std::rethrow_exception(failure);
}

bool DeviceBackend::take_batch(PointSource& source) {
    const auto start = std::chrono::steady_clock::now();
    batch_.clear();
    while (batch_.size() < run_.points_together) {
        if (!batch_.empty() && std::chrono::steady_clock::now() - start > batch_time) return true;
        Measured& one = batch_.emplace_back();
        try {
            if (!source.next(one.planned)) {
                batch_.pop_back();
                return false;
            }
            source.make(one.planned);
        } catch (...) {
            batch_.pop_back();
            throw;
        }
        measure(one);
    }
    return true;
}

void DeviceBackend::measure(Measured& one) {
    const PlannedPoint& planned = one.planned;
    one.point.name = planned.name;
    one.point.parameters = planned.parameters;
    one.accesses = planned.warp ? accesses_of(*planned.warp) : accesses_of(planned.plan.program);
    if (!lost_.empty())
        fail(one, lost_);
    else if (planned.warp)
        one.point.measured.emplace();  // except its counters
    else if (!planned.plan.program.predicted_only.empty())
        warnings_.push_back(
            {"W-PREDICTED", planned.name, std::string(planned.plan.program.predicted_only)});
    else
        time(one);
    if (!one.prediction) start_prediction(one);
}

void DeviceBackend::time(Measured& one) {
    const Step step("points launched", 1);
    try {
        const auto launch = prepare(one);
        start_prediction(one);
        if (run_.repeats > 0)
            one.point.timing = launch->time(run_.repeats, run_.cache);
        else
            launch->launch();
        launch->verify();
        Readings& measured = one.point.measured.emplace();
        measured[Counter::useful_bytes] = one.planned.plan.program.useful_bytes;
        if (one.point.timing)
            measured[Counter::duration_seconds] = one.point.timing->median_seconds;
    } catch (const DeviceLostError& error) {
        fail(one, error.what());
        lost_ = fmt::format("the GPU was lost at {}: {}", one.point.name, error.what());
    } catch (const Error& error) {  // including kernels that cannot be compiled
        fail(one, error.what());
    }
}

// At its true place: the model gets the addresses that the GPU got.
WarpAccess DeviceBackend::placed(const Measured& one) {
    const WarpAccess& warp = *one.planned.warp;
    if (warp.space != Space::global || one.placement.base_addresses.empty()) return warp;
    return shifted(warp, one.placement.base_addresses.front());
}

std::unique_ptr<PreparedLaunch> DeviceBackend::prepare(Measured& one) {
    auto launch = one.planned.warp ? run_.launcher.prepare_warp(*one.planned.warp)
                                   : run_.launcher.prepare(one.planned.plan);
    one.placement = launch->placement();
    one.point.launch = launch->settings();
    one.was_prepared = true;
    return launch;
}

// Other threads predict while this one launches; it takes part while it waits for them. A warp's
// true addresses are known only when it is counted, and its prediction takes a microsecond.
void DeviceBackend::start_prediction(Measured& one) const {
    if (one.planned.warp) return;
    one.prediction = start_answer(
        [&plan = one.planned.plan, machine = with_host_start(one.planned.machine),
         placement = one.placement, cache = run_.cache, &instructions = one.point.instructions] {
            const Step step("points predicted", 1);
            Prediction prediction{Predictor(machine).predict_launch(plan, placement, &instructions),
                                  std::nullopt};
            prediction.estimates = add_estimates(machine, plan, cache, prediction.readings);
            return prediction;
        });
}

// Reads points that want the same counters in one session.
void DeviceBackend::read_counters() {
    std::map<std::vector<Counter>, std::vector<Measured*>> groups;
    for (Measured& one : batch_)
        if (one.point.measured) groups[run_.wanted(one.accesses)].push_back(&one);
    for (const auto& [wanted, points] : groups)
        if (!wanted.empty()) read_counters(points, wanted);
}

void DeviceBackend::read_counters(const std::vector<Measured*>& points,
                                  const std::vector<Counter>& wanted) {
    std::string reason = !run_.collector      ? run_.no_counters
                         : !lost_.empty()     ? lost_
                         : stop_signal() != 0 ? std::string(unread)
                                              : "";
    if (reason.empty()) {
        try {
            collect(points, wanted);
            if (!lost_.empty()) counters_failed(lost_);
        } catch (const CountersError& error) {
            reason = error.what();
            counters_failed(reason);
        } catch (const DeviceLostError& error) {
            reason = lost_ = error.what();
            counters_failed(reason);
        }
    }
    if (reason.empty()) return;
    for (Measured* one : points)
        if (one->point.measured) set_missing(wanted, one->accesses, reason, *one->point.measured);
}

// Work on one point for the collector, which knows two failures: the point's, and the GPU's. It
// ends its session after the latter without rethrowing. A point without any measurement so far
// fails as a whole.
template <typename Work>
void DeviceBackend::attempt(Measured& one, Work work) {
    try {
        work();
    } catch (const DeviceLostError& error) {
        lost_ = fmt::format("the GPU was lost while counting {}: {}", one.point.name, error.what());
        throw;
    } catch (const Error& error) {
        if (!one.was_prepared) fail(one, error.what());
        throw PointError(error.what(), error.code());
    }
}

void DeviceBackend::collect(const std::vector<Measured*>& points,
                            const std::vector<Counter>& wanted) {
    count_passes(wanted);
    std::vector<Range> ranges;
    for (Measured* one : points) {
        ranges.push_back({one});
        if (counts_constants(one->accesses, wanted)) ranges.push_back({one, true});
    }
    const Step step("points counted", points.size());
    std::unique_ptr<PreparedLaunch> launch;
    const auto before = [&](std::size_t range) {
        if (stop_signal() != 0) throw PointError(std::string(unread));
        Measured& one = *ranges[range].of;
        attempt(one, [&] {
            launch.reset();  // the next launch reuses its memory
            launch = prepare(one);
            if (one.planned.warp) return;
            // Loads the kernel's code into the multiprocessors, for warm and cold launches: without
            // it the first launch of a session has up to a half more requests for its lines than
            // the same one later.
            launch->launch();
            if (run_.cache == CacheState::cold) run_.launcher.flush_cache();
        });
    };
    const auto work = [&](std::size_t range) {
        attempt(*ranges[range].of, [&] {
            ranges[range].is_overhead ? launch->launch_without_constants() : launch->launch();
        });
    };
    const auto readings = run_.collector->collect(wanted, ranges.size(), before, work);
    for (std::size_t i = 0; i < readings.size(); ++i) {
        Measured& one = *ranges[i].of;
        if (!one.point.measured) continue;
        if (ranges[i].is_overhead)
            take_off_constants(readings[i], *one.point.measured);
        else
            merge(readings[i], one.accesses, *one.point.measured);
    }
}

void DeviceBackend::finish(Measured& one) const {
    Point& point = one.point;
    try {
        if (one.prediction) {
            Prediction prediction = one.prediction->get();
            point.predicted = prediction.readings;
            point.estimates = std::move(prediction.estimates);
        } else {
            Predictor(one.planned.machine).predict_warp(placed(one), point.predicted);
        }
    } catch (const Stopped&) {  // measured points are delivered all the same
    }
    if (!point.measured) return;
    Readings& measured = *point.measured;
    derive_ratios(measured);
    measured[Counter::bandwidth_share] = bandwidth_share(
        ceilings_, one.planned.plan.program, measured[Counter::bandwidth_bytes_per_second]);
}

void DeviceBackend::fail(Measured& one, const std::string& reason) const {
    one.point.failure = reason;
    one.point.measured.reset();
}

void DeviceBackend::counters_failed(const std::string& reason) {
    if (!have_counters_failed_) warn("W-NO-COUNTERS", reason);
    have_counters_failed_ = true;
}

void DeviceBackend::warn(std::string code, std::string_view text) {
    warnings_.push_back({std::move(code), {}, std::string(text)});
}

bool concerns(Counter counter, AccessSet accesses) {
    const bool is_of_textures = counter == Counter::texture_requests ||
                                counter == Counter::texture_sectors ||
                                counter == Counter::texture_hit_sectors;
    if (is_of_textures) return accesses.has(Access::texture_load);
    const bool is_of_loads =
        counter == Counter::l1_hit_sectors ||
        static_cast<std::size_t>(counter) < access_field_count;  // those of AccessKind::load
    return !is_of_loads || accesses.has(Access::global_load);
}

void merge(const Readings& from, AccessSet accesses, Readings& into) {
    from.each([&](Counter counter, const Reading& reading) {
        if (concerns(counter, accesses)) into[counter] = reading;
    });
}

void set_missing(const std::vector<Counter>& wanted, AccessSet accesses, std::string_view reason,
                 Readings& measured) {
    for (const Counter counter : wanted)
        if (!is_present(measured[counter]) && concerns(counter, accesses))
            measured[counter] = Unavailable{keep_reason(reason)};
}

bool counts_constants(AccessSet accesses, const std::vector<Counter>& wanted) {
    return accesses.has(Access::constant_load) &&
           std::find(wanted.begin(), wanted.end(), Counter::constant_requests) != wanted.end();
}

void take_off_constants(const Readings& without, Readings& measured) {
    Reading& all = measured[Counter::constant_requests];
    const Reading& besides = without[Counter::constant_requests];
    if (!is_number(all)) return;
    if (!is_number(besides))
        all = besides;
    else if (number_in(besides) > number_in(all))
        all = Unavailable{"the kernel counts less with its accesses than without them"};
    else
        all = static_cast<std::uint64_t>(number_in(all) - number_in(besides));
}

}  // namespace coalprof
