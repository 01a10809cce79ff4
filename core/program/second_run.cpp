#include "core/program/second_run.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/program/traced_kernels.h"

namespace coalprof {
namespace {

// None: not all are known, as in a graph, or where the program ended early.
std::optional<std::set<std::string>> launched_in(const Trace& trace) {
    if (!trace.launches) return std::nullopt;
    std::set<std::string> names;
    for (const auto& [kernel, count] : *trace.launches) {
        if (is_graph(kernel)) return std::nullopt;
        names.insert(kernel.name);
    }
    return names;
}

}  // namespace

bool may_have_lines(const std::vector<Trace>& traces,
                    const std::function<bool(const std::string&)>& wants) {
    return std::ranges::any_of(traces, [&](const Trace& trace) {
        const auto launched = launched_in(trace);
        if (launched && std::ranges::none_of(*launched, wants)) return false;
        if (!trace.unknown_code.empty()) return true;
        const bool all_are_told = trace.lacks_ptx.empty();
        if (!launched) return all_are_told || std::ranges::any_of(trace.rewritable, wants);
        return std::ranges::any_of(*launched, [&](const std::string& kernel) {
            return wants(kernel) && (all_are_told || trace.rewritable.contains(kernel));
        });
    });
}

}  // namespace coalprof
