#include "core/kernel/kernel_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/access/extent.h"
#include "core/count/predict.h"
#include "core/explain/launch_sample.h"
#include "core/kernel/kernel_faults.h"
#include "core/lines/line_points.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

// More would not fit a screen or two.
constexpr std::size_t most_drawn = 4;

// An access of a line: one that faults, which comes first, or one of a point.
struct LineAccess {
    Point point;             // names it
    std::size_t number = 0;  // number of the fault or of the point
    bool is_fault = false;
};

std::string word_of(const LineAccess& access, std::string_view key) {
    return text_of(access.point.parameters, key);
}

// "load A, load B, store C"
std::string names_of(const std::vector<LineAccess>& accesses) {
    std::string names;
    for (const LineAccess& one : accesses) {
        const std::string name = fmt::format("{} {}", word_of(one, "op"), word_of(one, "array"));
        if (names.find(name) == names.npos) names += (names.empty() ? "" : ", ") + name;
    }
    return printable(names);
}

bool is_at(const std::string& place, const std::string& line) {
    return line.empty() || place == line || place.ends_with(fmt::format(":{}", line));
}

// None for a trap. An address between elements has no place in a drawing.
const PtxSite* drawn_site(const KernelFault& fault, const Code& code) {
    const std::uint32_t site = code.instructions[fault.instruction].site;
    const bool has_places = fault.kind != KernelFault::Kind::misaligned;
    return site == ~0u || fault.warp.active_lanes == 0 || !has_places ? nullptr : &code.sites[site];
}

// Those with warps to draw; points come in their order.
std::vector<LineAccess> accesses_of_line(const KernelResult& result, const Code& code,
                                         const std::string& line) {
    std::vector<LineAccess> accesses;
    for (std::size_t i = 0; i < result.faults.size(); ++i) {
        const PtxSite* site = drawn_site(result.faults[i], code);
        if (!site || !is_at(result.findings[i].point, line)) continue;
        LineSummary summary;
        summary.site = *site;
        summary.site.space = result.faults[i].warp.space;
        accesses.push_back({LinePoints().point_of(summary, {}), i, true});
    }
    for (std::size_t i = 1; i < result.points.size(); ++i) {
        LineAccess one{result.points[i], i};
        const bool is_known = std::ranges::any_of(
            accesses, [&](const LineAccess& other) { return other.point.name == one.point.name; });
        if (!is_known && is_at(word_of(one, "line"), line) && !result.warps[i].empty())
            accesses.push_back(std::move(one));
    }
    return accesses;
}

[[noreturn]] void refuse_line(const KernelResult& result, const std::string& line) {
    NameList lines(12);
    std::set<std::string> known;  // of several accesses
    for (std::size_t i = 1; i < result.points.size(); ++i)
        if (const auto [one, is_new] = known.insert(text_of(result.points[i].parameters, "line"));
            is_new)
            lines.add(printable(*one));
    throw UsageError(
        line.empty()
            ? "explain kernel: the launch accesses no memory that could be drawn"
            : fmt::format("explain kernel: no access of line {} was executed", shown(line)),
        lines.text().empty() ? std::string() : fmt::format("--line is one of {}", lines.text()));
}

