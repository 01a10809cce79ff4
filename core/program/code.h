// A kernel ready for execution: calls inlined, names resolved to slots, and instructions marked
// that its addresses and branches do not need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/program/issue_cost.h"
#include "core/program/module.h"
#include "core/program/site.h"

namespace coalprof {

enum class Opcode : std::uint8_t {
    // clang-format off
    move, add, sub, multiply, multiply_high, multiply_wide, mad, mad_high, mad_wide, mul24, mad24,
    sad, divide, remainder, absolute, negate, minimum, maximum, popc, clz, bfind, brev, bfe, bfi,
    prmt, dot4, dot2, bit_and, bit_or, bit_xor, bit_not, logical_not, lop3, shift_left, shift_right,
    funnel_left, funnel_right, compare, select, slct, convert, to_generic, from_generic, is_space,
    reciprocal, square_root, inverse_root, sine, cosine, log2, exp2, hyperbolic_tangent, copy_sign,
    pack, unpack,
    shuffle, vote, match, active_mask, reduce_warp,
    load, store, atomic, branch, branch_table, exit, barrier, warp_barrier, trap,
    nothing,  // changes no register, no branch and no counted memory
    unknown,
    // clang-format on
};

enum class PtxRelation : std::uint8_t { eq, ne, lt, le, gt, ge, is_number, is_nan };

struct PtxType {
    char kind = 'b';         // u, s, b, f; p: a predicate; g: bf16; h: packed ones and tf32
    std::uint8_t bits = 32;  // 1 of predicates
    std::uint8_t bytes() const { return static_cast<std::uint8_t>(bits / 8); }
    bool is_real() const { return kind == 'f' || kind == 'g'; }
};

// How ptxas makes one atomic of those of a warp whose address it proves to be the same in all lanes
// (combining.cpp): from cc 7.0 on one lane sends for all.
enum class Combining : std::uint8_t {
    none,
    always,
    reduces,     // REDUX reduces; before cc 8.0, which lacks it, only whole warps
    whole_warps  // others send lane by lane
};

using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

// Registers of the thread, and the start values of the others.
enum class SlotKind : std::uint8_t {
    // clang-format off
    reg, constant,
    tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y,
    nctaid_z, laneid, warpid, nwarpid, smid, nsmid, gridid, lanemask_eq, lanemask_le, lanemask_lt,
    lanemask_ge, lanemask_gt, clock, warp_size, dynamic_smem, total_smem, one, zero,
    fetched,       // from a texture: 0, and not known
    grid_barrier,  // a part of the address at which blocks of a grid wait for each other
    // clang-format on
};
struct SlotInfo {
    SlotKind kind = SlotKind::reg;
    std::uint8_t bits = 32;
    std::uint64_t value = 0;  // value of a constant
};

struct PtxInstruction {
    Opcode opcode = Opcode::nothing;
    PtxType type = {};
    PtxType from = {};  // source type of convert, or of a comparison that makes a number
    PtxRelation relation = PtxRelation::eq;
    char variant = 0;  // kind of shuffle, vote, conversion or atomic: see decode.cpp
    bool is_negated = false;
    bool is_ordered = true;  // false: a comparison that NaN satisfies
    Slot guard = no_slot;
    std::vector<Slot> results = {};
    std::vector<Slot> inputs = {};
    // For loads, stores and atomics: inputs are the base, then the stored values.
    PtxState state = PtxState::generic;
    std::int64_t offset = 0;
    std::uint32_t width_bytes = 0;  // bytes of a lane, all elements of a vector together
    std::uint32_t site = ~0u;       // place in Code::sites; ~0: uncounted memory
    std::uint32_t target = 0;       // where branches and traps go
    std::vector<std::uint32_t> targets = {};
    std::uint32_t statement = 0;  // place in Code::statements
    bool is_needed = false;       // addresses or branches depend on it
    bool is_transposed = false;   // .trans of ldmatrix and stmatrix
    bool is_copy = false;         // cp.async: inputs are from, to (+ target), how many bytes
    bool is_opaque = false;       // part of a matrix: its values are unknown
    bool is_saturated = false;    // .sat
    bool gathers = false;         // .sync: the lanes of its last input execute it together
    Combining combining = Combining::none;  // how atomics on global memory combine
    char rounding = 0;                      // z, m, p: of real numbers; 0: to the nearest
};

struct CodeStatement {
    std::string text;
    SourceLine source;
    std::size_t at = 0;  // in the module's text
};

// The instructions that ptxas made of an access of shared memory (machine_widths.h).
struct MachineWidths {
    // Widths of a lane, each once: 4 + 16; 0: it is a part of another site's.
    std::uint32_t bytes = 0;
    // Where most of the widest stand together, so many of them and of narrower ones.
    std::uint32_t widest = 0;
    std::uint32_t narrower = 0;
    // Of these instructions for each execution of the PTX's, once they were counted.
    std::optional<double> passes = std::nullopt;
    double ideal_passes = 0;
};

// The windows of generic addresses for each state space. Arrays of the launch are above.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
inline constexpr std::uint64_t local_window = std::uint64_t{1} << 57;
inline constexpr std::uint64_t param_window = std::uint64_t{1} << 58;
inline constexpr std::uint64_t variable_window = std::uint64_t{1} << 40;  // .global and .const ones

constexpr PtxState state_of_generic(std::uint64_t address) {
    return address >= param_window    ? PtxState::param
           : address >= local_window  ? PtxState::local
           : address >= shared_window ? PtxState::shared
                                      : PtxState::global;
}

struct Code {
    std::string kernel;  // mangled
    // The kernel's own, then loaded members of structures: each member is known, may be a pointer,
    // and decides addresses or not for itself.
    std::vector<PtxParameter> parameters;
    std::vector<std::uint32_t> structures;  // by member: the parameter that it is a part of
    std::size_t own_parameters() const { return parameters.size() - structures.size(); }
    std::vector<std::uint32_t> parameter_offsets;
    std::vector<bool> is_address;  // by parameter: memory is reached through it
    std::vector<bool> is_needed;   // by parameter: an address or a branch depends on it
    // By parameter, the widest number that is loaded or stored through it alone; 0: none is.
    std::vector<std::uint32_t> widest_bytes;
    // By parameter: 1 + the one whose array it points to; 0, or empty: a separate array.
    std::vector<std::uint32_t> shares_array;
    std::uint32_t most_threads = 0;  // a block's limit as the kernel gives it; 0: none
    std::array<std::uint32_t, 3> required_block{};  // zeros: any
    // "extern .shared": the launch says how large shared memory is.
    bool uses_dynamic_shared = false;
    std::uint32_t parameter_bytes = 0;
    std::vector<SlotInfo> slots;
    std::vector<PtxInstruction> instructions;
    std::vector<CodeStatement> statements;
    std::vector<PtxSite> sites;
    bool is_as_compiled = false;                // ptxas said what it makes of shared accesses
    std::vector<MachineWidths> machine_widths;  // by site; empty: none became wider
    std::vector<IssueCost> machine_costs;       // by instruction; empty: not known
    // By instruction: words that loads of its basic block wait for together, at most.
    std::vector<std::uint32_t> machine_loads;
    std::uint32_t machine_registers = 0;   // of a thread; 0: not known
    std::vector<std::uint32_t> uncounted;  // statements whose memory requests are not counted
    std::uint64_t shared_bytes = 0;        // that it declares
    std::uint64_t local_bytes = 0;         // local memory of a thread
    std::vector<PtxVariable> variables;    // the module's, in the order of variable_addresses
    std::vector<std::uint64_t> variable_addresses;
    bool needs_shared_values = false;  // an address or branch depends on shared memory
    // Stored values may be loaded again by instructions that decide an address: blocks run in order
    // then.
    bool needs_stored_values = false;
};

// Statements that are not known here may be in it: executing one whose result an address or a
// branch depends on is refused. Throws UsageError for a statement that PTX does not have, naming it
// and its line.
Code make_code(const PtxModule& module, const PtxFunction& kernel);

// Sets is_needed of instructions and parameters, and the memory that they need. May be repeated.
void mark_needs(Code& code);

// Sets `combining`, and adds loads of constant memory whose lanes may differ to `uncounted`. After
// mark_needs().
void mark_uniform_accesses(Code& code);

// Merges loads and stores of shared memory as ptxas does: LDS.128 for four neighbouring floats.
// Where loads were merged, the first has the results of all; of stores the last has all values.
// Lanes access the same places as before, in fewer requests.
void merge_shared_accesses(Code& code);

}  // namespace coalprof
