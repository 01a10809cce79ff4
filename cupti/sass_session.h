// One session of CUPTI's SASS Metrics API: counts of each instruction of one function, the first
// that the context launches after it was switched on. A process can have one: a second
// configuration is refused, and after switching on again nothing is counted (H100, CUDA 13.0,
// driver 580.159, 2026-11-23). The range profiler cannot be used in the same process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cupti/cupti_api.h"

namespace coalprof {

// An executed instruction, with its count by any of the metrics.
struct CountedInstruction {
    std::string function;  // mangled
    std::uint32_t cubin_crc = 0;
    std::uint64_t offset = 0;                     // bytes, from the function's begin
    std::map<std::string, std::uint64_t> counts;  // by metric; absent: it does not apply
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

}  // namespace coalprof
