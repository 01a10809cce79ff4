#include "cupti/attach/run_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace coalprof {
namespace {

// One pass on every chip from Turing to Blackwell (CUPTI 13.0, asked without a GPU, 2026-11-22).
// Atomics, shared memory and wavefronts would each take another.
constexpr std::array traffic_counters{
    Counter::load_requests,   Counter::load_sectors,      Counter::store_requests,
    Counter::store_sectors,   Counter::l1_hit_sectors,    Counter::l2_read_requests,
    Counter::l2_read_sectors, Counter::l2_write_requests, Counter::l2_write_sectors,
    Counter::dram_read_bytes, Counter::dram_write_bytes};
constexpr std::array use_counters{Counter::load_unique_bytes, Counter::store_unique_bytes};

// cp.async: hardware counts its sectors among those of loads, its instructions are another opcode,
// and patched code counts it separately. Turing has none.
constexpr std::string_view asynchronous_copies = "smsp__inst_executed_op_ldgsts.sum";
constexpr std::string_view asynchronous_bytes = "smsp__sass_data_bytes_mem_global_op_ldgsts.sum";
constexpr std::string_view asynchronous_sectors =
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum";
// Stores to generic addresses are another opcode, the only one in some kernels of cuBLAS. Those to
// shared memory are rare. L1's count of requests would take another pass, and so would generic
// loads.
constexpr std::string_view generic_stores = "smsp__inst_executed_op_generic_st_pred_on_any.sum";
// Nanoseconds of a range, which is 12 to 24 us longer than its kernel, and holds the loading of its
// code. A kernel has warps on an SM for all but 1.9 to 2.1 us of the time that Nsight Compute
// measures: the time of an empty one (24 kernels of 2 us to 4 ms on an H100, 2026-11-26).
constexpr double empty_kernel_seconds = 2.0e-6;
constexpr std::string_view range_time = "gpu__time_duration.sum";
constexpr std::string_view busy_cycles = "sm__cycles_active.max";
constexpr std::string_view range_cycles = "sm__cycles_elapsed.max";

}  // namespace

RunMetrics::RunMetrics(RunPass pass, std::string_view chip,
                       const std::function<bool(std::string_view)>& has_metric)
    : has_metric_(has_metric) {
    const MetricPlan plan = pass == RunPass::traffic
                                ? plan_metrics(traffic_counters, chip, has_metric)
                                : plan_metrics(use_counters, chip, has_metric);
    unavailable_ = plan.unavailable;
    for (const MetricPlan::Source& source : plan.sources)
        add(source.counter,
            (source.is_instrumented ? plan.instrumented : plan.hardware)[source.metric]);
    if (pass == RunPass::traffic) {
        add(Counter::load_requests, asynchronous_copies);
        add(Counter::store_requests, generic_stores);
        add_time();
    } else {
        add(Counter::load_unique_bytes, asynchronous_bytes);
        // From the same launch as the bytes, so that their ratio is one launch's.
        add(Counter::load_sectors, asynchronous_sectors);
        add(Counter::load_sectors, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum");
        add(Counter::store_sectors, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum");
    }
}

void RunMetrics::add(Counter counter, std::string_view metric) {
    if (!has_metric_(metric)) return;
    const std::size_t index = names_.size();
    names_.emplace_back(metric);
    const auto known = std::ranges::find(sums_, counter, &Sum::counter);
    if (known != sums_.end())
        known->metrics.push_back(index);
    else
        sums_.push_back({counter, {index}});
}

void RunMetrics::add_time() {
    const std::array names{range_time, busy_cycles, range_cycles};
    if (!std::ranges::all_of(names, has_metric_)) return;
    first_of_time_ = names_.size();
    names_.insert(names_.end(), names.begin(), names.end());
}

Readings RunMetrics::readings(std::span<const double> values, bool is_graph) const {
    Readings readings;
    for (const auto& [counter, reason] : unavailable_) readings[counter] = reason;
    for (const Sum& sum : sums_) {
        double total = 0;
        for (const std::size_t metric : sum.metrics) total += values[metric];
        if (!std::isfinite(total) || total < 0)
            readings[sum.counter] = Unavailable{
                "the GPU gave no value (a MIG instance gives none of units that it shares)"};
        else if (info(sum.counter).is_integer)
            readings[sum.counter] = static_cast<std::uint64_t>(std::llround(total));
        else
            readings[sum.counter] = total;
    }
    if (first_of_time_) {
        const auto time = values.subspan(*first_of_time_, 3);
        // The kernels of a graph may use different SMs.
        const double seconds =
            is_graph ? time[0] * 1e-9 : time[0] * 1e-9 * time[1] / time[2] + empty_kernel_seconds;
        if (std::isfinite(seconds) && seconds > 0) readings[Counter::duration_seconds] = seconds;
    }
    // A request has at most one sector for each lane.
    if (number_or(readings[Counter::load_sectors], 0) >
        warp_lanes * number_or(readings[Counter::load_requests], 0))
        readings[Counter::load_requests] =
            Unavailable{"loads from generic addresses are not counted one by one"};
    derive_ratios(readings);
    return readings;
}

}  // namespace coalprof
