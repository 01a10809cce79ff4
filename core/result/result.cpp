#include "core/result/result.h"

#include <fmt/format.h>

namespace coalprof {

std::string describe(const Warning& warning) {
    if (warning.point.empty()) return fmt::format("warning {}: {}", warning.code, warning.text);
    return fmt::format("warning {}: {}: {}", warning.code, warning.point, warning.text);
}

std::string_view name_of(Status status) {
    switch (status) {
        case Status::complete:
            return "complete";
        case Status::partial:
            return "partial";
        case Status::interrupted:
            return "interrupted";
    }
    return "";
}

std::string_view name_of(Verdict::Basis basis) {
    switch (basis) {
        case Verdict::Basis::none:
            break;
        case Verdict::Basis::measured_time:
            return "measured_time";
        case Verdict::Basis::predicted_bandwidth:
            return "predicted_bandwidth";
        case Verdict::Basis::predicted_traffic:
            return "predicted_traffic";
        case Verdict::Basis::predicted_l1_reuse:
            return "predicted_l1_reuse";
    }
    return "";
}

}  // namespace coalprof
