#include "core/lines/run_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

std::vector<Warning> kernels_that_wait(const std::vector<Trace>& traces) {
    std::vector<Warning> warnings;
    for (const std::string& name : names_in(traces, &Trace::unfinished))
        warnings.push_back(of_run(
            "W-KERNEL-WAITS",
            fmt::format("{} did not end in time, so it was not counted, nor were launches beside "
                        "it: it may wait for another kernel or for the program (leave it out: "
                        "--kernel {})",
                        demangled(name), shell_word(fmt::format("^(?!.*{})", kernel_name(name))))));
    return warnings;
}

std::vector<Warning> early_ends_of(const std::vector<Trace>& traces) {
    std::vector<Warning> warnings;
    for (const Trace& trace : traces) {
        if (trace.launches) continue;
        warnings.push_back(
            of_run("W-ENDED-EARLY",
                   trace.process.id == 0  // its trace cannot be read
                       ? "the launches of a process are not known"
                       : fmt::format("process {} ended before it could report how often each "
                                     "kernel was launched; kernels of its last moments may be "
                                     "missing",
                                     trace.process.id)));
    }
    return warnings;
}

// Ranges that were asked for and never opened, by any process of the program. One that ended early
// may not have reported its last ones.
std::vector<Warning> missing_ranges(const std::vector<std::string>& wanted,
                                    const std::vector<Trace>& traces) {
    const bool all_ended =
        std::ranges::all_of(traces, [](const Trace& trace) { return trace.launches.has_value(); });
    if (traces.empty() || !all_ended) return {};
    const std::set<std::string> opened = names_in(traces, &Trace::ranges);
    NameList others(8);
    for (const std::string& name : opened) others.add(fmt::format("\"{}\"", shown(name)));
    const std::string names = others.text();
    std::vector<Warning> warnings;
    for (const std::string& name : wanted)
        if (!opened.contains(name))
            warnings.push_back(of_run(
                "W-NO-RANGE", fmt::format("the program opened no NVTX range \"{}\"; it opened {}",
                                          shown(name), names.empty() ? "none at all" : names)));
    return warnings;
}

}  // namespace

Warning of_run(std::string_view code, std::string text) {
    return {std::string(code), {}, std::move(text)};
}

std::vector<Warning> problems_of(const std::vector<Trace>& traces, std::string_view code) {
    std::vector<Warning> warnings;
    std::set<std::string> problems;
    for (const Trace& trace : traces) problems.insert(trace.problems.begin(), trace.problems.end());
    for (const std::string& problem : problems) warnings.push_back(of_run(code, problem));
    return warnings;
}

std::vector<Warning> problems_of_run(const std::vector<Trace>& traces,
                                     const std::vector<Trace>& later,
                                     const std::vector<std::string>& ranges) {
    std::vector<Warning> all = problems_of(traces, "W-NO-COUNTERS");
    if (traces.empty())
        all.push_back(
            of_run("W-NO-KERNELS",
                   "the program did not start the CUDA driver, so there was nothing to count"));

    append(all, kernels_that_wait(traces));
    append(all, early_ends_of(traces));
    append(all, early_ends_of(later));
    append(all, missing_ranges(ranges, traces));
    return all;
}

std::vector<Warning> other_end_of(int code, int code_before, const std::string& during) {
    if (code == code_before) return {};
    return {of_run("W-NO-LINES",
                   fmt::format("{} the program ended with exit code {}, without it with {}", during,
                               code, code_before))};
}

void append(std::vector<Warning>& all, const std::vector<Warning>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

}  // namespace coalprof
