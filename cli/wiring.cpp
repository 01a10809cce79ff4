#include "cli/wiring.h"

#include <array>

#include "cli/sweep_options.h"
#include "core/text/suggest.h"

#ifdef COALPROF_HAS_CUDA
#include "cupti/collector.h"
#include "cupti/counter_set.h"
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
        const auto counter = find_counter(key);
        if (!counter) throw UsageError(unknown_word("counter", key, words));
        counters.push_back(*counter);
    }
    return counters;
}

#ifdef COALPROF_HAS_CUDA

DeviceAccess open_device(int index, const std::vector<Plan>& ahead, bool wants_counters) {
    DeviceAccess access;
    access.no_gpu = why_no_gpu();
    if (!access.no_gpu.empty()) return access;
    try {
        access.launcher = make_launcher({.device = index, .ahead = ahead});
    } catch (const Error& error) {
        access.no_gpu = error.what();
        return access;
    }
    if (!wants_counters) return access;
    try {
        access.collector = make_collector({.device = index});
    } catch (const CountersError& error) {
        access.no_counters = error.what();
    }
    return access;
}

std::vector<Counter> counters_named(const std::string& text, const Program& program) {
    const auto listed = counters_listed(text);
    if (!listed.empty() || text == "none") return listed;
    const CounterSet set = text.empty() ? CounterSet::basic : *find_counter_set(text);
    return counters_of(set, accesses_of(program));
}

std::vector<Counter> counters_of_warp(const std::string& text, AccessKind kind, Space space) {
    Program program;
    Instruction& instruction = program.instructions.emplace_back();
    instruction.kind = kind;
    instruction.space = space;
    return counters_named(text, program);
}

#else

DeviceAccess open_device(int, const std::vector<Plan>&, bool) {
    DeviceAccess access;
    access.no_gpu = "this coalprof was built without CUDA, so it cannot measure";
    return access;
}

std::vector<Counter> counters_named(const std::string& text, const Program&) {
    return counters_listed(text);
}

std::vector<Counter> counters_of_warp(const std::string& text, AccessKind, Space) {
    return counters_listed(text);
}

#endif

}  // namespace coalprof
