#include "core/count/load_path.h"

#include <algorithm>
#include <array>

namespace coalprof {
namespace {

constexpr std::string_view no_such_load =
    "this machine has no ld.global.nc: compute capability 3.2 and later do";
constexpr std::string_view texture_cache =
    "before compute capability 7.0 the read-only path is the texture units' own, whose counts are "
    "not known";
constexpr std::string_view texture_units =
    "before compute capability 7.0 textures have a cache of their own, whose counts are not known";
constexpr std::string_view bus =
    "the arrays lie in host memory: PCIe or NVLink-C2C decides the bandwidth";
constexpr std::string_view caches_of_host_memory =
    "the arrays lie in host memory: what L1 and L2 keep of it is not known";
constexpr std::string_view other_memory =
    "the arrays lie in host memory: their traffic is not that of device memory";

bool has_loads_on(const Program& program, LoadPath path) {
    return std::any_of(program.instructions.begin(), program.instructions.end(),
                       [path](const Instruction& one) { return one.path == path; });
}

}  // namespace

std::optional<std::string_view> why_loads_unknown(const Rules& rules, LoadPath path) {
    if (path != LoadPath::ldg || rules.read_only == ReadOnlyPath::l1) return std::nullopt;
    return rules.read_only == ReadOnlyPath::none ? no_such_load : texture_cache;
}

std::optional<std::string_view> why_bandwidth_unknown(const Rules& rules, const Plan& plan) {
    if (plan.allocation == Allocation::host) return bus;
    if (has_loads_on(plan.program, LoadPath::ldg)) return why_loads_unknown(rules, LoadPath::ldg);
    if (has_loads_on(plan.program, LoadPath::tex) && rules.read_only != ReadOnlyPath::l1)
        return texture_units;
    return std::nullopt;
}

bool bypasses_l1(const Plan& plan) {
    // Measured on an H200: no hit in 32 of 32 kernels. Read-only loads do not change under either.
    const bool is_told_to =
        plan.cache.dlcm == LoadModifier::cg || plan.cache.dlcm == LoadModifier::cv;
    return is_told_to && plan.path == LoadPath::ld;
}

void set_beyond_device_memory(Allocation allocation, Readings& readings) {
    if (allocation != Allocation::host) return;
    constexpr std::array caches{
        Counter::l1_hit_sectors,    Counter::l2_read_requests,   Counter::l2_read_sectors,
        Counter::l2_write_requests, Counter::l2_write_sectors,   Counter::l2_atomic_requests,
        Counter::l2_atomic_sectors, Counter::l2_reduce_requests, Counter::l2_reduce_sectors};
    for (const Counter counter : caches)
        if (is_present(readings[counter])) readings[counter] = Unavailable{caches_of_host_memory};
    for (const Counter counter : {Counter::dram_read_bytes, Counter::dram_write_bytes})
        if (is_present(readings[counter])) readings[counter] = Unavailable{other_memory};
}

}  // namespace coalprof
