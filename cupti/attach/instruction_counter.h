// Counts the memory instructions of one kernel of machine code over its first launches: switched on
// at the begin of the first, which makes CUPTI count this kernel and no other, and fetched at the
// end of the last, or later: launches until then are counted as well. No thread may launch anything
// else between begin() and end().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/trace.h"
#include "cupti/attach/cubins.h"
#include "cupti/collector.h"
#include "cupti/cupti_api.h"

namespace coalprof {

// One session of CUPTI's SASS Metrics API: counts of each instruction of one function, the first
// that the context launches after it was switched on. A process can have one: a second
// configuration is refused, and after switching on again nothing is counted (H100, CUDA 13.0,
// driver 580.159, 2026-11-23). The range profiler cannot be used in the same process.

// An executed instruction, with its count by any of the metrics.
struct CountedInstruction {
    std::string function;  // mangled
    std::uint32_t cubin_crc = 0;
    std::uint64_t offset = 0;                     // bytes, from the function's begin
    std::map<std::string, std::uint64_t> counts;  // metric -> count; absent: it does not apply
};

class SassSession {
 public:
    // Switches counting on, directly before the launch: configured earlier, nothing is counted. The
    // profiler must be started. Metrics that the chip lacks are left out, but not the first of
    // them. If the chip's other metrics are too many for CUPTI, only the first `sure_metrics` are
    // used. Throws CountersError.
    SassSession(const CuptiApi& api, CUcontext context, std::uint32_t device,
                std::span<const std::string_view> metrics, std::size_t sure_metrics);
    ~SassSession();
    SassSession(const SassSession&) = delete;
    SassSession& operator=(const SassSession&) = delete;

    CUcontext context() const { return context_; }
    // The reason why not all metrics are counted, a sentence; empty: they are.
    const std::string& shortage() const { return shortage_; }
    // The context's work must have ended. Throws CountersError.
    std::vector<CountedInstruction> fetch();
    // Launches then run as without us. Returns the number of lost records. Throws CountersError.
    std::size_t close();
    // Leaves the session as it is, since CUPTI would wait.
    void abandon() { is_enabled_ = is_configured_ = false; }

 private:
    using MetricId = std::pair<std::uint64_t, std::string>;
    std::vector<MetricId> find_metrics(std::span<const std::string_view> metrics);
    void begin(std::size_t count);
    void unset();

    const CuptiApi& api_;
    CUcontext context_;
    std::uint32_t device_;
    std::vector<MetricId> metrics_;
    std::string shortage_;
    bool is_configured_ = false;
    bool is_enabled_ = false;
};

class InstructionCounter {
 public:
    struct Setup {
        std::function<const CuptiApi&()> api;
        std::string kernel;               // its mangled name
        std::uint64_t most_launches = 1;  // launches of any shape
        std::function<void(const TracedInstruction&)> deliver;
        std::function<void(const std::string&)> problem;
    };
    explicit InstructionCounter(Setup setup) : setup_(std::move(setup)), cubins_(setup_.kernel) {}

    // Called from callbacks inside the driver, which may hold locks: each may be called at any
    // time, and waits for no launch.
    Cubins& cubins() { return cubins_; }
    // The first call must be when a context is made; in a launch it may be too late.
    void start_profiler();

    // True if this launch is one of them.
    bool wants(const TracedKernel& kernel, CUcontext context) const;
    bool is_open() const { return session_.has_value(); }
    // The context of an open one.
    CUcontext context() const { return session_->context(); }
    // Returns true if it is counted.
    bool begin(const TracedKernel& kernel, CUcontext context);
    void end(bool was_launched);
    // All wanted launches have been counted, and must be fetched.
    bool is_complete() const { return is_open() && launched_ >= setup_.most_launches; }
    // Delivers the counts, and ends the counting for good. All work of the context must have ended.
    void fetch();
    // Gives up the counts, since CUPTI would wait.
    void abandon(const std::string& why);

    // The counted launches.
    const std::map<TracedKernel, std::uint64_t>& launches() const { return launches_; }

 private:
    void fail(const std::string& sentence);
    void deliver();

    Setup setup_;
    Cubins cubins_;
    std::mutex starting_;
    std::optional<StartedProfiler> profiler_;
    std::optional<SassSession> session_;
    bool has_ended_ = false;  // a process can count only once
    TracedKernel launching_{};
    std::uint64_t launched_ = 0;
    std::map<TracedKernel, std::uint64_t> launches_;
};

}  // namespace coalprof
