#include "core/kernel/kernel_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/count/predict.h"
#include "core/explain/launch_sample.h"
#include "core/kernel/kernel_faults.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {
namespace {

// More would not fit a screen or two.
constexpr std::size_t most_drawn = 4;

// "load A, load B, store C"
std::string names_of(const KernelResult& result, const std::vector<std::size_t>& points) {
    std::string names;
    for (const std::size_t at : points) {
        const std::string name = fmt::format("{} {}", text_of(result.points[at].parameters, "op"),
                                             text_of(result.points[at].parameters, "array"));
        if (names.find(name) == names.npos) names += (names.empty() ? "" : ", ") + name;
    }
    return printable(names);
}

bool is_at(const std::string& place, const std::string& line) {
    return line.empty() || place == line || place.ends_with(fmt::format(":{}", line));
}

// Points of the line that have warps to draw, those that waste most first.
std::vector<std::size_t> points_of_line(const KernelResult& result, const std::string& line) {
    std::vector<std::size_t> points;
    for (std::size_t i = 1; i < result.points.size(); ++i)
        if (is_at(text_of(result.points[i].parameters, "line"), line) && !result.warps[i].empty())
            points.push_back(i);
    return points;
}

std::vector<LineFinding> faults_of_line(const KernelResult& result, const std::string& line) {
    std::vector<LineFinding> faults;
    std::ranges::copy_if(result.findings, std::back_inserter(faults), [&](const LineFinding& one) {
        return one.cause == fault_cause && is_at(one.point, line);
    });
    return faults;
}

// An access that a GPU stops at has more to fix than its sectors.
void say_fault(Explanation& explained, const LineFinding& fault) {
    for (ExplainedAccess& one : explained.accesses) {
        const std::string own = fmt::format(" of array {},", one.instructions.front().array);
        const bool is_of_other =
            fault.text.find(" of array ") != fault.text.npos && fault.text.find(own) == own.npos;
        if (is_of_other) continue;
        one.reasons.mend = fault.fix;
    }
}

std::vector<std::size_t> chosen_points(const KernelResult& result, const LineChoice& choice) {
    const std::vector<std::size_t> all = points_of_line(result, choice.line);
    const std::vector<LineFinding> faults = faults_of_line(result, choice.line);
    if (all.empty() && !faults.empty())
        throw UsageError(fmt::format("explain kernel: no warp of line {} can be drawn: {}",
                                     shown(choice.line), faults.front().text),
                         faults.front().fix);
    if (all.empty())
        throw UsageError(
            fmt::format("explain kernel: no access of line {} was executed", shown(choice.line)),
            "coalprof kernel FILE lists the lines with accesses");
    std::vector<std::size_t> chosen;
    for (const std::size_t at : all)
        if ((choice.op.empty() || text_of(result.points[at].parameters, "op") == choice.op) &&
            (choice.array.empty() ||
             text_of(result.points[at].parameters, "array") == choice.array))
            chosen.push_back(at);
    if (chosen.empty())
        throw UsageError(fmt::format("explain kernel: no such access of line {} was executed",
                                     shown(choice.line)),
                         fmt::format("--op and --array choose among {}", names_of(result, all)));
    if (choice.line.empty()) chosen.resize(1);
    return chosen;
}

// The elements of a vector: "ld.global.v4.f32" has four.
std::uint32_t elements_of(const PtxSite& site) {
    for (const std::uint32_t count : {2u, 4u, 8u})
        if (site.instruction.find(fmt::format(".v{}.", count)) != std::string::npos) return count;
    return 1;
}

NamedWarp named_warp(const WarpAccess& warp, const PtxSite& site) {
    NamedWarp named{.access = warp, .array = site.array};
    const std::uint64_t address =
        warp.addresses[static_cast<std::size_t>(std::countr_zero(warp.active_lanes))];
    if (site.array.empty() || warp.space != Space::global || address < first_array) return named;
    named.first_address = std::min(address, array_base(address));
    named.element_bytes = std::max(1u, warp.width_bytes / elements_of(site));
    return named;
}

// The commonest kept warp, and the one that costs most.
struct ChosenWarps {
    NamedWarp common;
    NamedWarp worst;
    bool differ = false;
};
ChosenWarps warps_of(const std::vector<WarpAccess>& warps, const PtxSite& site,
                     const Predictor& predictor) {
    std::map<RequestCost, std::vector<const WarpAccess*>> sorts;
    for (const WarpAccess& warp : warps) {
        Readings readings;
        predictor.predict_warp(warp, readings);
        sorts[request_cost(readings)].push_back(&warp);
    }
    const auto common =
        std::ranges::max_element(sorts, {}, [](const auto& sort) { return sort.second.size(); });
    const auto worst = std::prev(sorts.end());
    return {named_warp(*common->second.front(), site), named_warp(*worst->second.front(), site),
            worst != common};
}

}  // namespace

DrawnWarps explain_line(const KernelResult& result, const Code& code, const LineChoice& choice,
                        const Machine& machine) {
    std::vector<std::size_t> points = chosen_points(result, choice);
    const std::string all_names = names_of(result, points);
    const std::size_t count = points.size();
    points.resize(std::min(count, most_drawn));
    const std::string name = points.size() == 1
                                 ? result.points[points.front()].name
                                 : text_of(result.points[points.front()].parameters, "line");
    const Predictor predictor(machine);
    std::vector<NamedWarp> common, worst;
    for (const std::size_t at : points) {
        const PtxSite& site = code.sites[result.sites[at].front()];
        ChosenWarps warps = warps_of(result.warps[at], site, predictor);
        common.push_back(std::move(warps.common));
        if (warps.differ) worst.push_back(std::move(warps.worst));
    }
    DrawnWarps drawn{.first = explanation_of(name, common, machine)};
    if (!worst.empty()) drawn.worst = explanation_of(name, worst, machine);
    const std::string place = text_of(result.points[points.front()].parameters, "line");
    for (const LineFinding& one : faults_of_line(result, place)) {
        drawn.first.choice += one.text + " ";
        say_fault(drawn.first, one);
        if (drawn.worst) say_fault(*drawn.worst, one);
    }
    if (count > points.size())
        drawn.first.choice += fmt::format(
            "{} of {} instructions, those that waste most; --op and --array choose among "
            "{}",
            points.size(), count, all_names);
    return drawn;
}

}  // namespace coalprof
