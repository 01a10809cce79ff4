// The single vocabulary of counters. Keys, units and meanings are in one table (counters.inc),
// which every format, `coalprof counters`, --counters and the collector's metric table use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/access/warp_access.h"

namespace coalprof {

enum class Counter : std::uint8_t {
#define COUNTER(name, ...) name,
#include "core/result/counters.inc"
#undef COUNTER
};
inline constexpr std::size_t counter_count = 0
#define COUNTER(name, ...) +1
#include "core/result/counters.inc"
#undef COUNTER
    ;

enum class AccessField : std::uint8_t {
    requests,
    sectors,
    lines,
    unique_bytes,
    ideal_sectors,
    sectors_per_request,
    excess_sectors,
    excess,
    bytes_per_sector,
    efficiency,
    tag_wavefronts,
    data_wavefronts,
    transactions,
    transaction_bytes,
};
inline constexpr std::size_t access_field_count = 14;

constexpr Counter access_counter(AccessKind kind, AccessField field) {
    return static_cast<Counter>(static_cast<std::size_t>(kind) * access_field_count +
                                static_cast<std::size_t>(field));
}
static_assert(access_counter(AccessKind::reduce, AccessField::transaction_bytes) ==
              Counter::reduce_transaction_bytes);

enum class Unit : std::uint8_t { one, sector, line, byte, ratio, second, byte_per_second };

enum class Better : std::uint8_t {
    less,
    more,     // shares of fetched bytes, hits, bandwidth
    neither,  // the work of a launch: another number is another launch
};

// The parts of a ratio: above / below / per.
struct RatioParts {
    Counter above;
    std::optional<Counter> below;  // none: a property of the GPU, no counter
    double per = 1;                // efficiency is bytes per sector over the sector's 32
};

// One row a counter. Elsewhere: the line that computes it (core/count/predict.cpp,
// core/sim/estimate.cpp), and the metric that measures it (cupti/metric_table.cpp).
struct CounterInfo {
    Counter counter;
    std::string_view key;  // name in JSON, CSV and --counters
    Unit unit;
    bool is_integer;           // totals are integers, ratios and seconds are not
    std::string_view meaning;  // one sentence for `coalprof counters`
    Better better = Better::less;
    bool may_be_estimated = false;         // the point's interval says if it is
    std::optional<RatioParts> parts = {};  // a ratio of two others, which adds no information

    constexpr CounterInfo more_is_better() const { return with(Better::more); }
    constexpr CounterInfo neither_is_better() const { return with(Better::neither); }
    constexpr CounterInfo with(Better which) const {
        CounterInfo row = *this;
        row.better = which;
        return row;
    }
    constexpr CounterInfo estimated() const {
        CounterInfo row = *this;
        row.may_be_estimated = true;
        return row;
    }
    constexpr CounterInfo ratio_of(Counter above, std::optional<Counter> below,
                                   double per = 1) const {
        CounterInfo row = *this;
        row.is_integer = false;
        row.parts = {above, below, per};
        return row;
    }
};

// All counters, in enum order.
std::span<const CounterInfo> all_counters();
const CounterInfo& info(Counter counter);
inline std::string_view key_of(Counter counter) { return info(counter).key; }
// The counter of a key; nothing if unknown.
std::optional<Counter> find_counter(std::string_view key);

// The counters of one kind of access to shared memory; the model knows no conflicts of atomics.
struct SharedCounters {
    Counter requests;
    Counter wavefronts;
    std::optional<Counter> conflicts;
};
SharedCounters shared_counters(AccessKind kind);

std::string_view name_of(Unit unit);        // "sector", "byte/s", ...
std::string_view name_of(AccessKind kind);  // "load", ...

// Common names of counters, for users who ask for them.

// "unknown --best 'time'", with the nearest key. `what`: the option that named it.
std::string unknown_counter(std::string_view what, std::string_view word);
// For "unknown counter 'time'": its key, or where keys are listed.
std::string hint_for_counter(std::string_view word);

// nvprof's names of our counters, which it measured on GPUs before compute capability 7.5.

struct NvprofName {
    std::string_view name;  // "gld_efficiency"
    Counter counter;
    std::string_view meaning;  // where it differs from the counter, by generation; may be empty
};

std::span<const NvprofName> nvprof_names();

}  // namespace coalprof
