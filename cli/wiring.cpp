#include "cli/wiring.h"

#include <fmt/format.h>

#include <array>

#include "cli/sweep_options.h"
#include "cli/system_report.h"
#include "core/result/counter.h"
#include "core/runtime/parallel.h"
#include "core/text/name_list.h"

#ifdef COALPROF_HAS_CUDA
#include "cupti/collector.h"
#include "cupti/metric_table.h"
#include "kernels/launcher.h"
#endif

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 4> set_names{"basic", "memory", "all", "none"};

bool names_a_set(const std::string& text) {
    return std::find(set_names.begin(), set_names.end(), text) != set_names.end();
}

}  // namespace

std::vector<Counter> counters_listed(const std::string& text) {
    std::vector<Counter> counters;
    if (text.empty() || names_a_set(text)) return counters;
    std::vector<std::string_view> words(set_names.begin(), set_names.end());
    for (const CounterInfo& counter : all_counters()) words.push_back(counter.key);
    for (const std::string& key : split_list(text, "--counters")) {
        if (names_a_set(key))
            throw UsageError(
                fmt::format("--counters {}: {} is a set, and a set stands alone", text, key),
                fmt::format("use --counters {}, or list keys only", key));
        auto counter = find_counter(key);
        if (!counter) counter = find_nsight_name(key);
        if (!counter)
            throw UsageError(unknown_word("--counters", key, words), hint_for_counter(key));
        counters.push_back(*counter);
    }
    return counters;
}

#ifdef COALPROF_HAS_CUDA

int count_devices() { return count_gpus(); }

std::future<void> load_counters_ahead(bool wanted) {
    if (!wanted || !may_have_gpu()) return {};
    return in_background(load_cupti_early);
}

DeviceAccess open_device(const DeviceRequest& request) {
    DeviceAccess access;
    access.no_gpu = why_no_gpu();
    if (!access.no_gpu.empty()) return access;
    try {
        access.launcher = make_launcher({.device = request.index,
                                         .ahead = request.ahead,
                                         .compiles_ceilings_ahead = request.wants_ceilings});
    } catch (const NoSuchDeviceError&) {  // the user's mistake, not this machine's
        throw;
    } catch (const Error& error) {
        access.no_gpu = error.what();
        return access;
    }
    if (!request.wants_counters) return access;
    try {
        access.collector =
            make_collector({.device = request.index, .of_lone_warps = request.of_lone_warps});
    } catch (const CountersError& error) {
        access.no_counters = error.what();
    }
    return access;
}

std::vector<Counter> counters_of(const std::string& text, AccessSet accesses) {
    const auto listed = counters_listed(text);
    if (!listed.empty() || text == "none") return listed;
    const CounterSet set = text.empty() ? CounterSet::basic : *find_counter_set(text);
    return counters_of(set, accesses);
}

#else

int count_devices() { return 0; }

std::future<void> load_counters_ahead(bool) { return {}; }

DeviceAccess open_device(const DeviceRequest&) {
    DeviceAccess access;
    access.no_gpu = "this coalprof was built without CUDA, so it cannot measure";
    return access;
}

std::vector<Counter> counters_of(const std::string& text, AccessSet) {
    return counters_listed(text);
}

#endif

}  // namespace coalprof
