#include "cli/sweep_job.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/saved_result.h"
#include "cli/wiring.h"
#include "core/count/transactions.h"
#include "core/run/backend.h"
#include "core/run/device_backend.h"
#include "core/runtime/signal.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

// The first output that is a file in a folder which may be written; empty if there is none.
std::string first_file(const std::vector<OutputTarget>& targets) {
    for (const OutputTarget& target : targets) {
        const std::string& path = target.path;
        if (path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/")) continue;
        struct stat old {};
        if (::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) continue;
        const std::size_t slash = path.rfind('/');
        const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
        if (::access(folder.c_str(), W_OK | X_OK) == 0) return path;
    }
    return {};
}

// The GPU of this run; without a launcher the model alone answers.
DeviceAccess device_for(const MachineOptions& machine, const OutputOptions& output,
                        const Invocation& invocation, const PlannedPoint& first) {
    const auto backend = machine.chosen_backend();
    const int index = machine.device_index();  // an invalid one is always refused
    const bool demanded = backend == MachineOptions::Backend::device;
    // A machine that is named is to be predicted; measuring another one would say nothing about it.
    const char* without = backend == MachineOptions::Backend::model ? "--backend model"
                          : !machine.machine.empty() && !demanded   ? "--machine"
                                                                    : nullptr;
    for (const char* option : {"--device", "--repeat", "--counters"})
        if (without && invocation.has_typed(option) &&
            (option != std::string_view("--counters") ||
             counters_listed(machine.counters).empty()))  // listed ones choose what is shown
            throw UsageError(fmt::format("{} and {}: nothing is measured", option, without),
                             "leave one of them out; --json has all that is predicted");
    if (without) return {};
    const bool wants_counters = machine.counters != "none";
    const std::future<void> loading = load_counters_ahead(wants_counters);
    DeviceAccess access = open_device({.index = index,
                                       .ahead = {first.plan},
                                       .wants_counters = wants_counters,
                                       .wants_ceilings = machine.repeats() > 0});
    if (access.launcher) return access;
    if (demanded)
        throw Error(fmt::format("--backend device: {}; `coalprof doctor` says what is there",
                                access.no_gpu));
    // The result says that it is predicted.
    if (output.verbose || invocation.has_typed("--device"))
        output.note(fmt::format("{}; the model answers alone", access.no_gpu));
    return access;
}

// Counters were asked for by name and could not be read, although everything else was delivered.
ExitCode judged(ExitCode code, const MachineOptions& machine, const DeviceAccess& device) {
    const bool demanded = !machine.counters.empty() && machine.counters != "none";
    const bool lacks_them = device.launcher && !device.collector;
    return demanded && lacks_them && code == ExitCode::done ? ExitCode::environment : code;
}

// Without --dlcm each machine uses its default, which the result names.
void add_usual_modifier(SweepFacts& sweep, const std::vector<Machine>& machines,
                        const PlannedPoint& first) {
    if (find_value(sweep.settings, "dlcm") || find_value(first.parameters, "dlcm")) return;
    std::string text(name_of(usual_load_modifier(*machines.front().rules)));
    const auto differs = [&](const Machine& machine) {
        return name_of(usual_load_modifier(*machine.rules)) != text;
    };
    if (std::any_of(machines.begin(), machines.end(), differs)) {
        text = joined(machines, [](const Machine& machine) {
            return fmt::format("{} on {}", name_of(usual_load_modifier(*machine.rules)),
                               machine.name);
        });
    }
    sweep.more.emplace_back("dlcm", text);
}

// Facts about the points, known before the first is answered. Empty where a signal asks to stop
// before that.
struct CheckedPoints {
    AccessSet accesses;
    PlannedPoint first;
};

// None where a signal asks to stop first.
std::uint64_t warps_walked(const SweptPoints& points) {
    try {
        return points.warps_walked();
    } catch (const Stopped&) {
        return 0;
    }
}

// Throws for a point that does not fit together.
CheckedPoints checked(const SweptPoints& points) {
    try {
        return {points.check(), points.at(0)};
    } catch (const Stopped&) {
        return {};
    }
}

// --sort and --best of a part are not those of the whole.
void require_whole_view(const ViewOptions& view) {
    const char* option = !view.best.empty() ? "--best" : !view.sort.empty() ? "--sort" : nullptr;
    if (!option) return;
    throw UsageError(
        fmt::format("{} and --shard: it would look at this shard alone", option),
        fmt::format("give it to the merged result: coalprof report ALL.json {} KEY", option));
}

DeviceBackend backend_for(const DeviceAccess& device, const MachineOptions& options,
                          AccessSet accesses) {
    return DeviceBackend({
        .launcher = *device.launcher,
        .collector = device.collector.get(),
        .no_counters = device.no_counters,
        // Counters of all points, so that one session reads them.
        .wanted = [all = counters_of(options.counters, accesses)](AccessSet) { return all; },
        .accesses = accesses,
        .repeats = options.repeats(),
        .cache = options.cache_state(),
    });
}

}  // namespace

