#include <bit>
#include <optional>

#include "core/access/lane_set.h"
#include "core/program/numbers.h"

namespace coalprof {
namespace {

void vote(const PtxStep& step, std::uint32_t yes, std::uint32_t active, Exchanged& result) {
    auto& at = result.first.at;
    if (step.variant == 'e') {  // elect.sync
        const auto leader = static_cast<std::uint32_t>(std::countr_zero(active));
        at.fill(leader);
        result.second = 1u << leader;
        return;
    }
    if (step.variant == 'b') {
        at.fill(yes);
        return;
    }
    const bool is_true = step.variant == 'a'   ? yes == active
                         : step.variant == 'o' ? yes != 0
                                               : yes == 0 || yes == active;
    at[0] = is_true ? all_lanes : 0;
}

void match(const PtxStep& step, const LaneValue& value, std::uint32_t active, Exchanged& result) {
    bool all_same = true;
    each_lane(active, [&](std::uint32_t lane) {
        std::uint32_t same = 0;
        each_lane(active, [&](std::uint32_t other) {
            same |= std::uint32_t{value.at[other] == value.at[lane]} << other;
        });
        result.first.at[lane] = same;
        all_same = all_same && same == active;
    });
    result.second = all_same ? all_lanes : 0;
    if (step.variant == 'a' && !all_same) result.first.at.fill(0);
}

void reduce(const PtxStep& step, const LaneValue& value, std::uint32_t active, Exchanged& result) {
    std::optional<std::uint64_t> all;
    each_lane(active, [&](std::uint32_t lane) {
        all = all ? combined(step, *all, value.at[lane]) : value.at[lane];
    });
    result.first.at.fill(all.value_or(0) & mask_of(step.type.bits));
}

// PTX ISA, "shfl.sync": c holds the clamp and, above it, the mask of the segment.
void shuffle(const PtxStep& step, const Inputs& in, std::uint32_t active, Exchanged& result) {
    need_fixed(*in[1]);
    need_fixed(*in[2]);
    each_lane(active, [&](std::uint32_t lane) {
        const auto by = static_cast<std::uint32_t>(in[1]->at[lane] & 0x1F);
        const auto clamp = static_cast<std::uint32_t>(in[2]->at[lane] & 0x1F);
        const auto segment = static_cast<std::uint32_t>(in[2]->at[lane] >> 8 & 0x1F);
        const std::uint32_t most = (lane & segment) | (clamp & ~segment);
        const std::uint32_t least = lane & segment;
        std::uint32_t from = lane ^ by;
        if (step.variant == 'u') from = lane - by;
        if (step.variant == 'd') from = lane + by;
        if (step.variant == 'i') from = least | (by & ~segment);
        const bool is_inside =
            step.variant == 'u' ? static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(most)
                                : from <= most;
        result.first.at[lane] = in[0]->at[is_inside ? from & 31 : lane];
        result.second |= std::uint32_t{is_inside} << lane;
    });
    result.first.growth = in[0]->growth;
}

}  // namespace

bool is_exchange(Opcode opcode) {
    return opcode == Opcode::shuffle || opcode == Opcode::vote || opcode == Opcode::match ||
           opcode == Opcode::active_mask || opcode == Opcode::reduce_warp;
}

void exchange(const PtxStep& step, const Inputs& in, std::uint32_t active, Exchanged& result) {
    result.first.growth = {};
    result.second = 0;
    switch (step.opcode) {
        case Opcode::shuffle: return shuffle(step, in, active, result);
        case Opcode::active_mask: result.first.at.fill(active); return;
        case Opcode::vote:
            return vote(step,
                        step.variant == 'e' ? 0 : static_cast<std::uint32_t>(in[0]->at[0]) & active,
                        active, result);
        case Opcode::match: need_fixed(*in[0]); return match(step, *in[0], active, result);
        default: need_fixed(*in[0]); return reduce(step, *in[0], active, result);
    }
}

std::uint64_t combined(const PtxStep& step, std::uint64_t before, std::uint64_t value) {
    const std::uint8_t bits = step.type.bits;
    const bool is_less =
        step.type.kind == 's' ? extended(before, bits) < extended(value, bits) : before < value;
    switch (step.variant) {
        case '<': return is_less ? before : value;
        case '>': return is_less ? value : before;
        case '&': return before & value;
        case '|': return before | value;
        case '^': return before ^ value;
        case 'x': return value;
        case 'i': return before >= value ? 0 : before + 1;
        case 'd': return before == 0 || before > value ? value : before - 1;
        default: break;
    }
    if (step.type.kind != 'f') return (before + value) & mask_of(bits);
    if (bits == 32)
        return std::bit_cast<std::uint32_t>(
            std::bit_cast<float>(static_cast<std::uint32_t>(before)) +
            std::bit_cast<float>(static_cast<std::uint32_t>(value)));
    return std::bit_cast<std::uint64_t>(std::bit_cast<double>(before) +
                                        std::bit_cast<double>(value));
}

}  // namespace coalprof
