// Counts chosen launches of one context of another program: a user range around each, one pass,
// nothing replayed. Everything is called from CUPTI's callbacks, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/program/trace.h"
#include "cupti/attach/run_metrics.h"
#include "cupti/host.h"
#include "cupti/range_session.h"

namespace coalprof {

class LaunchCounter {
 public:
    // The least capacity in launches, if as many are wanted.
    static constexpr std::size_t least_room = 128;
    struct Setup {
        const CuptiApi& api;
        CUcontext context;
        const MetricConfig& config;
        const RunMetrics& metrics;
        std::size_t most_pending;  // launches that wait until they are fetched
        std::function<void(const CountedLaunch&)> deliver;
        std::function<void(const std::string&)> problem;  // nothing is counted afterwards
    };
    explicit LaunchCounter(Setup setup) : setup_(std::move(setup)) {}
    ~LaunchCounter();
    LaunchCounter(const LaunchCounter&) = delete;
    LaunchCounter& operator=(const LaunchCounter&) = delete;

    // Returns true if there was no room left, and all before it was fetched.
    bool begin(std::uint64_t number, const TracedKernel& kernel);
    void end(bool was_launched);
    // Fetches and delivers the counts so far. Waits for the context's work.
    void drain();
    // Drains, and switches the profiler off: launches then run as without us. begin() switches it
    // on again.
    void close();
    bool is_in_range() const { return is_in_range_; }
    bool has_failed() const { return has_failed_; }
    bool is_open() const { return session_.has_value(); }
    std::size_t pending() const { return pending_.size(); }
    // The launches among them whose kernels have ended.
    std::size_t unfetched() const;

 private:
    void fail(const std::string& sentence);
    void fetch();

    Setup setup_;
    std::optional<RangeSession> session_;
    bool is_started_ = false;
    bool is_in_range_ = false;
    bool has_failed_ = false;
    std::size_t most_held_ = 0;  // most launches that pending_ held at once
    struct Pending {
        CountedLaunch launch;
        bool was_launched = false;
    };
    std::vector<Pending> pending_;
};

}  // namespace coalprof