RunSinks::RunSinks(const std::vector<OutputTarget>& targets, const MachineOptions& machine,
                   const OutputOptions& output, std::string_view said_code)
    : note_([&output](std::string_view remark) { output.note(remark); }),
      file_(first_file(targets)),
      resumes_(machine.resume) {
    if (resumes_ && file_.empty())
        throw UsageError("--resume: there is no file to go on with",
                         "name the file that the earlier run was to write: --output FILE");
    outputs_.emplace(
        targets,
        [&output, code = std::string(said_code)](const std::vector<Warning>& warnings) {
            output.note_warnings(warnings, code);
        },
        note_);
    viewed_.emplace(*outputs_, output.view);
    ResultSink* next = &viewed_->sink();
    if (!file_.empty()) {
        part_.emplace(file_, *next, note_);
        outputs_->leave_parts_to([this] { return part_->is_kept(); });
        next = &*part_;
    }
    budgets_.emplace(machine.budgets, *next);
    progress_.emplace(budgets_->sink(), output);
}

Keeping RunSinks::keeping() {
    if (!part_) return {};
    return {[this](const ResultHead& head) { return earlier_points(head); },
            [this](const Point& point, bool is_replayed) { part_->keep(point, is_replayed); }};
}

// The file with the points that this run continues after; empty: it begins with its first point.
// A run does not go on with a result that another sweep has finished either.
std::string RunSinks::earlier_points(const ResultHead& head) {
    const bool has_part = part_->take_over();
    if (has_part && !resumes_)
        throw UsageError(
            fmt::format("{} holds points of an earlier run", shown(part_->path())),
            "--resume goes on after them; or remove that file, or name another --output");
    const std::string& earlier = has_part ? part_->path() : file_;
    if (resumes_)
        if (const std::string why =
                why_of_another(earlier, head, has_part ? "it cannot be read as a result" : "");
            !why.empty())
            throw UsageError(
                fmt::format("--resume: {} does not fit: {}", shown(earlier), why),
                "name another --output, or remove that file: then the run begins anew");
    return has_part ? earlier : std::string();
}

ExitCode run_sweep_job(const SweepJob& job, const MachineOptions& machine_options,
                       const OutputOptions& output_options, const Invocation& invocation) {
    const StepLines steps(output_options.verbose);
    const std::vector<Machine> named = machine_options.machines();
    std::unique_ptr<SweptPoints> points = job.points(named, nullptr);
    const std::optional<Shard> shard = machine_options.chosen_shard();
    if (shard) require_whole_view(output_options.view);
    if (shard) points->keep(*shard);
    StatusLine checking(wants_progress(output_options), [](double seconds) {
        return fmt::format("checking the points, {:.0f} s", seconds);
    });
    machine_options.require_patience(warps_walked(*points));
    const auto [accesses, first] = checked(*points);
    checking.stop();
    job.typed.require_effects(accesses, job.description.pattern, invocation);
    ResultHead head = head_of(invocation.argv);
    head.sweep = job.description;
    head.columns = counters_listed(machine_options.counters);
    head.table_columns = output_options.view.chosen_columns();
    const std::vector<OutputTarget> targets = output_options.targets();
    // Unreadable counters are reported below, before anything is launched.
    RunSinks sinks(targets, machine_options, output_options, "W-NO-COUNTERS");

    const DeviceAccess device = stop_signal() == 0
                                    ? device_for(machine_options, output_options, invocation, first)
                                    : DeviceAccess{};
    ModelBackend model(machine_options.cache_state());
    std::optional<DeviceBackend> measuring;
    std::vector<Machine> predicted = named;
    if (device.launcher) {
        if (!device.no_counters.empty()) output_options.note(device.no_counters);
        if (machine_options.machine.empty()) predicted = {machine_of(device.launcher->device())};
        points = job.points(predicted, device.launcher.get());
        if (shard) points->keep(*shard);
        measuring.emplace(backend_for(device, machine_options, accesses));
    }
    add_usual_modifier(head.sweep, predicted, first);
    head.machine = describe_machines(predicted);
    if (shard) {
        head.sweep.more.emplace_back("shard", shard->text());
        head.sweep.more.emplace_back("shard_of_points", points->count());
    }
    head.points = points->size();
    if (head.points == 0U)
        output_options.note(
            fmt::format("shard {} of {} points holds none", shard->text(), points->count()));
    if (measuring) head.sweep.repeat = machine_options.repeats();
    if (measuring || machine_options.cache_state() == CacheState::warm)
        head.sweep.cache = machine_options.cache;
    Backend& backend = measuring ? static_cast<Backend&>(*measuring) : model;
    return sinks.judged(judged(run_points(*points, backend, head, sinks.sink(), sinks.keeping()),
                               machine_options, device));
}

}  // namespace coalprof
