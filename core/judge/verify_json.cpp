#include "core/judge/verify_json.h"

#include <fmt/format.h>

#include <optional>

#include "core/write/json_text.h"

namespace coalprof {
namespace {

std::string json_or_null(const std::string& text) {
    return text.empty() ? "null" : json_of_text(text);
}

std::string json_of(const VerifyTotals::Finding& finding) {
    const std::optional<Disagreement>& found = finding.disagreement;
    const auto number = [&](std::uint64_t Disagreement::*member) {
        return found ? fmt::to_string((*found).*member) : std::string("null");
    };
    return fmt::format(R"({{"point":{},"counter":{},"predicted":{},"measured":{},"text":{}}})",
                       json_or_null(finding.point),
                       found ? json_of_text(key_of(found->counter)) : "null",
                       number(&Disagreement::predicted), number(&Disagreement::measured),
                       json_of_text(finding.text));
}

}  // namespace

std::string json_document(const VerifyReport& report) {
    const VerifyTotals& totals = report.totals;
    std::string findings;
    for (const VerifyTotals::Finding& finding : totals.findings)
        findings += (findings.empty() ? "\n" : ",\n") + json_of(finding);
    std::string estimates;
    for (const auto& [counter, of] : totals.estimated)
        estimates +=
            fmt::format(R"({}{}:{{"measured":{},"held":{}}})", estimates.empty() ? "" : ",",
                        json_of_text(key_of(counter)), of.measured, of.held);
    if (!estimates.empty()) estimates = fmt::format("\"estimates\":{{{}}},\n", estimates);
    return fmt::format(
        "{{\"schema\":{},\n\"status\":{},\n\"meta\":{},\n\"verification\":{{\"scope\":{},\n"
        "\"points\":{},\"failed_points\":{},\"compared\":{},\"agreed\":{},\"missing\":{},\n"
        "{}\"findings\":[{}]}}}}\n",
        json_of_text(result_schema), json_of_text(name_of(report.status)),
        json_of_meta(report.head), json_of_values(report.scope), totals.points,
        totals.failed_points, totals.compared, totals.agreed(), totals.missing, estimates,
        findings);
}

}  // namespace coalprof
