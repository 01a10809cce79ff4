#include "cupti/attach/attachment.h"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "core/device/device.h"
#include "cupti/attach/frameworks.h"
#include "cupti/cupti_api.h"

namespace coalprof {
namespace {

// The profiler is switched off after this many launches in a row that are not to be counted.
constexpr std::uint64_t idle_launches = 200;
// The most launches that wait to be fetched: reserving each takes 1.7 ms, and a fetch 50 ms, in
// which counting stops and starts again (H100, 2026-11-23).
constexpr std::uint64_t most_pending = 512;
// The same as Setup::least_between_fetches for the counts of lines, which are fetched all at once.
constexpr std::chrono::milliseconds least_between_reads{1000};

std::string program_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string("?") : path.string();
}

}  // namespace

Attachment::Attachment(const Setup& setup)
    : setup_(setup),
      process_(::getpid()),
      trace_(setup.orders.folder + '/' + trace_name(static_cast<std::uint64_t>(process_)),
             {.id = static_cast<std::uint64_t>(process_), .program = program_path()}),
      choice_(setup.orders.first_of_each, setup.orders.kernel, setup.ranges,
              [this](const std::string& sentence) { problem(sentence); }),
      work_(setup.work),
      captures_(setup.work.stream_is_capturing),
      patience_(setup.longest_wait),
      turn_(setup.longest_launch) {
    for (const std::string& name : setup.orders.left_out) choice_.leave_out(name);
    if (setup.orders.pass == RunPass::machine_code)
        instructions_.emplace(InstructionCounter::Setup{
            .api = setup.api,
            .kernel = setup.orders.one_kernel,
            .most_launches = setup.orders.first_of_each,
            .deliver = [this](const TracedInstruction& told) { trace_.instruction(told); },
            .problem = [this](const std::string& sentence) { problem(sentence); }});
}

bool Attachment::is_ours() const { return ::getpid() == process_; }

void Attachment::problem(const std::string& sentence) {
    try {
        trace_.problem(sentence);
    } catch (const Error&) {
        // It cannot be reported; the program goes on.
    }
}

void Attachment::count_lines(const ModuleDriver& driver) {
    lines_.emplace(LineProbe::Setup{
        .driver = driver,
        .wants = [this](const std::string& name) { return choice_.wants(name); },
        .deliver = [this](const TracedSite& site) { trace_.site(site); },
        .problem = [this](const std::string& sentence) { problem(sentence); },
        .lacks_ptx = [this](const std::string& reason) { trace_.lacks_ptx(reason); },
        .may_copy = [this](CUcontext context) { return !captures_.any() && ends_in_time(context); },
        .rewritten = [this](const std::string& kernel) { trace_.rewritten(kernel); }});
}

void Attachment::tell_of_code(const ModuleDriver& driver) {
    code_.emplace(LoadedCode::Setup{
        .driver = driver,
        .rewritable = [this](const std::string& kernel) { trace_.rewritable(kernel); },
        .lacks_ptx = [this](const std::string& reason) { trace_.lacks_ptx(reason); },
        .unknown_code = [this](const std::string& reason) { trace_.unknown_code(reason); }});
}

std::string Attachment::file_for(const std::string& bytes) {
    // No other process has this trace name.
    const std::string path = fmt::format("{}-{}.image", trace_.path(), ++files_);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    return file ? path : std::string();
}

Attachment::Context& Attachment::context_of(CUcontext handle) {
    const auto [found, is_new] = contexts_.try_emplace(handle);
    try {
        if (is_new) found->second.device = setup_.device_of(handle);
    } catch (const Error& error) {
        problem(error.what());
        found->second.is_set_up = true;  // set up without a counter
    }
    return found->second;
}

const Attachment::ChipConfig& Attachment::config_for(std::uint32_t device) {
    const auto known = configs_.find(device);
    if (known != configs_.end()) return known->second;
    const CuptiApi& api = setup_.api();
    if (!profiler_) profiler_.emplace(api);
    const std::string chip = chip_of_device(api, static_cast<int>(device));
    const ChipMetrics metrics(api, chip);
    const auto has = [&](std::string_view metric) { return metrics.has(metric); };
    return configs_.try_emplace(device, api, chip, RunMetrics(setup_.orders.pass, chip, has))
        .first->second;
}

void Attachment::set_up(CUcontext handle, Context& context) {
    if (std::exchange(context.is_set_up, true)) return;
    try {
        const ChipConfig& chip = config_for(context.device);
        if (chip.config.passes() > 1)
            throw CountersError(fmt::format(
                "cannot read counters: this GPU needs {} passes for them", chip.config.passes()));
        context.counter = std::make_unique<LaunchCounter>(LaunchCounter::Setup{
            .api = setup_.api(),
            .context = handle,
            .config = chip.config,
            .metrics = chip.metrics,
            .most_pending = std::clamp<std::uint64_t>(setup_.orders.first_of_each,
                                                      LaunchCounter::least_room, most_pending),
            .deliver = [this](const CountedLaunch& launch) { trace_.counted(launch); },
            .problem = [this](const std::string& sentence) { problem(sentence); }});
    } catch (const Error& error) {
        problem(error.what());
    }
}

