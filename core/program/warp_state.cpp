#include "core/program/warp_state.h"

#include <algorithm>
#include <bit>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

std::size_t dimension(SlotKind kind, SlotKind first) {
    return static_cast<std::size_t>(kind) - static_cast<std::size_t>(first);
}

// The value of a special register for a thread of any block.
std::uint64_t special(const Code& code, const KernelLaunch& launch, const SlotInfo& slot,
                      std::uint32_t number, std::uint32_t lane) {
    const std::uint32_t below = (1u << lane) - 1;
    switch (slot.kind) {
        case SlotKind::constant: return slot.value;
        case SlotKind::tid_x:
        case SlotKind::tid_y:
        case SlotKind::tid_z:
            return thread_of(launch, number)[dimension(slot.kind, SlotKind::tid_x)];
        case SlotKind::ntid_x:
        case SlotKind::ntid_y:
        case SlotKind::ntid_z: return launch.block[dimension(slot.kind, SlotKind::ntid_x)];
        case SlotKind::nctaid_x:
        case SlotKind::nctaid_y:
        case SlotKind::nctaid_z: return launch.grid[dimension(slot.kind, SlotKind::nctaid_x)];
        case SlotKind::grid_barrier:
        case SlotKind::one: return 1;
        case SlotKind::laneid: return lane;
        case SlotKind::warpid: return number / warp_lanes;
        case SlotKind::nwarpid: return (launch.threads() + warp_lanes - 1) / warp_lanes;
        case SlotKind::nsmid: return launch.multiprocessors;
        case SlotKind::lanemask_eq: return 1u << lane;
        case SlotKind::lanemask_lt: return below;
        case SlotKind::lanemask_le: return below | 1u << lane;
        case SlotKind::lanemask_gt: return ~(below | 1u << lane);
        case SlotKind::lanemask_ge: return ~below;
        case SlotKind::warp_size: return warp_lanes;
        case SlotKind::dynamic_smem: return launch.dynamic_shared_bytes;
        case SlotKind::total_smem: return code.shared_bytes + launch.dynamic_shared_bytes;
        default: return 0;
    }
}

}  // namespace

std::array<std::uint32_t, 3> thread_of(const KernelLaunch& launch, std::uint32_t number) {
    const auto& block = launch.block;
    return {number % block[0], number / block[0] % block[1], number / block[0] / block[1]};
}

WarpState make_warp(const StepCode& steps, const KernelLaunch& launch, std::uint32_t first_thread) {
    WarpState warp;
    warp.first_thread = first_thread;
    const std::uint32_t threads = std::min(launch.threads() - first_thread, warp_lanes);
    warp.lanes = threads == warp_lanes ? all_lanes : (1u << threads) - 1;
    warp.registers.resize(steps.places());
    for (Slot place = 0; place < steps.places(); ++place) {
        const SlotInfo& slot = steps.slot_at(place);
        LaneValue& value = warp.registers[place];
        value.valid = all_lanes;
        value.unsaid = slot.kind == SlotKind::fetched ? by_fetches : 0;
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            value.at[lane] = special(steps.code(), launch, slot, first_thread + lane, lane);
        if (slot.kind == SlotKind::constant && slot.bits == 1)
            value.at[0] = slot.value != 0 ? all_lanes : 0;
    }
    for (const PresetRegister& one : steps.presets()) {
        LaneValue& value = warp.registers[one.place];
        const std::uint64_t number = number_of_parameter(launch, one.address, one.type.bytes());
        value.at.fill(number_as_loaded(number, one.type, steps.slot_at(one.place).bits));
    }
    return warp;
}

