// The properties of a program that decide its kernel: which instruction goes through a table of row
// pointers, which arrays are marked and which are counted in, what can be left out. Everything that
// compose needs and that is not a number of the launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/device/device.h"
#include "core/pattern/plan.h"
#include "kernels/source/values.h"

namespace coalprof {

// Arrays of constant and local memory are declared with this many elements, independent of the used
// part: one source serves a whole sweep.
inline constexpr std::uint32_t most_own_elements = 32;

struct InstructionShape {
    std::size_t lanes = 0;             // the first instruction with the same formula
    bool is_table = false;             // loads row pointers
    std::optional<std::size_t> table;  // the instruction whose row pointers it follows
    bool has_choices = false;          // lanes may take different ways through its formula
    Idle idle = Idle::none;            // reasons for which its formula can answer idle_lane
    // The program has barriers, and a thread's next element is step_of() further on in all blocks.
    bool is_even = false;
    bool is_moved = false;  // loads: a store copies the value, so nothing checks it here
    // Atomics: the way they add; `counts`: the array only counts, so that they may change it.
    Content number = Content::count_u32;
    bool counts = false;
};

struct ProgramShape {
    std::vector<Content> contents;  // one per array
    std::vector<InstructionShape> instructions;
    std::uint32_t block = 0;
    std::uint32_t per_thread = 0;
    std::uint64_t grid = 0;  // blocks
    // The number of neighbouring blocks whose elements interleave: the first of each thread, then
    // the second, and so on.
    std::uint32_t blocks_in_turn = 1;
    bool whole = false;              // every thread of the grid has work
    bool lanes_meet = false;         // lanes of a warp wait for each other, so that none may leave
    bool reports = false;            // some loaded value is checked
    std::uint32_t shared_bytes = 0;  // a block's arrays of shared memory, one after the other
    // Some array is in shared or local memory, which is gone when a launch ends: its accesses are
    // checked by a separate launch. Constant memory and arrays whose values are stored elsewhere
    // need none.
    bool needs_near_check = false;
    bool is_global = false;  // some array is in global memory

    // Logical indices from one element of a thread to its next.
    std::uint32_t step() const { return block * blocks_in_turn; }
};

// Offset of a shared array in the block's memory; 0 for other memories.
std::uint64_t shared_offset(const Program& program, std::size_t array);
// The seed by which the values of one array differ from those of another.
Word seed_of(std::size_t array);

// The limits of a block on the device at hand.
struct BlockLimits {
    std::uint32_t threads = 1024;
    std::uint64_t shared_bytes = shared_bytes_of_block;
};
BlockLimits block_limits(const DeviceFacts& facts);

// Throws PointError where kernels cannot run the plan (an atomic on a 16-byte element, a block of
// 4096 threads, more shared memory than a block has).
ProgramShape shape_of(const Plan& plan, const BlockLimits& limits = {});

// InstructionShape::is_even: from one element of a thread to its next.
std::uint64_t step_of(const Formula& formula, const ProgramShape& shape);

}  // namespace coalprof
