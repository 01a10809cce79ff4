// What of a result is shown, in which order, and what is called best: --columns, --sort, --best.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/judge/best.h"

namespace coalprof {

struct ViewOptions {
    std::string columns;
    std::string sort;
    std::string best;
    bool is_offered = false;  // by the command

    void add_to(CLI::App& command);
    // The counters of --columns; none: all that there are. Throws UsageError.
    std::vector<Counter> chosen_columns() const;
};

// A result on its way to `next`, with a verdict and in order as was asked. Throws UsageError.
class Viewed {
 public:
    Viewed(ResultSink& next, const ViewOptions& options);
    ResultSink& sink() { return *sink_; }
    // False where --best names a counter that no point had.
    bool found_best() const { return !best_ || best_->was_there(); }

 private:
    ResultSink* sink_;
    std::unique_ptr<SortedSink> sorted_;
    std::unique_ptr<BestSink> best_;
};

}  // namespace coalprof
