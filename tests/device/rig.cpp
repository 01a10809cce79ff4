#include "device/rig.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/run/runs.h"
#include "core/sweep/sweep.h"
#include "cupti/collector.h"
#include "cupti/fake_cupti.h"
#include "device/scripted_cupti.h"
#include "kernels/fake_driver.h"
#include "kernels/fake_kernels.h"
#include "kernels/launcher.h"

namespace coalprof {
namespace {

// Hardware counters and, in a session of its own, one that needs instrumented code.
constexpr std::array wanted{Counter::load_requests, Counter::load_sectors, Counter::store_sectors,
                            Counter::load_unique_bytes};

SweepPoints offsets() {
    Sweep sweep;
    sweep.pattern = "offset";
    for (std::uint64_t offset = 0; offset < sweep_points; ++offset) sweep.values.push_back(offset);
    sweep.launch.shape.size_bytes = 1024;
    sweep.machines = {find_machine("h200")};
    return SweepPoints(std::move(sweep));
}

// Notes when a point is finished.
class NotedLaunch : public PreparedLaunch {
 public:
    NotedLaunch(std::unique_ptr<PreparedLaunch> launch, std::uint64_t value,
                std::set<std::uint64_t>& timed)
        : launch_(std::move(launch)), value_(value), timed_(timed) {}
    const Placement& placement() const override { return launch_->placement(); }
    LaunchSettings settings() const override { return launch_->settings(); }
    void launch() override { launch_->launch(); }
    Timing time(std::uint64_t repeats, CacheState cache) override {
        return launch_->time(repeats, cache);
    }
    void verify() override {
        launch_->verify();
        timed_.insert(value_);
    }

 private:
    std::unique_ptr<PreparedLaunch> launch_;
    std::uint64_t value_;
    std::set<std::uint64_t>& timed_;
};

// Tells the fake kernels which plan they are to play.
class PlayedLauncher : public KernelLauncher {
 public:
    PlayedLauncher(KernelLauncher& launcher, FakeKernels& kernels, std::set<std::uint64_t>& timed)
        : launcher_(launcher), kernels_(kernels), timed_(timed) {}
    const DeviceFacts& device() const override { return launcher_.device(); }
    void activate() override { launcher_.activate(); }
    std::uint64_t pitch_bytes(std::uint64_t row_bytes) override {
        return launcher_.pitch_bytes(row_bytes);
    }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) override {
        kernels_.expect(plan);
        return std::make_unique<NotedLaunch>(launcher_.prepare(plan), plan.value, timed_);
    }
    std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess& access) override {
        return launcher_.prepare_warp(access);
    }
    void flush_cache() override { launcher_.flush_cache(); }
    void start_anew() override { launcher_.start_anew(); }
    double read_ceiling() override { return launcher_.read_ceiling(); }
    double copy_ceiling() override { return launcher_.copy_ceiling(); }
    CycleReadings read_cycles() override { return launcher_.read_cycles(); }

 private:
    KernelLauncher& launcher_;
    FakeKernels& kernels_;
    std::set<std::uint64_t>& timed_;
};

struct Tables {
    DriverApi driver = FakeGpu::driver();
    std::shared_future<NvrtcLibrary> nvrtc = ready(scripted(FakeGpu::nvrtc().get()));
    CuptiApi cupti;
    CounterDriver counter_driver;
};

void run_with(const Tables& tables, FakeKernels& kernels, Outcome& outcome) {
    SweepPoints points = offsets();
    AccessSet accesses;
    std::unique_ptr<KernelLauncher> launcher;
    try {
        accesses = points.check();  // as the program does, before it asks for a GPU
        launcher = make_launcher(tables.driver, tables.nvrtc, {});
    } catch (const Error& error) {
        outcome.refusal = error.what();
        outcome.code = run_on_model(points, outcome.result);
        return;
    }
    outcome.has_gpu = true;
    PlayedLauncher played(*launcher, kernels, outcome.timed);
    std::optional<CuptiCollector> collector;  // goes before the context does
    try {
        collector.emplace(tables.cupti, tables.counter_driver,
                          CollectorOptions{.device = 0, .points_per_session = 20});
        outcome.has_collector = true;
    } catch (const CountersError& error) {
        outcome.refusal = error.what();
    }
    try {
        DeviceBackend device({.launcher = played,
                              .collector = collector ? &*collector : nullptr,
                              .no_counters = outcome.refusal,
                              .wanted = wants({wanted.begin(), wanted.end()}),
                              .accesses = accesses,
                              .repeats = 1});
        outcome.code = run_points(points, device, {}, outcome.result);
    } catch (const std::exception& error) {
        outcome.escaped = error.what();
    }
}

