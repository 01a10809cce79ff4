// A GPU that answers what the model predicts, and fails where a test tells it to.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/count/predict.h"
#include "core/device/device.h"

namespace coalprof::fake {

// Of a GPU that says nothing but its name.
inline DeviceFacts facts_of(std::string name) {
    DeviceFacts facts;
    facts.name = std::move(name);
    return facts;
}

struct Script {
    std::function<void(std::uint64_t value)> on_prepare = [](auto) {};
    std::function<void(const WarpAccess& warp)> on_prepare_warp = [](auto&) {};
    std::function<void(std::uint64_t value)> on_time = [](auto) {};
    std::function<void(std::uint64_t value)> on_verify = [](auto) {};
    std::function<void(std::uint64_t value)> on_launch = [](auto) {};
    std::function<void()> on_collect = [] {};
    std::function<void()> on_ceiling = [] {};
    // What the counters say of a plan (of a warp: value 0); by default what the model predicts.
    std::function<void(std::uint64_t value, Readings& readings)> distort = [](auto, auto&) {};
    DeviceFacts facts = facts_of("Fake GPU");
    std::uint64_t passes = 1;
    std::string log;
    // What a kernel loads from constant memory besides; counted with its constants and alone.
    std::uint64_t constant_overhead = 0;
    bool without_constants = false;  // of the last launch
};

class Launch : public PreparedLaunch {
 public:
    Launch(Script& script, const Plan& plan) : script_(script), plan_(plan) {}
    const Placement& placement() const override { return placement_; }
    LaunchSettings settings() const override { return {}; }
    void launch() override {
        script_.on_launch(plan_.value);
        script_.log += "launch ";
        script_.without_constants = false;
    }
    void launch_without_constants() override {
        script_.log += "overhead ";
        script_.without_constants = true;
    }
    Timing time(std::uint64_t repeats, CacheState) override {
        script_.on_time(plan_.value);
        Timing timing;
        timing.repeats = repeats;
        timing.median_seconds = 1e-6;
        return timing;
    }
    void verify() override { script_.on_verify(plan_.value); }

 private:
    Script& script_;
    Plan plan_;
    Placement placement_;
};

class Launcher : public KernelLauncher {
 public:
    explicit Launcher(Script& script, int index = 0) : script_(script), facts_(script.facts) {
        facts_.index = index;
    }
    const DeviceFacts& device() const override { return facts_; }
    void activate() override { script_.log += "activate "; }
    std::uint64_t pitch_bytes(std::uint64_t row_bytes) override { return row_bytes; }
    std::unique_ptr<PreparedLaunch> prepare(const Plan& plan) override {
        script_.on_prepare(plan.value);
        last_ = plan;
        last_warp_.reset();
        return std::make_unique<Launch>(script_, plan);
    }
    std::unique_ptr<PreparedLaunch> prepare_warp(const WarpAccess& warp) override {
        script_.on_prepare_warp(warp);
        last_warp_ = warp;
        return std::make_unique<Launch>(script_, Plan{});
    }
    void flush_cache() override { script_.log += "flush "; }
    void start_anew() override {}
    double read_ceiling() override {
        script_.on_ceiling();
        script_.log += "ceiling ";
        return 64e9;
    }
    double copy_ceiling() override { return 32e9; }
    CycleReadings read_cycles() override { return {}; }
    const Plan& last() const { return last_; }
    Readings predict_last(const Machine& machine) const {
        const Predictor predictor(machine);
        if (!last_warp_) return predictor.predict_launch(last_, {});
        Readings readings;
        predictor.predict_warp(*last_warp_, readings);
        return readings;
    }

 private:
    Script& script_;
    DeviceFacts facts_;
    Plan last_;
    std::optional<WarpAccess> last_warp_;
};

class Collector : public CounterCollector {
 public:
    Collector(Script& script, const Launcher& launcher) : script_(script), launcher_(launcher) {}
    std::uint64_t passes(std::span<const Counter>) override { return script_.passes; }
    std::vector<Readings> collect(std::span<const Counter> wanted, std::size_t points,
                                  const std::function<void(std::size_t)>& before,
                                  const std::function<void(std::size_t)>& work) override {
        script_.on_collect();
        std::vector<Readings> all(points);
        for (std::size_t point = 0; point < points; ++point) {
            try {
                before(point);
                work(point);
                const Readings predicted = launcher_.predict_last(find_machine("h200"));
                for (const Counter counter : wanted) all[point][counter] = predicted[counter];
                add_constant_overhead(all[point]);
                script_.distort(launcher_.last().value, all[point]);
            } catch (const PointError& error) {
                for (const Counter counter : wanted)
                    all[point][counter] = Unavailable{keep_reason(error.what())};
            } catch (const DeviceLostError& error) {
                for (std::size_t rest = point; rest < points; ++rest)
                    for (const Counter counter : wanted)
                        all[rest][counter] = Unavailable{keep_reason(error.what())};
                return all;
            }
        }
        return all;
    }

 private:
    void add_constant_overhead(Readings& readings) const {
        auto* requests = std::get_if<std::uint64_t>(&readings[Counter::constant_requests]);
        if (!requests) return;
        if (script_.without_constants) *requests = 0;
        *requests += script_.constant_overhead;
    }

    Script& script_;
    const Launcher& launcher_;
};

// Keeps everything that it is given.
class Recorder : public ResultSink {
 public:
    void begin(const ResultHead& given) override { head = given; }
    void point(const Point& given) override { points.push_back(given); }
    void finish(const ResultTail& given) override { tail = given; }
    ResultHead head;
    std::vector<Point> points;
    ResultTail tail;
};

}  // namespace coalprof::fake
