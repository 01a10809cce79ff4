#include "core/result/counter.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "core/text/name_list.h"

namespace coalprof {

namespace {

// The key is the enumerator's name, so that the two cannot drift apart.
#define COUNTER(name, unit, meaning, ...)         \
    CounterInfo{Counter::name, #name, Unit::unit, \
                Unit::unit != Unit::second && Unit::unit != Unit::ratio, meaning} __VA_ARGS__,
constexpr std::array<CounterInfo, counter_count> table{{
#include "core/result/counters.inc"
}};
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

SharedCounters shared_counters(AccessKind kind) {
    if (kind == AccessKind::load)
        return {Counter::shared_load_requests, Counter::shared_load_wavefronts,
                Counter::shared_load_conflicts};
    if (kind == AccessKind::store)
        return {Counter::shared_store_requests, Counter::shared_store_wavefronts,
                Counter::shared_store_conflicts};
    return {Counter::shared_atomic_requests, Counter::shared_atomic_wavefronts, std::nullopt};
}

std::string_view name_of(Unit unit) {
    switch (unit) {
        case Unit::one: return "1";
        case Unit::sector: return "sector";
        case Unit::line: return "line";
        case Unit::byte: return "byte";
        case Unit::ratio: return "ratio";
        case Unit::second: return "second";
        case Unit::byte_per_second: return "byte/s";
    }
    return "";
}

std::string_view name_of(AccessKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

namespace {

struct Word {
    std::string_view word;
    std::string_view keys;
};
// Words used in tables first.
constexpr std::array words{
    Word{"time", "duration_seconds"},
    Word{"duration", "duration_seconds"},
    Word{"speed", "duration_seconds or bandwidth_bytes_per_second"},
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

// The longest part of the word, from some '_' on, that is part of a key; empty if there is none.
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
    return "for example duration_seconds, load_sectors_per_request; `coalprof counters` lists all";
}

namespace {

// For 7.0 and later from the table of metrics in NVIDIA's Nsight Compute CLI documentation, for
// older ones from its Profiler User's Guide. On 6.1 gld_transactions is four times the sectors,
// seen on a TITAN Xp and a GTX 1080 Ti: 16 for the 128 bytes of a warp, and 4 for as many stored.
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
