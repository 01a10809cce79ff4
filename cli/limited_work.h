// Limits of time and memory for commands that read files of any content, with a progress line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/output_options.h"
#include "core/runtime/work_limits.h"

namespace coalprof {

struct LimitOptions {
    std::string seconds;  // empty: the usual ones
    std::string memory = "1GiB";

    void add_to(CLI::App& command);
    // Throws UsageError.
    WorkLimits limits(double usual_seconds = 30) const;
};

// The status line of the work that counts itself (CountedWork), for StatusLine.
std::string progress_of_work(double seconds);

// The sentence where the limit of time is reached.
std::string text_of(const LimitReached& reached, double limit_seconds);

// Does `work` within the limits. Throws Error where one is reached: what was done, how long the
// whole takes, and the option that allows more.
void do_within(const WorkLimits& limits, const std::function<void(LimitsHeld&)>& work);

}  // namespace coalprof
