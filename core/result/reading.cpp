#include "core/result/reading.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <mutex>
#include <string>
#include <unordered_set>

#include "core/text/describe.h"

namespace coalprof {
namespace {

std::string_view why_not_by_zero(Unit below) {
    if (below == Unit::second)
        return "the launch took less time than the clock can resolve, so there is no rate";
    if (below == Unit::sector) return "no sector was touched, so there is nothing to divide by";
    return "no warp instruction was executed, so there is nothing to divide by";
}

// For two parts that are there; one that is unavailable passes its reason on.
Reading ratio_of(const RatioParts& parts, const Readings& readings) {
    const Reading& part = readings[parts.above];
    const Reading& whole = readings[*parts.below];
    if (const auto* none = std::get_if<Unavailable>(&whole)) return *none;
    if (const auto* none = std::get_if<Unavailable>(&part)) return *none;
    const double below = number_in(whole);
    if (!(below > 0)) return Unavailable{why_not_by_zero(info(*parts.below).unit)};
    return number_in(part) / below / parts.per;
}

// Above the ideal ones; a damaged result may hold more ideal sectors than sectors.
Reading excess_of(const Reading& sectors, const Reading& ideal) {
    if (std::holds_alternative<Unavailable>(sectors)) return sectors;
    const auto* all = std::get_if<std::uint64_t>(&sectors);
    const auto* needed = std::get_if<std::uint64_t>(&ideal);
    if (!all || !needed) return ideal;
    return *all - std::min(*needed, *all);
}

struct Ratio {
    Counter counter;
    RatioParts parts;
};

// In the order of the counters: none is a part of an earlier one. Never destroyed: inside a counted
// program, launches are read in an exit handler.
const std::vector<Ratio>& ratios() {
    static const auto& list = *new std::vector<Ratio>([] {
        std::vector<Ratio> found;
        for (const CounterInfo& row : all_counters())
            if (row.parts && row.parts->below) found.push_back({row.counter, *row.parts});
        return found;
    }());
    return list;
}

}  // namespace

std::string_view keep_reason(std::string_view sentence) {
    // Never destroyed: readings in static objects may outlive everything else.
    static auto& mutex = *new std::mutex;
    static auto& kept = *new std::unordered_set<std::string>;
    const std::lock_guard lock(mutex);
    // The sentence may come from a file, and is shown on a terminal.
    return *kept.emplace(printable(sentence)).first;
}

bool is_finite_number(const Reading& reading) {
    return is_number(reading) && std::isfinite(number_in(reading));
}

double number_in(const Reading& reading) {
    if (const auto* integer = std::get_if<std::uint64_t>(&reading))
        return static_cast<double>(*integer);
    assert(std::holds_alternative<double>(reading));
    return std::get<double>(reading);
}

void derive_ratios(Readings& readings) {
    const Readings& known = readings;
    for (const AccessKind kind : access_kinds) {
        const Reading& sectors = known[access_counter(kind, AccessField::sectors)];
        const Reading& ideal = known[access_counter(kind, AccessField::ideal_sectors)];
        if (is_present(sectors) && is_present(ideal))
            readings[access_counter(kind, AccessField::excess_sectors)] = excess_of(sectors, ideal);
    }
    for (const auto& [ratio, parts] : ratios())
        if (is_present(known[parts.above]) && is_present(known[*parts.below]))
            readings[ratio] = ratio_of(parts, known);
}

}  // namespace coalprof