void Attachment::launch_begins(const SeenLaunch& launch) {
    Lock lock(mutex_);
    if (counts_lines()) {
        if (has_ended_) return;
        if (!captures_.any()) choice_.takes(launch.kernel);
        if (lines()) lines()->launched_in(launch.context);
        return;
    }
    if (turn_.is_mine()) return;  // called by the launch that is counted
    settle(lock);
    // The kernel of a lost launch could still run in the next one's range.
    if (has_ended_ || captures_.any() || lost_ != std::thread::id()) return;

    if (instructions_) return count_instructions(launch);
    fetch_if_due();
    count(launch);
}

void Attachment::count(const SeenLaunch& launch) {
    Context& context = context_of(launch.context);
    TracedKernel kernel = launch.kernel;
    kernel.device = context.device;
    if (!choice_.takes(kernel)) {
        if (setup_.times) setup_.times->launch_begins();
        return pass_over(launch.context, context);
    }
    idle_ = 0;
    set_up(launch.context, context);
    if (!context.counter || context.counter->has_failed() || !lets_cupti_wait(launch.context))
        return;
    context.counter->end(false);  // the range of an abandoned kernel
    const bool has_fetched = context.counter->begin(choice_.total(), kernel);
    if (!context.counter->is_in_range()) return;  // it failed, and has reported so
    if (has_fetched && contexts_.size() == 1) last_fetch_ = Clock::now();
    choice_.count(kernel);
    counting_ = launch;
    if (setup_.times) setup_.times->pause();
    turn_.take();
}

// Other threads' launches wait for this launch to return: it must be CUPTI's first.
void Attachment::count_instructions(const SeenLaunch& launch) {
    TracedKernel kernel = launch.kernel;
    if (!instructions_->wants(kernel, launch.context)) return;
    if (!instructions_->is_open() && !lets_cupti_wait(launch.context)) return;
    kernel.device = context_of(launch.context).device;
    if (!instructions_->begin(kernel, launch.context)) return;
    counting_ = launch;
    turn_.take();
}

// For an idle context.
void Attachment::fetch_instructions() {
    work_.synchronize(instructions_->context());
    instructions_->fetch();
}

void Attachment::fetch_last_instructions() {
    if (!instructions_ || !instructions_->is_open()) return;
    if (!captures_.any() && is_idle(instructions_->context(), patience_.at_the_end()))
        return fetch_instructions();
    instructions_->abandon(
        "instructions were not counted: a kernel ran on, or a graph was recorded, when their "
        "counts were to be fetched");
}

void Attachment::pass_over(CUcontext handle, Context& context) {
    if (++idle_ % idle_launches == 0 && context.counter && context.counter->is_open() &&
        lets_cupti_wait(handle)) {
        context.counter->end(false);
        context.counter->close();
    }
}

void Attachment::launch_ends(bool was_launched) {
    Lock lock(mutex_);
    if (turn_.is_mine() && was_launched) {
        const CUstream stream = counting_.stream;
        const Patience::Time patience = patience_.with_kernel(counting_.kernel.name);
        lock.unlock();  // the kernel may need the program in order to end
        const auto has_ended = [&] {
            const std::lock_guard asking(mutex_);
            return kernel_has_ended(stream);
        };
        comes_true(has_ended, patience);
        lock.lock();
    }
    if (turn_.is_mine()) end_counting(was_launched);
    if (lost_ == std::this_thread::get_id()) lost_ = {};
}

// The range of a kernel that still runs stays open, which CUPTI would close no sooner than it ends.
void Attachment::end_counting(bool was_launched) {
    turn_.end();
    if (setup_.times) setup_.times->resume();
    const bool has_ended = kernel_has_ended(counting_.stream);
    if (!has_ended) patience_.kernel_ran_on(counting_.kernel.name);
    if (instructions_) {
        instructions_->end(was_launched);
        if (instructions_->is_complete() && !captures_.any() &&
            ends_in_time(instructions_->context()))
            fetch_instructions();
        return;
    }
    LaunchCounter& counter = *contexts_.at(counting_.context).counter;
    if (has_ended) return counter.end(was_launched);
    trace_.unfinished(counting_.kernel.name);
    choice_.leave_out(counting_.kernel.name);
    has_told_of_waiting_ = true;
}

// No launch is being counted then.
void Attachment::settle(Lock& lock) {
    if (turn_.wait(lock)) return;
    lost_ = turn_.owner();
    const bool has_ended = kernel_has_ended(counting_.stream);
    end_counting(false);
    if (has_ended) problem("a launch did not return in time: none is counted until it does");
}

void Attachment::capture_begins() {
    Lock lock(mutex_);
    if (!turn_.is_mine()) settle(lock);
    captures_.begins();
}

