#include "core/result/counter.h"

#include <array>

namespace coalprof {
namespace {

// The key is the enumerator's own name, so that the two cannot drift apart.
#define COUNTER(name, unit, is_integer, meaning) \
    CounterInfo { Counter::name, #name, Unit::unit, is_integer, meaning }

// clang-format off
#define ACCESS_COUNTERS(kind, noun) \
    COUNTER(kind##_requests, one, true, \
            "Warp instructions (" noun ") sent to L1 with at least one active lane."), \
    COUNTER(kind##_sectors, sector, true, \
            "32-byte sectors that the " noun " had to look up in L1."), \
    COUNTER(kind##_lines, line, true, \
            "128-byte lines that the " noun " touched: one tag each, of atomics one a packet."), \
    COUNTER(kind##_unique_bytes, byte, true, \
            "Distinct bytes that the " noun " touched, counted once per warp instruction."), \
    COUNTER(kind##_ideal_sectors, sector, true, \
            "The fewest sectors that the width and the active lanes of the " noun " allow."), \
    COUNTER(kind##_sectors_per_request, sector, false, \
            "Sectors of the " noun " divided by their requests."), \
    COUNTER(kind##_excess_sectors, sector, true, \
            "Sectors of the " noun " above the ideal ones."), \
    COUNTER(kind##_excess, ratio, false, \
            "Excess sectors of the " noun " divided by the ideal ones; 0 is the best."), \
    COUNTER(kind##_bytes_per_sector, byte, false, \
            "Distinct bytes of the " noun " divided by their sectors; 32 is the best."), \
    COUNTER(kind##_efficiency, ratio, false, \
            "Share of each 32-byte sector that the " noun " used, from 0 to 1."), \
    COUNTER(kind##_tag_wavefronts, one, true, \
            "Passes of the " noun " through the tag stage of L1."), \
    COUNTER(kind##_data_wavefronts, one, true, \
            "Passes of the " noun " through the data stage of L1."), \
    COUNTER(kind##_transactions, one, true, \
            "Memory transactions of the " noun " on machines before compute capability 7.0."), \
    COUNTER(kind##_transaction_bytes, byte, true, \
            "Bytes that those transactions of the " noun " moved.")

constexpr std::array<CounterInfo, counter_count> table{{
    ACCESS_COUNTERS(load, "global loads"),
    ACCESS_COUNTERS(store, "global stores"),
    ACCESS_COUNTERS(atomic, "atomics with a result"),
    ACCESS_COUNTERS(reduce, "reductions"),
    COUNTER(l1_hit_sectors, sector, true,
            "Sectors of global loads that were found in L1."),
    COUNTER(l2_read_requests, one, true,
            "Read requests from L1 to L2, each for up to four sectors of one line."),
    COUNTER(l2_read_sectors, sector, true,
            "Sectors that L1 read from L2."),
    COUNTER(l2_write_requests, one, true,
            "Write requests from L1 to L2, each for up to four sectors of one line."),
    COUNTER(l2_write_sectors, sector, true,
            "Sectors that L1 wrote to L2."),
    COUNTER(l2_atomic_requests, one, true,
            "Requests from L1 to L2 for atomics with a result."),
    COUNTER(l2_atomic_sectors, sector, true,
            "Sectors that those atomics worked on in L2."),
    COUNTER(l2_reduce_requests, one, true,
            "Requests from L1 to L2 for reductions, atomics whose result is unused."),
    COUNTER(l2_reduce_sectors, sector, true,
            "Sectors that those reductions worked on in L2."),
    COUNTER(dram_read_bytes, byte, true,
            "Bytes read from device memory."),
    COUNTER(dram_write_bytes, byte, true,
            "Bytes written to device memory while the kernel ran."),
    COUNTER(shared_load_requests, one, true,
            "Warp instructions that read shared memory."),
    COUNTER(shared_load_wavefronts, one, true,
            "Passes that the reads of shared memory took."),
    COUNTER(shared_load_conflicts, one, true,
            "Passes of reads above those that the width needs without bank conflicts."),
    COUNTER(shared_load_conflict_degree, one, false,
            "Passes of reads for each request: 1 without conflicts (2 and 4 for lanes of 8 and 16 bytes; on 1.x twice that), "
            "n times that in an n-way bank conflict."),
    COUNTER(shared_store_requests, one, true,
            "Warp instructions that wrote shared memory."),
    COUNTER(shared_store_wavefronts, one, true,
            "Passes that the writes of shared memory took."),
    COUNTER(shared_store_conflicts, one, true,
            "Passes of writes above those that the width needs without bank conflicts."),
    COUNTER(shared_store_conflict_degree, one, false,
            "Passes of writes for each request: 1 without conflicts (2 and 4 for lanes of 8 and 16 bytes; on 1.x twice that), "
            "n times that in an n-way bank conflict."),
    COUNTER(shared_atomic_requests, one, true,
            "Warp instructions that were atomics on shared memory."),
    COUNTER(shared_atomic_wavefronts, one, true,
            "Passes that the atomics on shared memory took."),
    COUNTER(shared_atomic_conflict_degree, one, false,
            "Passes of those atomics for each request."),
    COUNTER(constant_requests, one, true,
            "Passes through the constant cache: one per distinct address in a warp."),
    COUNTER(local_load_requests, one, true,
            "Warp instructions that read local memory (spills, indexed private arrays)."),
    COUNTER(local_load_sectors, sector, true,
            "32-byte sectors of the reads of local memory."),
    COUNTER(local_store_requests, one, true,
            "Warp instructions that wrote local memory."),
    COUNTER(local_store_sectors, sector, true,
            "32-byte sectors of the writes of local memory."),
    COUNTER(texture_requests, one, true,
            "Warp instructions that fetched global memory through a texture."),
    COUNTER(texture_sectors, sector, true,
            "32-byte sectors that those fetches had to look up in L1."),
    COUNTER(texture_hit_sectors, sector, true,
            "Sectors of those fetches that were found in L1."),
    COUNTER(duration_seconds, second, false,
            "Time of one launch: the median of the repetitions; predicted, an estimate."),
    COUNTER(useful_bytes, byte, true,
            "Bytes that the algorithm needs: width times active lanes, all instructions together."),
    COUNTER(bandwidth_bytes_per_second, byte_per_second, false,
            "Useful bytes divided by the duration."),
    COUNTER(bandwidth_share, ratio, false,
            "Bandwidth over this GPU's own ceiling: its reading where a launch only reads, else its "
            "copying."),
}};
// clang-format on

#undef ACCESS_COUNTERS
#undef COUNTER

constexpr std::array<std::string_view, access_kinds.size()> kind_names{"load", "store", "atomic",
                                                                       "reduce"};
constexpr std::array<std::string_view, access_field_count> field_names{
    "requests",
    "sectors",
    "lines",
    "unique_bytes",
    "ideal_sectors",
    "sectors_per_request",
    "excess_sectors",
    "excess",
    "bytes_per_sector",
    "efficiency",
    "tag_wavefronts",
    "data_wavefronts",
    "transactions",
    "transaction_bytes",
};

constexpr bool follows_the_enum() {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table[i].counter != static_cast<Counter>(i)) return false;
    return true;
}
static_assert(follows_the_enum(), "a counter is missing from the table or out of order");

constexpr bool is_key(std::string_view key, std::string_view kind, std::string_view field) {
    return key.size() == kind.size() + 1 + field.size() && key.starts_with(kind) &&
           key[kind.size()] == '_' && key.ends_with(field);
}
constexpr bool blocks_have_their_keys() {
    for (std::size_t kind = 0; kind < kind_names.size(); ++kind)
        for (std::size_t field = 0; field < field_names.size(); ++field) {
            const Counter counter =
                access_counter(static_cast<AccessKind>(kind), static_cast<AccessField>(field));
            const std::string_view key = table[static_cast<std::size_t>(counter)].key;
            if (!is_key(key, kind_names[kind], field_names[field])) return false;
        }
    return true;
}
static_assert(blocks_have_their_keys(), "access_counter() does not compute the table's order");

}  // namespace

std::span<const CounterInfo> all_counters() { return table; }

const CounterInfo& info(Counter counter) { return table[static_cast<std::size_t>(counter)]; }

std::optional<Counter> find_counter(std::string_view key) {
    for (const CounterInfo& row : table)
        if (row.key == key) return row.counter;
    return std::nullopt;
}

std::optional<RatioParts> ratio_parts(Counter counter) {
    switch (counter) {
        case Counter::shared_load_conflict_degree:
            return {{Counter::shared_load_wavefronts, Counter::shared_load_requests}};
        case Counter::shared_store_conflict_degree:
            return {{Counter::shared_store_wavefronts, Counter::shared_store_requests}};
        case Counter::shared_atomic_conflict_degree:
            return {{Counter::shared_atomic_wavefronts, Counter::shared_atomic_requests}};
        case Counter::bandwidth_bytes_per_second:
            return {{Counter::useful_bytes, Counter::duration_seconds}};
        default:
            break;
    }
    const auto index = static_cast<std::size_t>(counter);
    if (index >= access_kinds.size() * access_field_count) return std::nullopt;
    const auto part = [kind = static_cast<AccessKind>(index / access_field_count)](
                          AccessField field) { return access_counter(kind, field); };
    switch (static_cast<AccessField>(index % access_field_count)) {
        case AccessField::sectors_per_request:
            return {{part(AccessField::sectors), part(AccessField::requests)}};
        case AccessField::excess:
            return {{part(AccessField::excess_sectors), part(AccessField::ideal_sectors)}};
        case AccessField::bytes_per_sector:
        case AccessField::efficiency:
            return {{part(AccessField::unique_bytes), part(AccessField::sectors)}};
        default:
            return std::nullopt;
    }
}

std::string_view name_of(Unit unit) {
    switch (unit) {
        case Unit::one:
            return "1";
        case Unit::sector:
            return "sector";
        case Unit::line:
            return "line";
        case Unit::byte:
            return "byte";
        case Unit::ratio:
            return "ratio";
        case Unit::second:
            return "second";
        case Unit::byte_per_second:
            return "byte/s";
    }
    return "";
}

std::string_view name_of(AccessKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

}  // namespace coalprof
