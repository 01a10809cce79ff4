// The progress of a run: a status line on a terminal, shown from its second second on and removed
// when it ends; in files and pipes lines after 1, 2, 4, ... seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "cli/output_options.h"
#include "core/result/result.h"

namespace coalprof {

class StatusLine {
 public:
    using Text = std::function<std::string(double seconds)>;
    // Shows nothing unless `is_wanted`.
    StatusLine(bool is_wanted, Text text);
    ~StatusLine() { stop(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;
    void stop();
    // Does `work` without a status: standard output may be the same terminal.
    void set_aside(const std::function<void()>& work);

 private:
    void show_until_stopped();

    Text text_;
    bool on_terminal_;
    std::chrono::steady_clock::time_point start_;
    std::mutex mutex_;  // also guards the text
    bool has_stopped_ = false;
    std::condition_variable changed_;
    std::thread thread_;
};

// False where --quiet or --no-progress was given.
bool wants_progress(const OutputOptions& options);

// Passes a result on and counts its points.
class Progress : public ResultSink {
 public:
    Progress(ResultSink& sink, const OutputOptions& options);

    void begin(const ResultHead& head) override;
    void point(const Point& point) override;
    void finish(const ResultTail& tail) override;

 private:
    ResultSink& sink_;
    bool is_wanted_;
    std::optional<std::uint64_t> all_;
    std::uint64_t done_ = 0;
    std::optional<StatusLine> status_;
};

// -v: steps and their durations, on standard error.

// While this lives each step is printed when it ends; frequent steps are summed up at the end. One
// at a time.
class StepLines {
 public:
    explicit StepLines(bool wanted);
    ~StepLines();
    StepLines(const StepLines&) = delete;
    StepLines& operator=(const StepLines&) = delete;

 private:
    bool wanted_;
};

}  // namespace coalprof