// A stream must not be asked while another is captured: that could spoil the capture.
bool Attachment::kernel_has_ended(CUstream stream) const {
    return captures_.any() || work_.has_ended(stream);
}

bool Attachment::is_idle(CUcontext context, Patience::Time patience) {
    return captures_.any() || work_.ends_within(context, patience);
}

bool Attachment::ends_in_time(CUcontext context) {
    if (is_idle(context, patience_.with_context())) return true;
    patience_.context_ran_on();
    return false;
}

// True if CUPTI may be called where it waits for the context's work.
bool Attachment::lets_cupti_wait(CUcontext context) {
    if (Clock::now() < ask_again_) return false;
    if (ends_in_time(context)) return true;
    ask_again_ = Clock::now() + setup_.least_between_refusals;
    if (!has_told_of_waiting_)
        problem("launches were not counted while kernels that were launched before them still ran");
    has_told_of_waiting_ = true;
    return false;
}

void Attachment::waited() {
    const Lock lock(mutex_);
    fetch_if_due();
}

void Attachment::fetch_if_due() {
    const auto least = counts_lines() ? least_between_reads : setup_.least_between_fetches;
    if (!turn_.is_free() || captures_.any() || Clock::now() - last_fetch_ < least) return;
    read_lines(false, Patience::short_wait);
    if (instructions_ && instructions_->is_complete() &&
        is_idle(instructions_->context(), Patience::short_wait))
        fetch_instructions();
    for (auto& [handle, context] : contexts_)
        if (context.counter && context.counter->pending() > 0 &&
            is_idle(handle, Patience::short_wait)) {
            context.counter->end(false);
            context.counter->drain();
        }
    tell_ranges();
    tell_libraries();
    last_fetch_ = Clock::now();
    if (last_fetch_ < times_due_) return;
    tell_times();
    times_due_ = last_fetch_ + (last_fetch_ - start_);  // all at once: the trace stays small
}

// Returns true if they were read. A copy waits for kernels, and would spoil a graph that is being
// recorded.
bool Attachment::read_lines(bool whole, Patience::Time patience) {
    if (!lines_) return true;
    if (captures_.any() || !std::ranges::all_of(lines_->contexts(), [&](CUcontext context) {
            return is_idle(context, patience);
        }))
        return false;
    lines_->read(whole);
    return true;
}

void Attachment::tell_ranges() {
    if (!setup_.ranges) return;
    for (const std::string& name : setup_.ranges->new_names()) trace_.range(name);
}

void Attachment::tell_times() {
    if (!setup_.times) return;
    for (const auto& [kernel, times] : setup_.times->sums()) trace_.timed(kernel, times);
}

// For the next run: the way to get PTX from the program's framework depends on its version.
void Attachment::tell_libraries() {
    const auto note = [](dl_phdr_info* library, std::size_t, void* found) {
        if (library->dlpi_name &&
            (may_hold_xla(library->dlpi_name) || may_hold_linker(library->dlpi_name)))
            static_cast<std::set<std::string>*>(found)->insert(library->dlpi_name);
        return 0;
    };
    std::set<std::string> loaded;
    ::dl_iterate_phdr(note, &loaded);
    for (const std::string& path : loaded)
        if (libraries_.insert(path).second) trace_.loaded(path);
}

// Returns true if the context's counts were fetched.
bool Attachment::fetch_last(CUcontext handle, const Context& context) {
    if (is_idle(handle, patience_.at_the_end())) {
        context.counter->end(false);
        return true;
    }
    if (context.counter->unfetched() > 0)
        problem(
            "counted launches are missing: a kernel ran on when their program or context ended");
    return false;
}

void Attachment::context_ends(CUcontext handle) {
    Lock lock(mutex_);
    settle(lock);
    if (lines()) {
        lines()->context_ends(handle);
        read_lines(true, Patience::short_wait);
    }
    if (instructions_ && instructions_->is_open() && instructions_->context() == handle)
        fetch_last_instructions();
    const auto found = contexts_.find(handle);
    if (found != contexts_.end()) {
        Context& context = found->second;
        if (context.counter && context.counter->is_open() && !fetch_last(handle, context))
            left_open_.push_back(std::move(context));
        contexts_.erase(found);
    }
    work_.context_ends(handle);
    captures_.context_ends(handle);
}

void Attachment::program_ends() {
    Lock lock(mutex_);
    settle(lock);
    if (has_ended_) return;
    has_ended_ = true;
    if (!read_lines(true, patience_.at_the_end()))
        problem(
            "counts of lines may be missing: the program ended while a kernel ran on or a graph "
            "was recorded");
    for (auto& [handle, context] : contexts_)
        if (context.counter && context.counter->is_open() && fetch_last(handle, context))
            context.counter->close();
    fetch_last_instructions();
    tell_ranges();
    tell_libraries();
    if (setup_.times) setup_.times->flush();
    tell_times();
    trace_.end(instructions_ ? instructions_->launches() : choice_.launches());
}

}  // namespace coalprof
