// The parts of PTX that matter for counting memory instructions, statement by statement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/access/warp_access.h"
#include "core/program/opcodes.h"

namespace coalprof {

// A load, store, atomic or reduction of counted memory.
struct MemoryInstruction {
    std::string guard;   // "%p1", "!%p1"; empty if there is none
    std::string opcode;  // "ld.global.v4.f32"
    AccessKind kind = AccessKind::load;
    PtxState state = PtxState::global;  // or shared, local, generic
    std::uint32_t width_bytes = 4;
    std::uint32_t lanes = warp_lanes;  // the lowest ones that give addresses: fewer for ldmatrix
    std::string base;                  // the address is this + offset: "%rd4", a name, or a number
    std::string offset = "0";          // added to it
    std::string result = {};           // register that gets an atomic's earlier value
    // For wmma: the elements from line to line, a register or a number; empty: as many as a line
    // has. Its accesses, and their widths and lanes: Fragment.
    std::string line_elements = {};
};

// `statement`: from its guard or opcode to the semicolon, without it. None for all others: those of
// parameters, constants and textures, bulk copies, and widths above 32 bytes.
std::optional<MemoryInstruction> memory_instruction(std::string_view statement);

// The begin of the next statement, after blanks and comments.
std::size_t skip_blanks(std::string_view text, std::size_t at);

// Characters of names: letters, digits, _, $ and %.
bool is_name_character(char c);

// The name at `at`, after blanks; empty if there is none.
std::string_view name_at(std::string_view text, std::size_t at);

// True if ptxas makes a reduction of an atomic with this opcode whose result is not read: it keeps
// exchanges, and those that later accesses must not overtake (Triton's are ".acq_rel").
bool may_become_reduction(std::string_view opcode);

// The accesses of wmma.load and wmma.store: ptxas turns them into ordinary loads and stores, and
// into ldmatrix where they read shared memory.

// (lane >> shift & mask) * factor
struct LanePart {
    std::uint32_t shift = 0;
    std::uint32_t mask = 0;
    std::uint32_t factor = 1;
};

// A line is a row of a matrix that lies by rows, a column of one that lies by columns. A lane's
// address is line * (bytes from line to line) + byte, both by the lane's number, added to the
// pointer; each access adds its lines and bytes.
struct FragmentAccess {
    std::uint32_t lines = 0;
    std::uint32_t bytes = 0;
};
struct Fragment {
    LanePart line = {}, byte = {};
    std::vector<FragmentAccess> accesses = {};
    std::uint32_t width_bytes = 4;  // bytes of a lane
    char variant = 0;               // n, m, M: an ldmatrix of 1, 2 or 4 matrices
    std::uint32_t element_bits = 16;
    std::uint32_t line_elements = 0;  // default distance of lines
};

// None: an unknown form.
std::optional<Fragment> fragment_of(const OpcodeWords& words);

}  // namespace coalprof