std::vector<LineAccess> chosen_accesses(const std::vector<LineAccess>& all,
                                        const LineChoice& choice) {
    std::vector<LineAccess> chosen;
    std::ranges::copy_if(all, std::back_inserter(chosen), [&](const LineAccess& one) {
        return (choice.op.empty() || word_of(one, "op") == choice.op) &&
               (choice.array.empty() || word_of(one, "array") == choice.array);
    });
    if (chosen.empty())
        throw UsageError(fmt::format("explain kernel: no such access of line {} was executed",
                                     shown(choice.line)),
                         fmt::format("--op and --array choose among {}", names_of(all)));
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

// The findings of `kernel` for the point. The reason of each is that of its first point: others
// have their own.
std::vector<LineFinding> findings_of_point(const KernelResult& result, const std::string& point) {
    std::vector<LineFinding> findings;
    for (const LineFinding& one : result.findings) {
        const bool is_other = std::ranges::find(one.others, point) != one.others.end();
        if (one.cause == fault_cause || (one.point != point && !is_other)) continue;
        findings.push_back(one);
        if (is_other) findings.back().text.clear();
    }
    return findings;
}

Explanation explanation_of_line(const std::string& name, const std::vector<NamedWarp>& warps,
                                const Machine& machine) {
    Explanation explained = explanation_of(name, warps, machine);
    explained.names_source = true;
    for (ExplainedAccess& access : explained.accesses)
        for (LineFinding& one : access.findings)
            if (one.text.empty()) one.text = access.reasons.why;
    return explained;
}

NamedWarp faulting_warp(const KernelFault& fault, const LineFinding& finding, const PtxSite& site) {
    NamedWarp named = named_warp(fault.warp, site);
    if (fault.kind == KernelFault::Kind::out_of_bounds) {
        const std::uint64_t begin = fault.address - static_cast<std::uint64_t>(fault.offset_bytes);
        named.first_address.reset();
        if (extent_of(fault.warp).low >= begin) named.first_address = begin;
    }
    named.findings = {finding};
    return named;
}

ChosenWarps warps_of(const LineAccess& access, const KernelResult& result, const Code& code,
                     const Predictor& predictor) {
    const std::size_t at = access.number;
    if (access.is_fault) {
        const KernelFault& fault = result.faults[at];
        return {.common = faulting_warp(fault, result.findings[at], *drawn_site(fault, code)),
                .worst = {}};
    }
    ChosenWarps warps = warps_of(result.warps[at], code.sites[result.sites[at].front()], predictor);
    warps.common.findings = warps.worst.findings = findings_of_point(result, access.point.name);
    return warps;
}

}  // namespace

DrawnWarps explain_line(const KernelResult& result, const Code& code, const LineChoice& choice,
                        const Machine& machine) {
    const std::vector<LineAccess> all = accesses_of_line(result, code, choice.line);
    // Faults that no drawing shows.
    std::string faults;
    for (std::size_t i = 0; i < result.faults.size(); ++i) {
        const LineFinding& finding = result.findings[i];
        if (!is_at(finding.point, choice.line))
            faults += fmt::format("The launch has a fault at {}. ", finding.point);
        else if (!drawn_site(result.faults[i], code))
            faults += fmt::format("{} {} Its warp is not drawn. ", finding.text, finding.fix);
    }

    if (all.empty() && !faults.empty())
        throw Error(fmt::format("explain kernel: no warp of line {} can be drawn. {}",
                                shown(choice.line), trimmed(faults)),
                    ExitCode::partial);
    if (all.empty()) refuse_line(result, choice.line);
    std::vector<LineAccess> accesses = chosen_accesses(all, choice);
    const std::string all_names = names_of(accesses);
    const std::size_t count = accesses.size();
    accesses.resize(std::min(count, most_drawn));
    const std::string name =
        accesses.size() == 1 ? accesses.front().point.name : word_of(accesses.front(), "line");
    const Predictor predictor(machine);
    std::vector<NamedWarp> common, worst;
    for (const LineAccess& one : accesses) {
        ChosenWarps warps = warps_of(one, result, code, predictor);
        common.push_back(std::move(warps.common));
        if (warps.differ) worst.push_back(std::move(warps.worst));
    }
    DrawnWarps drawn{.first = explanation_of_line(name, common, machine)};
    if (!worst.empty()) drawn.worst = explanation_of_line(name, worst, machine);
    if (!result.faults.empty()) drawn.status = Status::partial;
    drawn.first.choice = faults;
    if (count > accesses.size())
        drawn.first.choice +=
            fmt::format("{} of {} instructions, the costliest; --op and --array choose among {}",
                        accesses.size(), count, all_names);
    return drawn;
}

}  // namespace coalprof
