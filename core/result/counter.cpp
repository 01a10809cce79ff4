#include "core/result/counter.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "core/text/name_list.h"

namespace coalprof {

namespace {

// The key is the enumerator's own name, so that the two cannot drift apart.
#define COUNTER(name, unit, meaning) \
    CounterInfo { Counter::name, #name, Unit::unit, Unit::unit != Unit::second, meaning }

// clang-format off
#define ACCESS_COUNTERS(kind, noun) \
    COUNTER(kind##_requests, one, \
            "Warp instructions (" noun ") sent to L1 with at least one active lane."), \
    COUNTER(kind##_sectors, sector, \
            "32-byte sectors that the " noun " had to look up in L1."), \
    COUNTER(kind##_lines, line, \
            "128-byte lines that the " noun " touched: one tag each, of atomics one a packet."), \
    COUNTER(kind##_unique_bytes, byte, \
            "Distinct bytes that the " noun " touched, counted once per warp instruction.") \
        .neither_is_better(), \
    COUNTER(kind##_ideal_sectors, sector, \
            "The fewest sectors that the width and the active lanes of the " noun " allow.") \
        .neither_is_better(), \
    COUNTER(kind##_sectors_per_request, sector, \
            "Sectors of the " noun " divided by their requests.") \
        .ratio_of(Counter::kind##_sectors, Counter::kind##_requests), \
    COUNTER(kind##_excess_sectors, sector, \
            "Sectors of the " noun " above the ideal ones."), \
    COUNTER(kind##_excess, ratio, \
            "Excess sectors of the " noun " divided by the ideal ones; 0 is the best.") \
        .ratio_of(Counter::kind##_excess_sectors, Counter::kind##_ideal_sectors), \
    COUNTER(kind##_bytes_per_sector, byte, \
            "Distinct bytes of the " noun " divided by their sectors; 32 is the best.") \
        .ratio_of(Counter::kind##_unique_bytes, Counter::kind##_sectors).more_is_better(), \
    COUNTER(kind##_efficiency, ratio, \
            "Share of each 32-byte sector that the " noun " used, from 0 to 1.") \
        .ratio_of(Counter::kind##_unique_bytes, Counter::kind##_sectors, sector_bytes) \
        .more_is_better(), \
    COUNTER(kind##_tag_wavefronts, one, \
            "Passes of the " noun " through the tag stage of L1."), \
    COUNTER(kind##_data_wavefronts, one, \
            "Passes of the " noun " through the data stage of L1."), \
    COUNTER(kind##_transactions, one, \
            "Memory transactions of the " noun " on machines before compute capability 7.0."), \
    COUNTER(kind##_transaction_bytes, byte, \
            "Bytes that those transactions of the " noun " moved.")

constexpr std::array<CounterInfo, counter_count> table{{
    ACCESS_COUNTERS(load, "global loads"),
    ACCESS_COUNTERS(store, "global stores"),
    ACCESS_COUNTERS(atomic, "atomics with a result"),
    ACCESS_COUNTERS(reduce, "reductions"),
    COUNTER(l1_hit_sectors, sector,
            "Sectors of global loads that were found in L1.")
        .estimated().more_is_better(),
    COUNTER(l2_read_requests, one,
            "Read requests from L1 to L2, each for up to four sectors of one line.")
        .estimated(),
    COUNTER(l2_read_sectors, sector,
            "Sectors that L1 read from L2.")
        .estimated(),
    COUNTER(l2_write_requests, one,
            "Write requests from L1 to L2, each for up to four sectors of one line.")
        .estimated(),
    COUNTER(l2_write_sectors, sector,
            "Sectors that L1 wrote to L2.")
        .estimated(),
    COUNTER(l2_atomic_requests, one,
            "Requests from L1 to L2 for atomics with a result."),
    COUNTER(l2_atomic_sectors, sector,
            "Sectors that those atomics worked on in L2."),
    COUNTER(l2_reduce_requests, one,
            "Requests from L1 to L2 for reductions, atomics whose result is unused."),
    COUNTER(l2_reduce_sectors, sector,
            "Sectors that those reductions worked on in L2."),
    COUNTER(dram_read_bytes, byte,
            "Bytes read from device memory.")
        .estimated(),
    COUNTER(dram_write_bytes, byte,
            "Bytes written to device memory while the kernel ran.")
        .estimated(),
    COUNTER(shared_load_requests, one,
            "Warp instructions that read shared memory."),
    COUNTER(shared_load_wavefronts, one,
            "Passes that the reads of shared memory took."),
    COUNTER(shared_load_conflicts, one,
            "Passes of reads above those that the width needs without bank conflicts."),
    COUNTER(shared_load_conflict_degree, one,
            "Passes of reads for each request: 1 without conflicts (2 and 4 for lanes of 8 and 16 bytes; on 1.x twice that), "
            "n times that in an n-way bank conflict.")
        .ratio_of(Counter::shared_load_wavefronts, Counter::shared_load_requests),
    COUNTER(shared_store_requests, one,
            "Warp instructions that wrote shared memory."),
    COUNTER(shared_store_wavefronts, one,
            "Passes that the writes of shared memory took."),
    COUNTER(shared_store_conflicts, one,
            "Passes of writes above those that the width needs without bank conflicts."),
    COUNTER(shared_store_conflict_degree, one,
            "Passes of writes for each request: 1 without conflicts (2 and 4 for lanes of 8 and 16 bytes; on 1.x twice that), "
            "n times that in an n-way bank conflict.")
        .ratio_of(Counter::shared_store_wavefronts, Counter::shared_store_requests),
    COUNTER(shared_atomic_requests, one,
            "Warp instructions that were atomics on shared memory."),
    COUNTER(shared_atomic_wavefronts, one,
            "Passes that the atomics on shared memory took."),
    COUNTER(shared_atomic_conflict_degree, one,
            "Passes of those atomics for each request.")
        .ratio_of(Counter::shared_atomic_wavefronts, Counter::shared_atomic_requests),
    COUNTER(constant_requests, one,
            "Passes through the constant cache: one per distinct address in a warp."),
    COUNTER(local_load_requests, one,
            "Warp instructions that read local memory (spills, indexed private arrays)."),
    COUNTER(local_load_sectors, sector,
            "32-byte sectors of the reads of local memory."),
    COUNTER(local_store_requests, one,
            "Warp instructions that wrote local memory."),
    COUNTER(local_store_sectors, sector,
            "32-byte sectors of the writes of local memory."),
    COUNTER(texture_requests, one,
            "Warp instructions that fetched global memory through a texture."),
    COUNTER(texture_sectors, sector,
            "32-byte sectors that those fetches had to look up in L1."),
    COUNTER(texture_hit_sectors, sector,
            "Sectors of those fetches that were found in L1.")
        .more_is_better(),
    COUNTER(duration_seconds, second,
            "Time of one launch: the median of the repetitions; predicted, an estimate.")
        .estimated(),
    COUNTER(useful_bytes, byte,
            "Bytes that the algorithm needs: width times active lanes, all instructions together.")
        .neither_is_better(),
    COUNTER(bandwidth_bytes_per_second, byte_per_second,
            "Useful bytes divided by the duration.")
        .ratio_of(Counter::useful_bytes, Counter::duration_seconds).estimated().more_is_better(),
    COUNTER(bandwidth_share, ratio,
            "Bandwidth over this GPU's own ceiling: its reading where a launch only reads, else its "
            "copying.")
        .ratio_of(Counter::bandwidth_bytes_per_second, std::nullopt).more_is_better(),
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

namespace {

struct Word {
    std::string_view word;
    std::string_view keys;
};
// The words of tables first.
constexpr std::array words{
    Word{"time", "duration_seconds"},
    Word{"duration", "duration_seconds"},
    Word{"bandwidth", "bandwidth_bytes_per_second"},
    Word{"GB/s", "bandwidth_bytes_per_second"},
    Word{"requests", "load_requests or store_requests"},
    Word{"sectors", "load_sectors or store_sectors"},
    Word{"lines", "load_lines or store_lines"},
    Word{"sectors/request", "load_sectors_per_request or store_sectors_per_request"},
    Word{"bytes/sector", "load_bytes_per_sector or store_bytes_per_sector"},
    Word{"efficiency", "load_efficiency or store_efficiency"},
    Word{"conflicts", "shared_load_conflicts or shared_store_conflicts"},
    Word{"passes/request", "shared_load_conflict_degree or shared_store_conflict_degree"},
    Word{"shared_load_passes_per_request", "shared_load_conflict_degree"},
    Word{"shared_store_passes_per_request", "shared_store_conflict_degree"},
    Word{"shared_atomic_passes_per_request", "shared_atomic_conflict_degree"},
};

std::vector<std::string_view> keys_with(std::string_view part) {
    std::vector<std::string_view> keys;
    for (const CounterInfo& counter : all_counters())
        if (counter.key.find(part) != counter.key.npos) keys.push_back(counter.key);
    return keys;
}

std::string list_of(const std::vector<std::string_view>& keys) {
    NameList list(6);
    for (const std::string_view key : keys) list.add(key);
    return list.text();
}

// The longest part of the word, from some '_' on, that keys have; empty: none does.
std::string_view known_part_of(std::string_view word) {
    while (word.size() >= 3 && keys_with(word).empty()) {
        const std::size_t end = word.find('_');
        word.remove_prefix(end == word.npos ? word.size() : end + 1);
    }
    return word.size() >= 3 ? word : std::string_view{};
}

}  // namespace

std::string unknown_counter(std::string_view what, std::string_view word) {
    std::vector<std::string_view> keys;
    for (const CounterInfo& counter : all_counters()) keys.push_back(counter.key);
    return unknown_word(what, word, keys);
}

std::string hint_for_counter(std::string_view word) {
    for (const NvprofName& nvprof : nvprof_names())
        if (nvprof.name == word)
            return fmt::format("nvprof's {} is {}; `coalprof counters {}` says more", word,
                               key_of(nvprof.counter), word);
    std::vector<std::string_view> known_words;
    for (const Word& known : words) known_words.push_back(known.word);
    const auto meant = nearest(word, known_words);
    for (const Word& known : words)
        if (known.word == meant)
            return fmt::format("'{}' is {}; `coalprof counters` lists them all", known.word,
                               known.keys);
    if (const std::string_view part = known_part_of(word); !part.empty())
        return fmt::format("with '{}' there are {}; `coalprof counters` lists them all", part,
                           list_of(keys_with(part)));
    return "`coalprof counters` lists them";
}

namespace {

// From 7.0 on by the table of metrics in NVIDIA's Nsight Compute CLI documentation, before it by
// its Profiler User's Guide. That gld_transactions is four times the sectors on 6.1 was seen on a
// TITAN Xp and a GTX 1080 Ti: 16 for the 128 bytes of a warp, and 4 for as many stored.
constexpr std::string_view efficiency_loads =
    "bytes asked for / bytes moved: in 128-byte lines where L1 of 2.x and 3.x fetches them, else "
    "in "
    "32-byte sectors of the warp. Before 7.0 lanes that share bytes ask for them once each, so it "
    "can exceed 1";
constexpr std::string_view efficiency_stores =
    "bytes asked for / bytes moved, in 32-byte sectors of the warp; before 7.0 lanes that share "
    "bytes count once each";
constexpr std::string_view load_transactions =
    "2.x, 3.x: load_transactions. 5.x: 32-byte sectors. 6.1: 16 for "
    "the 128 bytes of a warp, which are 4 sectors. From 7.0 on "
    "sectors";
constexpr std::string_view store_transactions =
    "2.x, 3.x: store_transactions, where it may have joined neighbouring segments. From 5.0 on "
    "32-byte sectors";
constexpr std::string_view per_warp = "its requests are warp instructions on every generation";
constexpr std::string_view sectors_of_32 = "in 32-byte transactions: a 32nd of the bytes";

constexpr std::array names_of_nvprof{
    NvprofName{"gld_efficiency", Counter::load_efficiency, efficiency_loads},
    NvprofName{"gst_efficiency", Counter::store_efficiency, efficiency_stores},
    NvprofName{"gld_transactions", Counter::load_sectors, load_transactions},
    NvprofName{"gst_transactions", Counter::store_sectors, store_transactions},
    NvprofName{"gld_transactions_per_request", Counter::load_sectors_per_request, per_warp},
    NvprofName{"gst_transactions_per_request", Counter::store_sectors_per_request, per_warp},
    NvprofName{"gld_request", Counter::load_requests, "the event of 1.x to 3.x"},
    NvprofName{"gst_request", Counter::store_requests, "the event of 1.x to 3.x"},
    NvprofName{"global_load_requests", Counter::load_requests, ""},
    NvprofName{"global_store_requests", Counter::store_requests, ""},
    NvprofName{"inst_executed_global_loads", Counter::load_requests, ""},
    NvprofName{"inst_executed_global_stores", Counter::store_requests, ""},
    NvprofName{"l2_tex_read_transactions", Counter::l2_read_sectors, ""},
    NvprofName{"l2_tex_write_transactions", Counter::l2_write_sectors, ""},
    NvprofName{"dram_read_transactions", Counter::dram_read_bytes, sectors_of_32},
    NvprofName{"dram_write_transactions", Counter::dram_write_bytes, sectors_of_32},
    NvprofName{"shared_load_transactions", Counter::shared_load_wavefronts, ""},
    NvprofName{"shared_store_transactions", Counter::shared_store_wavefronts, ""},
    NvprofName{"shared_load_transactions_per_request", Counter::shared_load_conflict_degree, ""},
    NvprofName{"shared_store_transactions_per_request", Counter::shared_store_conflict_degree, ""},
    NvprofName{"local_load_transactions", Counter::local_load_sectors, ""},
    NvprofName{"local_store_transactions", Counter::local_store_sectors, ""},
    NvprofName{"inst_executed_local_loads", Counter::local_load_requests, ""},
    NvprofName{"inst_executed_local_stores", Counter::local_store_requests, ""},
};

}  // namespace

std::span<const NvprofName> nvprof_names() { return names_of_nvprof; }

}  // namespace coalprof
