// coalprof inside the user's program: its action at each launch, wait and end, by any thread.
// Errors are reported in the trace; the program goes on.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/program/trace.h"
#include "cupti/attach/instruction_counter.h"
#include "cupti/attach/kernel_times.h"
#include "cupti/attach/launch_counter.h"
#include "cupti/attach/launch_turn.h"
#include "cupti/attach/line_probe.h"
#include "cupti/attach/loaded_code.h"
#include "cupti/attach/module_driver.h"
#include "cupti/attach/orders.h"
#include "cupti/collector.h"

namespace coalprof {

struct SeenLaunch {
    TracedKernel kernel;  // its device is set later
    CUcontext context = nullptr;
    CUstream stream = nullptr;
};

class Attachment {
 public:
    struct Setup {
        AttachOrders orders;
        NvtxRanges* ranges = nullptr;          // nullptr: launches are not chosen by ranges
        KernelTimes* times = nullptr;          // nullptr: kernels are not timed
        std::function<const CuptiApi&()> api;  // called at the first launch
        std::function<std::uint32_t(CUcontext)> device_of;  // its index; throws CountersError
        WorkDriver work = {};
        // The wait for kernels: ordinary ones end within a second or two.
        std::chrono::milliseconds longest_wait = std::chrono::seconds(10);
        // The wait for a counted launch, during which others wait. One that takes longer (its PTX
        // is compiled) is not counted: the program must never hang because of us.
        std::chrono::milliseconds longest_launch = std::chrono::seconds(10);
        std::chrono::milliseconds least_between_fetches{500};
        // A launch beside a kernel that runs on is not counted; finding that out takes at most a
        // millisecond each time, a tenth of the program's time.
        std::chrono::milliseconds least_between_refusals{10};
    };
    // Throws Error where the trace cannot be written.
    explicit Attachment(const Setup& setup);

    void problem(const std::string& sentence);
    void count_lines(const ModuleDriver& driver);
    void tell_of_code(const ModuleDriver& driver);
    void launch_begins(const SeenLaunch& launch);
    void launch_ends(bool was_launched);
    // Before a stream's launches are recorded: waits while one is counted, or a context's work
    // marked.
    void capture_begins();
    template <typename Change>
    void change_captures(Change change) {
        const std::lock_guard lock(mutex_);
        change(captures_);
    }
    // Called after the program has waited for its kernels.
    void waited();
    // None: lines are not counted.
    template <typename Work>
    bool with_lines(Work work) {
        const std::lock_guard lock(mutex_);
        return lines() && work(*lines());
    }
    // None: not asked for.
    template <typename Work>
    void with_code(Work work) {
        const std::lock_guard lock(mutex_);
        if (code_ && !has_ended_) work(*code_);
    }
    // None: machine code is not counted.
    InstructionCounter* instructions() { return instructions_ ? &*instructions_ : nullptr; }
    // Writes these bytes to a new file; empty: not possible.
    std::string file_for(const std::string& bytes);
    bool counts_lines() const { return setup_.orders.pass == RunPass::lines; }
    bool tells_of_code() const { return setup_.orders.tells_of_code; }
    void context_ends(CUcontext context);
    void program_ends();

    // False in a child of fork(), which shares the trace and must not write to it.
    bool is_ours() const;

 private:
    using Clock = std::chrono::steady_clock;
    using Lock = std::unique_lock<std::mutex>;

    // The counters of one GPU, the same in all of its contexts.
    struct ChipConfig {
        ChipConfig(const CuptiApi& api, const std::string& chip, RunMetrics chosen)
            : metrics(std::move(chosen)), config(api, chip, metrics.names()) {}
        RunMetrics metrics;
        MetricConfig config;
    };
    struct Context {
        std::uint32_t device = 0;
        bool is_set_up = false;                  // or cannot be
        std::unique_ptr<LaunchCounter> counter;  // none: no launch was chosen, or set-up failed
    };

    LineProbe* lines() { return lines_ && !has_ended_ ? &*lines_ : nullptr; }
    Context& context_of(CUcontext context);
    const ChipConfig& config_for(std::uint32_t device);
    void set_up(CUcontext handle, Context& context);
    void count(const SeenLaunch& launch);
    void pass_over(CUcontext handle, Context& context);
    void end_counting(bool was_launched);
    void count_instructions(const SeenLaunch& launch);
    void fetch_instructions();
    void fetch_last_instructions();
    void settle(Lock& lock);
    bool kernel_has_ended(CUstream stream) const;

    bool is_idle(CUcontext context, Patience::Time patience);
    bool ends_in_time(CUcontext context);
    bool lets_cupti_wait(CUcontext context);
    bool fetch_last(CUcontext handle, const Context& context);
    bool read_lines(bool whole, Patience::Time patience);
    void fetch_if_due();
    void tell_ranges();
    void tell_times();
    void tell_libraries();

    Setup setup_;
    pid_t process_;
    std::mutex mutex_;
    TraceWriter trace_;
    LaunchChoice choice_;
    std::optional<LineProbe> lines_;
    std::optional<LoadedCode> code_;
    std::optional<InstructionCounter> instructions_;
    std::optional<StartedProfiler> profiler_;
    std::map<std::uint32_t, ChipConfig> configs_;  // GPU -> its configuration
    std::map<CUcontext, Context> contexts_;
    std::vector<Context> left_open_;  // contexts that are gone; closing them would have waited
    RunningWork work_;
    StreamCaptures captures_;
    Patience patience_;
    Clock::time_point ask_again_;  // time to ask again if kernels have ended
    bool has_told_of_waiting_ = false;
    LaunchTurn turn_;
    SeenLaunch counting_;  // the launch that is counted

    std::thread::id lost_;     // whose counting was ended while it was in its launch
    std::uint64_t files_ = 0;  // written in place of the program's
    std::uint64_t idle_ = 0;   // launches since the last one that was counted
    Clock::time_point last_fetch_ = Clock::now();
    Clock::time_point start_ = Clock::now();
    Clock::time_point times_due_ = start_ + std::chrono::seconds(1);
    bool has_ended_ = false;
    std::set<std::string> libraries_;  // that were reported
};

}  // namespace coalprof
