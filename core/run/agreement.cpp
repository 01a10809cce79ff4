#include "core/run/agreement.h"

#include <fmt/format.h>

#include <cmath>

namespace coalprof {

Agreement agreement_of(const Point& point) {
    Agreement agreement;
    const Readings& measured = *point.measured;
    point.predicted.each([&](Counter counter, const Reading& reading) {
        const auto* expected = std::get_if<std::uint64_t>(&reading);
        const Reading& found = measured[counter];
        if (const Interval* interval = point.estimates ? point.estimates->of(counter) : nullptr) {
            if (!is_number(found)) return;
            const double value = number_in(found);
            agreement.intervals.push_back(
                {counter, interval->low <= value && value <= interval->high});
            return;
        }
        if (!expected) return;
        if (std::holds_alternative<Unavailable>(found)) agreement.missing += 1;
        if (!is_number(found)) return;
        agreement.compared += 1;
        if (number_in(found) == static_cast<double>(*expected)) return;
        agreement.disagreements.push_back(
            {counter, *expected, static_cast<std::uint64_t>(std::llround(number_in(found)))});
    });
    return agreement;
}

std::string describe(const Disagreement& disagreement) {
    return fmt::format("{}: predicted {}, measured {}", key_of(disagreement.counter),
                       disagreement.predicted, disagreement.measured);
}

}  // namespace coalprof
