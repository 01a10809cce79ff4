#include "core/result/estimates.h"

#include <algorithm>

namespace coalprof {
namespace {

struct LimitRow {
    std::string_view name;
    std::string_view word;
    std::string_view phrase;
};
constexpr std::array<LimitRow, limit_count> rows{{
    {"start", "start", "the start of the launch"},
    {"blocks", "blocks", "the start of blocks"},
    {"instructions", "instructions", "the instructions of its warps"},
    {"latency", "latency", "latency, with too few bytes in flight"},
    {"l1", "L1", "L1, shared or constant memory"},
    {"l2", "L2", "what L1 and L2 pass to each other"},
    {"dram", "DRAM", "device memory"},
    {"same_line", "one line", "stores to few lines, which wait for each other"},
    {"atomics", "atomics", "atomics in L2"},
}};

}  // namespace

std::string_view name_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].name; }

std::string_view word_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].word; }

std::string_view phrase_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].phrase; }

std::optional<Limit> find_limit(std::string_view name) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name) return static_cast<Limit>(i);
    return std::nullopt;
}

const Interval* Estimates::of(Counter counter) const {
    const auto found = std::ranges::find(intervals, counter, &Interval::counter);
    return found == intervals.end() ? nullptr : &*found;
}

}  // namespace coalprof
