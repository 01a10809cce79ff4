#include "core/pattern/program.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace coalprof {
namespace {

// Those of the first `lanes` whose element is not idle_lane, one bit each.
std::uint32_t active_among(const std::array<std::uint64_t, warp_lanes>& elements,
                           std::uint32_t lanes) {
    const std::uint32_t existing = lanes == warp_lanes ? all_lanes : (1u << lanes) - 1;
    std::uint64_t seen = 0;
    for (const std::uint64_t element : elements) seen |= element;
    if (seen >> 63 == 0) return existing;  // no array is as large: an idle lane would show
    std::uint32_t active = 0;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        active |= std::uint32_t{elements[lane] != idle_lane} << lane;
    return active & existing;
}

}  // namespace

bool has_barrier(const Program& program) {
    return std::ranges::any_of(program.instructions, &Instruction::after_barrier);
}

bool is_pointer_load(const Program& program, const Instruction& instruction) {
    return instruction.kind == AccessKind::load && program.arrays[instruction.array].rows_of;
}

bool is_same(const Formula& a, const Formula& b) { return a == b || a->is_same_as(*b); }

std::uint32_t hashes_of(const Formula& formula) {
    ExpressionsSeen seen;
    return formula->computed(seen).hashes;
}

bool divides(const Formula& formula) {
    ExpressionsSeen seen;
    return formula->computed(seen).divides;
}

std::uint32_t blocks_in_turn(const Program& program, std::uint32_t per_thread) {
    constexpr std::uint64_t most = 32;
    const bool is_free = std::ranges::all_of(
        program.instructions, [](const Instruction& one) { return one.space == Space::global; });
    const std::uint64_t of_one_block = std::uint64_t{program.block} * per_thread;
    if (!is_free || program.threads % of_one_block != 0 || per_thread == 1) return 1;
    return static_cast<std::uint32_t>(std::gcd(program.threads / of_one_block, most));
}

Space space_of(const Program& program, std::uint32_t array) {
    for (const Instruction& instruction : program.instructions)
        if (instruction.array == array) return instruction.space;
    return Space::global;
}

std::uint64_t shared_bytes_of(const Program& program) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < program.arrays.size(); ++i)
        if (space_of(program, i) == Space::shared) bytes += program.arrays[i].bytes();
    return bytes;
}

WarpAccess access_of_warp(const Program& program, const Placement& placement,
                          const Instruction& instruction, std::uint64_t first_thread,
                          std::uint32_t lanes) {
    WarpAccess access;
    access.kind = instruction.kind;
    access.space = instruction.space;
    access.width_bytes = instruction.width_bytes;
    const std::uint64_t base =
        placement.base_addresses.empty() ? 0 : placement.base_addresses[instruction.array];
    static_cast<void>(program);
    // Hot: every access of a walked launch passes here. Elements become addresses in place, in
    // plain loops that compilers turn into vector code.
    instruction.formula->evaluate(first_thread, lanes, access.addresses.data());
    access.active_lanes = active_among(access.addresses, lanes);
    if (instruction.one_lane_sends) access.active_lanes &= ~access.active_lanes + 1;
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(instruction.width_bytes));
    for (std::uint64_t& place : access.addresses) place = base + (place << shift);
    if (access.active_lanes != all_lanes)
        for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
            if ((access.active_lanes >> lane & 1) == 0) access.addresses[lane] = 0;
    return access;
}

}  // namespace coalprof
