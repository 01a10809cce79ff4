#include "cli/nsight_names.h"

#include <algorithm>
#include <array>
#include <utility>

#ifdef COALPROF_HAS_CUDA
#include "cupti/metric_table.h"
#endif

namespace coalprof {
namespace {

using Name = std::pair<Counter, std::string_view>;

// Ratios, which we derive and Nsight Compute has as metrics of their own. Source: its list for
// GH100, `ncu --query-metrics --chips gh100`, CUDA 13.0.
constexpr std::array derived{
    Name{Counter::load_sectors_per_request,
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"},
    Name{Counter::store_sectors_per_request,
         "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"},
    Name{Counter::load_bytes_per_sector,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"},
    Name{Counter::store_bytes_per_sector,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"},
    Name{Counter::load_efficiency, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"},
    Name{Counter::store_efficiency,
         "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"},
    Name{Counter::duration_seconds, "gpu__time_duration.sum"},
};

}  // namespace

std::string_view nsight_name_of(Counter counter) {
    for (const auto& [known, name] : derived)
        if (known == counter) return name;
#ifdef COALPROF_HAS_CUDA
    return metrics_of(counter).candidates.front();
#else
    return {};
#endif
}

std::optional<Counter> find_nsight_name(std::string_view name) {
    std::optional<Counter> found;
    if (name.empty()) return found;
    for (const CounterInfo& counter : all_counters()) {
        bool is_its_name = nsight_name_of(counter.counter) == name;
#ifdef COALPROF_HAS_CUDA
        const auto& names = metrics_of(counter.counter).candidates;
        is_its_name = is_its_name || std::find(names.begin(), names.end(), name) != names.end();
#endif
        if (!is_its_name) continue;
        if (found) return std::nullopt;
        found = counter.counter;
    }
    return found;
}

}  // namespace coalprof
