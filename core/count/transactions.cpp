#include "core/count/transactions.h"

#include <algorithm>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

// `count` transactions of `bytes` each, which is 32, 64 or 128.
void add_transactions(TransactionCounts& counts, std::uint32_t bytes, std::uint64_t count) {
    (bytes == 32   ? counts.of_32_bytes
     : bytes == 64 ? counts.of_64_bytes
                   : counts.of_128_bytes) += count;
}

// True if lane k of the half-warp touches word k of one run of words that starts at a multiple of
// `segment_bytes`. Inactive lanes may be missing.
bool in_order(const WarpAccess& access, std::uint32_t lanes, std::uint32_t segment_bytes) {
    const auto start_of_run = [&](std::uint32_t lane) {
        return access.addresses[lane] - std::uint64_t{lane % 16} * access.width_bytes;
    };
    const std::uint64_t start = start_of_run(shift_of(lanes & (0u - lanes)));
    bool same = start % segment_bytes == 0;
    each_lane(lanes, [&](std::uint32_t lane) { same &= start_of_run(lane) == start; });
    return same;
}

// The bytes of a segment that are used, from `low` to `high` (inclusive).
struct Used {
    std::uint64_t low;
    std::uint64_t high;
};

// Calls visit(bytes) for each segment that the lanes of a half-warp touch, cut down to the smallest
// aligned piece that holds the used bytes, halved no further than `smallest`.
template <typename Visit>
void each_piece(const WarpAccess& access, std::uint32_t lanes, std::uint32_t segment_bytes,
                std::uint32_t smallest, Visit visit) {
    LaneSet segments;
    std::array<Used, warp_lanes> used;
    each_lane(lanes, [&](std::uint32_t lane) {
        const std::uint64_t address = access.addresses[lane];
        const std::uint64_t last = address + access.width_bytes - 1;
        const std::uint32_t known = segments.size();
        const std::uint32_t at = segments.insert(address >> shift_of(segment_bytes));
        if (at == known) used[at] = {address, last};
        used[at].low = std::min(used[at].low, address);
        used[at].high = std::max(used[at].high, last);
    });
    for (std::uint32_t at = 0; at < segments.size(); ++at) {
        // Both ends lie in one aligned block of 2^n bytes when they agree in all bits from n on.
        const std::uint64_t block = std::bit_ceil((used[at].low ^ used[at].high) + 1);
        const auto bytes =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(block, smallest, segment_bytes));
        visit(bytes);
    }
}

}  // namespace

void TransactionCounts::add(const TransactionCounts& other, std::uint64_t times) {
    requests += other.requests * times;
    of_32_bytes += other.of_32_bytes * times;
    of_64_bytes += other.of_64_bytes * times;
    of_128_bytes += other.of_128_bytes * times;
    more += other.more * times;
    unique_bytes += other.unique_bytes * times;
    active_bytes += other.active_bytes * times;
}

LoadModifier usual_load_modifier(const Rules& rules) {
    return rules.l1_loads.by_default ? LoadModifier::ca : LoadModifier::cg;
}

bool keeps_in_l1(const Rules& rules, LoadModifier modifier) {
    return (modifier == LoadModifier::ca && rules.l1_loads.keeps_ca) ||
           (modifier == LoadModifier::cs && rules.l1_loads.keeps_cs);
}

Transactions::Transactions(const Rules& rules, LoadModifier modifier)
    : rule_(rules.global),
      numbers_(rules.transactions),
      load_bytes_(keeps_in_l1(rules, modifier) ? rules.l1_loads.fetch_bytes
                                               : rules.transactions.smallest_bytes) {}

std::optional<std::string_view> Transactions::unavailable(AccessKind kind) const {
    if (kind == AccessKind::load || kind == AccessKind::store) return std::nullopt;
    return "how machines before compute capability 7.0 split atomics into transactions is not "
           "documented";
}

TransactionCounts Transactions::count(const WarpAccess& access) const {
    TransactionCounts counts;
    if (access.active_lanes == 0) return counts;
    counts.requests = 1;
    const auto lanes = static_cast<std::uint32_t>(std::popcount(access.active_lanes));
    counts.active_bytes = std::uint64_t{lanes} * access.width_bytes;
    // Addresses are multiples of the width: distinct addresses are distinct bytes.
    counts.unique_bytes =
        std::uint64_t{distinct_blocks(access, access.active_lanes, 0)} * access.width_bytes;
    switch (rule_) {
        case GlobalRule::half_warp_in_order: count_in_order(access, counts); break;
        case GlobalRule::half_warp_segments: count_segments(access, counts); break;
        case GlobalRule::lines_or_segments:
        case GlobalRule::sectors_by_warp: count_blocks(access, counts); break;
    }
    return counts;
}

bool Transactions::goes_together(const WarpAccess& access, std::uint32_t lanes) const {
    const std::uint32_t segment = numbers_.segment(access.width_bytes);
    return segment != 0 && in_order(access, lanes, segment);
}

void Transactions::count_blocks(const WarpAccess& access, TransactionCounts& counts) const {
    const std::uint32_t bytes = block_bytes(access.kind);
    const std::uint32_t shift = shift_of(bytes);
    each_group(access.active_lanes, request_lanes(access.width_bytes), [&](std::uint32_t lanes) {
        add_transactions(counts, bytes, distinct_blocks(access, lanes, shift));
        if (access.kind == AccessKind::store) counts.more += unjoined(access, lanes);
    });
}

// The transactions that parts of a store take beyond those of `lanes` together, where each part
// joins the sectors of the one before alone.
std::uint64_t Transactions::unjoined(const WarpAccess& access, std::uint32_t lanes) const {
    const std::uint32_t part_lanes = numbers_.store_parts.lanes(access.width_bytes);
    if (part_lanes == 0) return 0;
    const std::uint32_t shift = shift_of(numbers_.smallest_bytes);
    std::uint64_t count = 0;
    std::uint32_t before = 0;
    each_group(lanes, part_lanes, [&](std::uint32_t part) {
        count += distinct_blocks(access, part | before, shift);
        if (before != 0) count -= distinct_blocks(access, before, shift);
        before = part;
    });
    return count - distinct_blocks(access, lanes, shift);
}

void Transactions::count_in_order(const WarpAccess& access, TransactionCounts& counts) const {
    const std::uint32_t segment = numbers_.segment(access.width_bytes);
    const std::uint32_t run = 16 * access.width_bytes;
    each_group(access.active_lanes, request_lanes(access.width_bytes), [&](std::uint32_t lanes) {
        if (goes_together(access, lanes)) {
            add_transactions(counts, segment, run / segment);
        } else {
            // The guide says 16, and means a full half-warp; partial ones cannot be measured any
            // more.
            add_transactions(counts, numbers_.smallest_bytes,
                             static_cast<std::uint32_t>(std::popcount(lanes)));
        }
    });
}

void Transactions::count_segments(const WarpAccess& access, TransactionCounts& counts) const {
    const std::uint32_t segment = numbers_.segment(access.width_bytes);
    each_group(access.active_lanes, request_lanes(access.width_bytes), [&](std::uint32_t lanes) {
        each_piece(access, lanes, segment, numbers_.smallest_bytes,
                   [&](std::uint32_t bytes) { add_transactions(counts, bytes, 1); });
    });
}

}  // namespace coalprof
