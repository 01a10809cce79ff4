// Counts the memory instructions of one kernel of machine code over its first launches: switched on
// at the begin of the first, which makes CUPTI count this kernel and no other, and fetched at the
// end of the last, or later: launches until then are counted as well. No thread may launch anything
// else between begin() and end().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/program/trace.h"
#include "cupti/attach/cubins.h"
#include "cupti/collector.h"
#include "cupti/sass_session.h"

namespace coalprof {

class InstructionCounter {
 public:
    struct Setup {
        std::function<const CuptiApi&()> api;
        std::string kernel;               // by its mangled name
        std::uint64_t most_launches = 1;  // of whatever shape
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