void note_litter(const Script& script, const FakeGpu& gpu, const FakeCupti& cupti,
                 std::vector<std::string>& litter) {
    const auto note = [&](int count, std::string_view what) {
        if (count != 0) litter.push_back(fmt::format("{} of {} left", count, what));
    };
    note(gpu.contexts, "the contexts");
    note(gpu.modules, "the modules");
    note(gpu.events, "the events");
    note(gpu.allocations, "cuMemAlloc's memory");
    note(gpu.host_allocations, "the host's memory");
    note(gpu.textures, "the textures");
    note(gpu.handles, "cuMemCreate's memory");
    note(gpu.reservations, "the reserved addresses");
    note(gpu.mappings, "the mappings");
    note(script.live_programs(), "NVRTC's programs");
    for (const std::string& breach : cupti.breaches()) litter.push_back("CUPTI: " + breach);
}

// A number, or a reason that is not empty; a counter that does not concern the point is not there.
bool is_explained(const Reading& reading) {
    const auto* none = std::get_if<Unavailable>(&reading);
    return none == nullptr || !none->reason.empty();
}

void judge(const Point& point, std::vector<std::string>& found) {
    const auto say = [&](std::string_view what) {
        found.push_back(fmt::format("{}: {}", point.name, what));
    };
    if (!is_number(point.predicted[Counter::load_sectors])) say("no prediction");
    if (!point.measured) return;
    if (!point.failure.empty()) say("measured, and yet failed");
    if (!point.timing || !is_number((*point.measured)[Counter::duration_seconds]))
        say("measured without its time");
    for (const Counter counter : wanted)
        if (!is_present((*point.measured)[counter]))
            say(fmt::format("{} is not there", key_of(counter)));
    point.measured->each([&](Counter counter, const Reading& reading) {
        if (!is_explained(reading)) say(fmt::format("{} has no reason", key_of(counter)));
    });
}

// The points that were asked for come in their order, none twice and none left out between.
void judge_points(const Outcome& outcome, std::vector<std::string>& found) {
    const std::vector<Point>& points = outcome.result.points;
    bool some_failed = false;
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (points[k].name != fmt::format("offset={}", k))
            found.push_back(fmt::format("point {} is {}", k, points[k].name));
        judge(points[k], found);
        some_failed = some_failed || !points[k].failure.empty();
        if (outcome.has_gpu && !points[k].measured && points[k].failure.empty())
            found.push_back(points[k].name + " has neither numbers nor a reason");
    }
    for (const std::uint64_t offset : outcome.timed)
        if (offset >= points.size() || !points[offset].timing || !points[offset].measured)
            found.push_back(fmt::format("offset={} was finished, and is lost", offset));
    if (outcome.result.tail.status == Status::interrupted) return;
    if (points.size() != sweep_points)
        found.push_back(fmt::format("{} points were delivered", points.size()));
    if (outcome.code != (some_failed ? ExitCode::partial : ExitCode::done))
        found.push_back(fmt::format("exit code {}", static_cast<int>(outcome.code)));
}

}  // namespace

Outcome run_scripted_sweep(Script& script) {
    Outcome outcome;
    FakeGpu gpu;
    FakeCupti cupti;
    FakeKernels kernels(gpu);
    Tables tables;
    tables.cupti = scripted(cupti.api());
    tables.counter_driver = scripted(cupti.driver());
    run_with(tables, kernels, outcome);
    note_litter(script, gpu, cupti, outcome.litter);
    return outcome;
}

bool is_whole(const Point& point) {
    return point.measured && point.timing && std::ranges::all_of(wanted, [&](Counter counter) {
               return is_number((*point.measured)[counter]);
           });
}

std::size_t whole_points(const Outcome& outcome) {
    return static_cast<std::size_t>(std::ranges::count_if(outcome.result.points, is_whole));
}

std::vector<std::string> complaints(const Script& script, const Outcome& outcome) {
    std::vector<std::string> found = outcome.litter;
    if (!outcome.escaped.empty()) found.push_back("left the run: " + outcome.escaped);
    if (!(outcome.has_gpu && outcome.has_collector) && outcome.refusal.empty())
        found.push_back("no reason why nothing is measured");
    for (const std::string& call : script.after_loss())
        found.push_back(call + " on a GPU that was lost");
    judge_points(outcome, found);
    return found;
}

}  // namespace coalprof
