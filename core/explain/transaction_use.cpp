#include "core/explain/transaction_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/access/lane_set.h"
#include "core/count/launch_sum.h"
#include "core/text/units.h"

namespace coalprof {
namespace {

// --- sentences -----------------------------------------------------------------------------------

std::string_view verb_of(Purpose purpose) {
    return purpose == Purpose::load ? "load" : purpose == Purpose::store ? "store" : "access";
}

std::string lanes_text(const WarpShape& shape) {
    if (shape.active_lanes == 1) return "one active lane";
    return fmt::format("{}{} lanes", shape.active_lanes,
                       shape.active_lanes == warp_lanes ? "" : " active");
}

std::string in_order_why(const WarpShape& shape, const TransactionUse& use,
                         std::uint32_t segment_bytes) {
    if (use.out_of_order == 0)
        return fmt::format(
            "In {} half-warp, lane k is at word k of an aligned stretch, so it goes together: {}, "
            "{}.",
            use.groups == 1 ? "the" : "each", counted(use.counts.transactions(), "transaction"),
            sizes_text(use.counts));
    if (segment_bytes == 0)
        return fmt::format(
            "Lanes of {} never go together on this machine, so the {} take {} of 32 bytes.",
            counted(shape.width_bytes, "byte"), lanes_text(shape),
            counted(use.counts.transactions(), "transaction"));
    const std::string_view which = use.groups == 1         ? "This one does not"
                                   : use.out_of_order == 1 ? "One of the two does not"
                                                           : "Neither of the two does";
    return fmt::format(
        "A half-warp goes together only where its lane k is at word k of a stretch that begins at "
        "a multiple of {} bytes. {}, and each of its lanes takes a transaction of 32 bytes of its "
        "own: the warp takes {}.",
        segment_bytes, which, counted(use.counts.transactions(), "transaction"));
}

std::string blocks_why(const WarpShape& shape, Purpose purpose, const TransactionUse& use,
                       const Rules& rules) {
    std::string text = fmt::format("The {} goes out in {} of up to {} lanes, {} moves ",
                                   verb_of(purpose), counted(use.groups, "group"), use.group_lanes,
                                   use.groups == 1 ? "which" : "each of which");
    const std::string all = sizes_text(use.counts);
    if (rules.global == GlobalRule::half_warp_segments)
        return text + fmt::format(
                          "the aligned pieces of 32, 64 or 128 bytes that hold what it "
                          "touches: {}.",
                          all);
    text += fmt::format("the {} that it touches: {}.",
                        use.counts.of_128_bytes > 0 ? "128-byte lines" : "32-byte sectors", all);
    if (use.counts.of_128_bytes == 0 && use.counts.transactions() > shape.sectors)
        text += " A sector on which two groups meet counts twice.";
    return text;
}

// The fewest and the most bytes that the warp would move from any multiple of `step` bytes.
struct MovedBytes {
    std::uint64_t least = ~0ull;
    std::uint64_t most = 0;
};
MovedBytes moved_from_multiples(const WarpAccess& access, const WarpShape& shape,
                                std::uint64_t step, const Rules& rules) {
    constexpr std::uint64_t largest_step = 256;
    MovedBytes range;
    for (std::uint64_t more = 0; more < largest_step; more += step) {
        const WarpAccess moved = shifted(access, (0 - shape.first_byte) % largest_step + more);
        const std::uint64_t bytes = transaction_use_of(moved, rules).counts.transaction_bytes();
        range = {std::min(range.least, bytes), std::max(range.most, bytes)};
    }
    return range;
}

std::string mend_of(const WarpAccess& access, const WarpShape& shape, const TransactionUse& use,
                    const Rules& rules) {
    const std::uint64_t bytes = use.counts.transaction_bytes();
    if (bytes == shape.unique_bytes()) return "Nothing to fix: every byte that is moved is used.";
    const bool in_order_rule = rules.global == GlobalRule::half_warp_in_order;
    if (shape.runs == 1 && shape.places > 1) {
        MovedBytes fewest{bytes, bytes};
        std::uint64_t best = 0;
        for (const std::uint64_t step : {32u, 64u, 128u, 256u}) {
            const MovedBytes then = moved_from_multiples(access, shape, step, rules);
            if (then.most >= fewest.most) continue;
            fewest = then;
            best = step;
        }
        if (best != 0)
            return fmt::format(
                "Let the warp begin at a multiple of {} bytes: then {}{} bytes are moved for {}.",
                best, fewest.least < fewest.most ? "at most " : "", fewest.most,
                shape.unique_bytes());
    }
    if (in_order_rule && rules.transactions.segment(shape.width_bytes) == 0)
        return "Let each lane move 4, 8 or 16 bytes.";
    if (in_order_rule && use.out_of_order > 0)
        return "Let lane k take the k-th element from an aligned start, if need be by way of "
               "shared memory.";
    if (shape.width_bytes < 4 && use.groups > 1)
        return "Let each lane move 4 bytes: the pieces that two groups of lanes share are moved "
               "for "
               "each.";
    if (shape.runs > 1)
        return "Lay the elements of neighbouring lanes side by side, or stage the data through "
               "shared memory.";
    return "Nothing to fix: no start would move fewer bytes.";
}

}  // namespace

TransactionUse transaction_use_of(const WarpAccess& access, const Rules& rules) {
    const Transactions transactions(rules, usual_load_modifier(rules));
    TransactionUse use;
    use.counts = transactions.count(access);
    use.group_lanes = transactions.request_lanes(access.width_bytes);
    each_group(access.active_lanes, use.group_lanes, [&](std::uint32_t lanes) {
        ++use.groups;
        const std::vector<MovedBlock> blocks = transactions.blocks(access, lanes);
        use.blocks.insert(use.blocks.end(), blocks.begin(), blocks.end());
        use.out_of_order +=
            rules.global == GlobalRule::half_warp_in_order && blocks.front().bytes == 32;
    });
    return use;
}

void mark_moved(const std::vector<MovedBlock>& blocks, std::vector<TouchedLine>& lines) {
    for (TouchedLine& line : lines)
        for (std::uint32_t i = 0; i < sectors_per_line; ++i) {
            const std::uint64_t address = line.address + i * sector_bytes;
            const auto holds = [&](const MovedBlock& block) {
                return address >= block.address && address < block.address + block.bytes;
            };
            line.sectors[i].is_moved = std::any_of(blocks.begin(), blocks.end(), holds);
        }
}

std::string sizes_text(const TransactionCounts& counts) {
    std::string text;
    for (const auto& [count, bytes] :
         {std::pair{counts.of_128_bytes, 128}, std::pair{counts.of_64_bytes, 64},
          std::pair{counts.of_32_bytes, 32}}) {
        if (count == 0) continue;
        text += text.empty() ? fmt::format("{} of {} bytes", count, bytes)
                             : fmt::format(", {} of {}", count, bytes);
    }
    return text;
}

Reasons transaction_reasons_of(const WarpAccess& access, const WarpShape& shape, Purpose purpose,
                               const TransactionUse& use, const Rules& rules) {
    if (shape.active_lanes == 0)
        return {Cause::no_lanes, "No lane is active, so the warp asks nothing of memory.",
                "There is nothing to fix."};
    const Transactions transactions(rules, usual_load_modifier(rules));
    if (const auto reason = transactions.unavailable(access.kind))
        return {Cause::not_documented, fmt::format("How this warp goes is not known: {}.", *reason),
                "Ask for a machine from compute capability 7.0 on."};
    const std::string mend = mend_of(access, shape, use, rules);
    if (rules.global != GlobalRule::half_warp_in_order)
        return {Cause::blocks, blocks_why(shape, purpose, use, rules), mend};
    return {use.out_of_order == 0 ? Cause::in_order : Cause::out_of_order,
            in_order_why(shape, use, rules.transactions.segment(shape.width_bytes)), mend};
}

}  // namespace coalprof
