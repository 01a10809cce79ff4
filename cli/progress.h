// How far a run is: a status line on a terminal, from its second second on and gone when it ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/output_options.h"
#include "core/result/result.h"

namespace coalprof {

// Hands a result on and counts its points.
class Progress : public ResultSink {
 public:
    // Silent with --quiet and --no-progress, and where standard error is no terminal.
    Progress(ResultSink& sink, const OutputOptions& options);
    ~Progress() override { stop(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    void show_until_stopped();
    void stop();

    ResultSink& sink_;
    bool is_shown_;
    std::chrono::steady_clock::time_point start_{};
    std::optional<std::uint64_t> all_;
    std::mutex mutex_;  // of the next two
    std::uint64_t done_ = 0;
    bool has_stopped_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

}  // namespace coalprof
