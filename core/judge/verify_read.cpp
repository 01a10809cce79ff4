#include "core/judge/verify_read.h"

namespace coalprof {
namespace {

std::string text_or_empty(JsonView object, std::string_view name) {
    return member_of(object, "findings", name).is_null() ? "" : text_in(object, "findings", name);
}

VerifyTotals::Finding finding_from(JsonView item) {
    VerifyTotals::Finding finding{.point = text_or_empty(item, "point"),
                                  .text = text_in(item, "findings", "text"),
                                  .disagreement = {}};
    const auto counter = find_counter(text_or_empty(item, "counter"));
    if (counter)
        finding.disagreement = Disagreement{*counter, natural_in(item, "findings", "predicted"),
                                            natural_in(item, "findings", "measured")};
    return finding;
}

}  // namespace

VerifyReport verification_from(JsonView document) {
    constexpr std::string_view what = "verification";
    const JsonView verification = member_of(document, "", what);
    const auto number = [&](std::string_view name) { return natural_in(verification, what, name); };
    VerifyReport report{.scope = values_from(member_of(verification, what, "scope"), "scope"),
                        .status = status_from(member_of(document, "", "status")),
                        .totals = {.points = number("points"),
                                   .failed_points = number("failed_points"),
                                   .compared = number("compared"),
                                   .missing = number("missing")}};
    const std::uint64_t agreed = number("agreed");
    if (agreed > report.totals.compared)
        throw PartError("verification.agreed is more than was compared");
    report.totals.disagreements = report.totals.compared - agreed;
    read_meta(member_of(document, "", "meta"), report.head);
    if (const auto estimates = verification.find("estimates"))
        for (const JsonView item : *estimates)
            if (const auto counter = find_counter(item.name()))
                report.totals.estimated[*counter] = {natural_in(item, "estimates", "measured"),
                                                     natural_in(item, "estimates", "held")};
    for (const JsonView item : member_of(verification, what, "findings"))
        report.totals.findings.push_back(finding_from(item));
    return report;
}

}  // namespace coalprof
