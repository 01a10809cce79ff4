// The metrics for kernels of other programs: sets that fit one hardware pass, as such kernels
// cannot be launched again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/metric_table.h"

namespace coalprof {

enum class RunPass : std::uint8_t {
    traffic,  // the hardware's counters of loads and stores, L1 hits, L2, DRAM, and time
    use,      // patched code counts bytes that lanes asked for and the sectors that carried them
    lines,    // no metrics: code that is rewritten when loaded counts its own instructions
    machine_code,  // counts each instruction of one kernel (InstructionCounter)
};

class RunMetrics {
 public:
    RunMetrics(RunPass pass, std::string_view chip,
               const std::function<bool(std::string_view)>& has_metric);

    const std::vector<std::string>& names() const { return names_; }
    // From one value for each name, in order; NaN: the GPU could not count it.
    Readings readings(std::span<const double> values, bool is_graph = false) const;

 private:
    struct Sum {
        Counter counter;
        std::vector<std::size_t> metrics;
    };
    void add(Counter counter, std::string_view metric);
    void add_time();

    std::vector<std::string> names_;
    std::vector<Sum> sums_;
    std::optional<std::size_t> first_of_time_;  // none: the GPU has no such metrics
    std::vector<std::pair<Counter, Unavailable>> unavailable_;
    std::function<bool(std::string_view)> has_metric_;
};

}  // namespace coalprof
