#include "core/result/reading.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <string>
#include <unordered_set>

#include "core/text/describe.h"

namespace coalprof {
namespace {

// `part / whole` as a reading. Not there unless both are; a part that cannot be had passes its
// reason on.
Reading ratio_of(const Reading& part, const Reading& whole, std::string_view why_not_by_zero) {
    if (!is_present(part) || !is_present(whole)) return {};
    if (const auto* none = std::get_if<Unavailable>(&whole)) return *none;
    if (const auto* none = std::get_if<Unavailable>(&part)) return *none;
    const double below = number_in(whole);
    if (!(below > 0)) return Unavailable{why_not_by_zero};
    return number_in(part) / below;
}

constexpr std::string_view no_request =
    "no warp instruction was executed, so there is nothing to divide by";

// Above the ideal ones; a saved result may hold more ideal sectors than sectors.
Reading excess_of(const Reading& sectors, const Reading& ideal) {
    if (std::holds_alternative<Unavailable>(sectors)) return sectors;
    const auto* all = std::get_if<std::uint64_t>(&sectors);
    const auto* needed = std::get_if<std::uint64_t>(&ideal);
    if (!all || !needed) return ideal;
    return *all - std::min(*needed, *all);
}

void derive_ratios_of(AccessKind kind, Readings& readings) {
    const auto field = [&](AccessField name) -> Reading& {
        return readings[access_counter(kind, name)];
    };
    field(AccessField::sectors_per_request) =
        ratio_of(field(AccessField::sectors), field(AccessField::requests), no_request);
    if (const Reading& ideal = field(AccessField::ideal_sectors); is_present(ideal)) {
        const Reading& excess = field(AccessField::excess_sectors) =
            excess_of(field(AccessField::sectors), ideal);
        field(AccessField::excess) =
            ratio_of(excess, ideal, "no lane was active, so no sector was needed to divide by");
    }
    const Reading bytes_per_sector =
        ratio_of(field(AccessField::unique_bytes), field(AccessField::sectors),
                 "no sector was touched, so there is nothing to divide by");
    field(AccessField::bytes_per_sector) = bytes_per_sector;
    if (is_number(bytes_per_sector))
        field(AccessField::efficiency) =
            number_in(bytes_per_sector) / static_cast<double>(sector_bytes);
    else
        field(AccessField::efficiency) = bytes_per_sector;
}

constexpr std::array conflict_degrees{Counter::shared_load_conflict_degree,
                                      Counter::shared_store_conflict_degree,
                                      Counter::shared_atomic_conflict_degree};

}  // namespace

std::string_view keep_reason(std::string_view sentence) {
    // Never destroyed: readings in static objects may outlive everything else.
    static auto& mutex = *new std::mutex;
    static auto& kept = *new std::unordered_set<std::string>;
    const std::lock_guard lock(mutex);
    // It may come from a file, and is shown among the lines of a terminal.
    return *kept.emplace(printable(sentence)).first;
}

double number_in(const Reading& reading) {
    if (const auto* integer = std::get_if<std::uint64_t>(&reading))
        return static_cast<double>(*integer);
    assert(std::holds_alternative<double>(reading));
    return std::get<double>(reading);
}

void derive_ratios(Readings& readings) {
    for (const AccessKind kind : access_kinds)
        if (is_present(readings[access_counter(kind, AccessField::sectors)]))
            derive_ratios_of(kind, readings);
    for (const Counter degree : conflict_degrees) {
        const RatioParts parts = *ratio_parts(degree);
        if (is_present(readings[parts.above]))
            readings[degree] = ratio_of(readings[parts.above], readings[parts.below], no_request);
    }
    if (is_present(readings[Counter::duration_seconds]))
        readings[Counter::bandwidth_bytes_per_second] =
            ratio_of(readings[Counter::useful_bytes], readings[Counter::duration_seconds],
                     "the launch took less time than the clock can tell, so there is no rate");
}

}  // namespace coalprof