void WarpState::begin_block(const StepCode& code, const BlockBox& box) {
    at = 0;
    active = lanes;
    stopped = 0;
    next_waiting_ = nowhere;
    waits_for_none_ = false;
    waiting_.clear();
    parked_.clear();
    steps = 0;
    local.clear();
    if (has_unsaid_)
        for (Slot place = 0; place < code.places(); ++place)
            registers[place].unsaid =
                code.slot_at(place).kind == SlotKind::fetched ? by_fetches : 0;
    has_unsaid_ = false;
    for (const Slot place : code.read_first()) {
        registers[place] = {};
        registers[place].valid = all_lanes;
    }
    for (const Slot place : code.block_numbers()) {
        const std::size_t d = dimension(code.slot_at(place).kind, SlotKind::ctaid_x);
        LaneValue& value = registers[place];
        value.at.fill(box.first[d]);
        value.growth = {};
        if (box.count[d] > 1) value.growth[d] = box.stride[d];
    }
}

bool WarpState::has_come_back(std::uint64_t stores) {
    if (stores != stores_before_) turns_ = 0;
    stores_before_ = stores;
    if (++turns_ < first_compared) return false;
    if (std::has_single_bit(turns_)) {
        barriers_before_ = barriers_;
        before_ = registers;
        at_before_ = at;
        active_before_ = active;
        waiting_before_ = waiting_;
        parked_before_ = parked_;
        return false;
    }
    const auto differs = [&](std::size_t place) {
        const LaneValue &a = registers[place], &b = before_[place];
        return a.at != b.at || a.growth != b.growth || a.valid != b.valid;
    };
    if (at != at_before_ || active != active_before_ || waiting_ != waiting_before_ ||
        parked_ != parked_before_ || (differing_ < registers.size() && differs(differing_)))
        return false;
    for (differing_ = 0; differing_ < registers.size(); ++differing_)
        if (differs(differing_)) return false;
    return true;
}

void WarpState::branch(std::uint32_t target, std::uint32_t taken) {
    if (taken == 0) {
        ++at;
        return;
    }
    if (const std::uint32_t rest = active & ~taken; rest != 0) wait({at + 1, rest});
    at = target;
    active = taken;
}

bool WarpState::meet() {
    if (waiting_.empty()) return active != 0;
    if (active == 0 || at > next_waiting_) {
        const LaneGroup ahead{at, active};
        at = next_waiting_;
        if (at == nowhere) {
            at = std::ranges::min_element(waiting_, {}, &LaneGroup::at)->at;
            waits_for_none_ = true;
        }
        active = 0;
        if (ahead.lanes != 0) waiting_.push_back(ahead);
    }
    take_those_here();
    return true;
}

void WarpState::take_those_here() {
    std::erase_if(waiting_, [&](const LaneGroup& group) {
        if (group.at == at) active |= group.lanes;
        return group.at == at;
    });
    next_waiting_ = nowhere;
    for (const LaneGroup& group : waiting_)
        if (!group.is_held) next_waiting_ = std::min(next_waiting_, group.at);
}

bool WarpState::gather(std::uint32_t named) {
    if (waiting_.empty()) return true;
    take_those_here();
    std::uint32_t elsewhere = 0;
    for (const LaneGroup& group : waiting_) elsewhere |= group.lanes;
    if ((named & elsewhere) == 0 || waits_for_none_) {
        waits_for_none_ = false;
        return true;
    }
    waiting_.push_back({.at = at, .lanes = active, .is_held = true});
    active = 0;
    return false;
}

void WarpState::write(Slot place, const LaneValue& value, std::uint32_t written,
                      bool is_predicate) {
    LaneValue& there = registers[place];
    has_unsaid_ |= value.unsaid != 0;
    there.unsaid = value.unsaid | ((lanes & ~written) == 0 ? 0 : there.unsaid);
    if (is_predicate) {
        there.at[0] = (there.at[0] & ~std::uint64_t{written}) | (value.at[0] & written);
        return;
    }
    if (written == all_lanes)
        there.at = value.at;
    else
        each_lane(written, [&](std::uint32_t lane) { there.at[lane] = value.at[lane]; });
    if (const Growth& a = there.growth, b = value.growth;  // std::array compares by memcmp
        a[0] == b[0] && a[1] == b[1] && a[2] == b[2]) {
        there.valid |= written;
    } else {
        there.growth = value.growth;
        there.valid = written;
    }
}

}  // namespace coalprof
