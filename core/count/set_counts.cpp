#include "core/count/set_counts.h"

#include <fmt/format.h>

#include "core/text/units.h"

namespace coalprof {
namespace {

std::string_view why_shared_range(const SharedRules& rules) {
    return rules.may_pack_pairs
               ? "wide loads whose neighbours agree were seen to merge on 5.x, in how many passes "
                 "is "
                 "not published"
               : "a pass of 1.x serves all lanes of one word, and which word is not documented";
}

}  // namespace

Reading count_or_doubt(std::uint64_t count, Doubts doubts) {
    if (doubts != 0) return Unavailable{reason_of(doubts)};
    return count;
}

void set_l1(Readings& readings, AccessKind kind, const GlobalCounts& counts) {
    const auto set = [&](AccessField field, const Reading& reading) {
        readings[access_counter(kind, field)] = reading;
    };
    set(AccessField::requests, counts.requests);
    set(AccessField::sectors, count_or_doubt(counts.sectors, counts.traffic_doubts));
    set(AccessField::lines, count_or_doubt(counts.lines, counts.traffic_doubts));
    set(AccessField::unique_bytes, counts.unique_bytes);
    set(AccessField::ideal_sectors, counts.ideal_sectors);
    set(AccessField::tag_wavefronts, count_or_doubt(counts.tag_wavefronts, counts.tag_doubts));
    set(AccessField::data_wavefronts, count_or_doubt(counts.data_wavefronts, counts.data_doubts));
}

void set_shared_atomics(Readings& readings, const Rules& rules, const SharedCounts& counts) {
    constexpr Unavailable native{
        "lanes that meet on a word take turns, in how many passes is not known; only a measurement "
        "tells"};
    constexpr Unavailable loop{
        "before compute capability 5.0 an atomic on shared memory is a loop that locks the word: "
        "its rounds depend on timing"};
    readings[Counter::shared_atomic_requests] = counts.requests;
    readings[Counter::shared_atomic_wavefronts] = counts.wavefronts;
    if (counts.more != 0)
        readings[Counter::shared_atomic_wavefronts] =
            rules.abilities.native_shared_atomics ? native : loop;
}

void set_shared(Readings& readings, const SharedRules& rules, AccessKind kind,
                const SharedCounts& counts) {
    const SharedCounters keys = shared_counters(kind);
    readings[keys.requests] = counts.requests;
    const auto count_or_range = [&](std::uint64_t count, std::uint64_t fewer, std::uint64_t more,
                                    std::string_view noun) -> Reading {
        if (fewer + more == 0) return count;
        return Unavailable{
            keep_reason(fmt::format("{} to {} {}: {}", grouped(count - fewer),
                                    grouped(count + more), noun, why_shared_range(rules)))};
    };
    readings[keys.wavefronts] =
        count_or_range(counts.wavefronts, counts.fewer, counts.more, "wavefronts");
    readings[keys.conflicts.value()] = count_or_range(counts.conflicts(), counts.fewer_conflicts,
                                                      counts.more_conflicts, "conflicts");
}

void set_local(Readings& readings, AccessKind kind, const LocalCounts& counts) {
    const bool is_load = kind == AccessKind::load;
    readings[is_load ? Counter::local_load_requests : Counter::local_store_requests] =
        counts.requests;
    readings[is_load ? Counter::local_load_sectors : Counter::local_store_sectors] = counts.sectors;
}

void set_transactions(Readings& readings, AccessKind kind,
                      const std::optional<std::string_view>& reason,
                      const TransactionCounts& counts) {
    const auto set = [&](AccessField field, std::uint64_t count, std::uint64_t more = 0,
                         std::string_view noun = {}) {
        Reading& reading = readings[access_counter(kind, field)];
        if (reason)
            reading = Unavailable{*reason};
        else if (more != 0)
            reading = Unavailable{keep_reason(fmt::format(
                "{} to {} {}: groups of lanes that store to one sector were seen to join where "
                "they follow each other, and published throughputs say that others do not",
                grouped(count), grouped(count + more), noun))};
        else
            reading = count;
    };
    set(AccessField::requests, counts.requests);
    set(AccessField::sectors, counts.sectors(), counts.more, "sectors");
    set(AccessField::unique_bytes, counts.unique_bytes);
    set(AccessField::transactions, counts.transactions(), counts.more, "transactions");
    set(AccessField::transaction_bytes, counts.transaction_bytes(), 32 * counts.more, "bytes");
}

void add_counts(Readings& sum, const Readings& more) {
    more.each([&](Counter counter, const Reading& reading) {
        if (std::holds_alternative<double>(reading)) return;
        Reading& known = sum[counter];
        const auto* count = std::get_if<std::uint64_t>(&reading);
        if (count && std::holds_alternative<std::uint64_t>(known))
            known = std::get<std::uint64_t>(known) + *count;
        else if (!count || !is_present(known))
            known = reading;
    });
}

}  // namespace coalprof
