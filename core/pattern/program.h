// A program: the memory instructions that every thread of a launch executes, as data. Patterns make
// programs; the model walks them, the kernels execute them, `explain` draws them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/access/warp_access.h"
#include "core/pattern/formulas.h"

namespace coalprof {

// Repetition of an index sequence: element(i + threads) == element(i) + advance for every i whose
// two sides lie in the launch. `inner_threads` != 0: within one period it repeats too, every
// inner_threads, by inner_advance. Idle lanes repeat as idle lanes. Advances are in elements; those
// of indices that go down are negative modulo 2^64.
struct Period {
    std::uint64_t threads = 1;
    std::uint64_t advance = 1;
    std::uint64_t inner_threads = 0;
    std::uint64_t inner_advance = 0;
};

// The operations of a thread for one element, each sub-expression once, as compilers do.
struct Computed {
    std::uint32_t operators = 0;  // the constant at the end is not counted: it is in the address
    // By anything but a power of two; quotient and remainder of one division count once.
    std::uint32_t divisions = 0;
    std::uint32_t conditions = 0;
    std::uint32_t hashes = 0;  // random words, each as often as it is written
    bool divides = false;      // it divides by a number that the text does not spell out
};
// Hashes of the expressions that a program has computed.
using ExpressionsSeen = std::unordered_set<std::uint64_t>;

// CUDA source of a functor type with `Index operator()(Index i) const` and a member `Index
// number[]`, which holds `numbers`: at least one.
struct Functor {
    std::string source;
    std::vector<Index> numbers;
    friend bool operator==(const Functor&, const Functor&) = default;
};

// An index formula as text has it: a pattern's or a user's.
class CustomFormula {
 public:
    virtual ~CustomFormula() = default;
    // elements[k] = element of logical index first + k, or idle_lane, for k < count (at most 32).
    virtual void evaluate(std::uint64_t first, std::uint32_t count,
                          std::uint64_t* elements) const = 0;
    // None for sequences that do not repeat (scatter).
    virtual std::optional<Period> period() const = 0;
    // True if idle_lane may be among its answers.
    virtual bool may_idle() const { return true; }
    // The operations of its index and its condition beside those of expressions that are computed
    // already.
    virtual Computed computed(ExpressionsSeen&) const { return {}; }
    // True if it computes the same elements in the same way.
    virtual bool is_same_as(const CustomFormula& other) const {
        return functor("F") == other.functor("F");
    }
    // True if lanes of a warp may take different ways through its source, as ?: has them.
    virtual bool has_choices() const { return true; }
    virtual Functor functor(const std::string& type_name) const = 0;
    // For messages and drawings: the text as the user typed it; empty: a pattern's.
    virtual std::string text() const = 0;
    // Only the index with its condition: "i*3", "i + 1 if i < n - 1".
    virtual std::string index_text() const { return text(); }
    // The whole access instead, where it is not written array[index]: "p[i].x".
    virtual std::string access_text() const { return {}; }
};

using Formula = std::shared_ptr<const CustomFormula>;

// True if both compute the same elements in the same way, so that their code is the same.
bool is_same(const Formula& a, const Formula& b);

// After a launch that stored to it, element e of an array equals element formula(e) of `array`.
struct Origin {
    std::uint32_t array = 0;
    Formula formula;
};

// The rows of an array that a table of pointers leads to, 8 bytes each.
struct RowTable {
    std::uint32_t array = 0;
    std::uint64_t row_bytes = 0;  // distance from one row to the next
};

// An array the program touches, in one memory. `elements` is how many must be allocated: the
// highest index + 1. Every block has a separate one in shared memory, every thread in local memory.
struct Array {
    std::string name;  // "a", "b", "table", "tile"
    std::uint32_t element_bytes = 4;
    std::uint64_t elements = 0;
    std::optional<Origin> origin = std::nullopt;  // none: a stored value depends on its place alone
    std::optional<RowTable> rows_of = std::nullopt;  // none: elements
    std::uint64_t bytes() const { return elements * element_bytes; }
};

// The shared memory that every block has on every GPU since 2.0 without asking for more. Source:
// CUDA Programming Guide, "Technical Specifications per Compute Capability".
inline constexpr std::uint64_t shared_bytes_of_block = 48 << 10;

// The path of a load of global memory: ld.global, ld.global.nc (__ldg, the read-only path), or a
// fetch through a texture of linear memory (tex1Dfetch).
enum class LoadPath : std::uint8_t { ld, ldg, tex };

enum class ElementType : std::uint8_t {
    // clang-format off
    u8, u16, u32, u64, s8, s16, s32, s64, f16, bf16, f32, f64,
    u8x4, f16x2, bf16x2, u32x2, f32x2, u32x4, f32x4, f64x2, u32x8, f32x8, f64x4,
    // clang-format on
};

struct Instruction {
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
    std::uint32_t width_bytes = 4;  // bytes per lane, the formula's unit; element_bytes or wider
    std::uint32_t array = 0;        // index into Program::arrays
    Formula formula;
    // Stores only: the earlier load whose value is stored. None: the element's own value.
    std::optional<std::uint32_t> value_of = std::nullopt;
    bool after_barrier = false;  // the threads of the block wait for each other before it
    bool takes_all = false;  // each element of its array once, neighbours at about the same time
    LoadPath path = LoadPath::ld;  // how global memory is loaded
    // The type of its elements, of width_bytes. It decides how an atomic adds, but no traffic.
    ElementType type = ElementType::u32;
    // One lane of a warp sends an atomic for all, as core/program/combining.cpp says of kernels.
    bool one_lane_sends = false;
};

struct Program {
    std::vector<Array> arrays;
    std::vector<Instruction> instructions;  // the order is the program's
    std::uint64_t threads = 0;              // logical indices 0 .. threads-1, idle ones included
    std::uint32_t block = 256;       // logical indices of one block; its last warp may be partial
    std::uint64_t useful_bytes = 0;  // the algorithm's need: active lanes x width, in total
    // The reason why the kernels made for a GPU cannot do the same; empty: they can.
    std::string_view predicted_only = {};
};

// True if threads of a block hand values on to each other.
bool has_barrier(const Program& program);

// True if it loads pointers to rows, no elements.
bool is_pointer_load(const Program& program, const Instruction& instruction);

// The memory that an array lies in: that of the instructions that touch it.
Space space_of(const Program& program, std::uint32_t array);
// Shared memory of a block.
std::uint64_t shared_bytes_of(const Program& program);

// Random words that a thread computes for one element.
std::uint32_t hashes_of(const Formula& formula);

// True if an index takes a division by a number of the launch, or as many instructions otherwise:
// after dozens of them the warps of a block are less in step.
bool divides(const Formula& formula);

// The number of neighbouring blocks whose elements interleave, where each thread has `per_thread`,
// all of them: 1 where none do. Where every array is global, it does not matter which block touches
// what; without interleaving each block would store to one long stretch of memory, and long ones
// slow an H200 down (docs/measurements.md).
std::uint32_t blocks_in_turn(const Program& program, std::uint32_t per_thread);

// The arrays' positions: the byte address of element 0, one per Program::arrays. The model's counts
// are the same for any base that is aligned above the footprint, and its own placement is 0.
struct Placement {
    std::vector<std::uint64_t> base_addresses;
};

// The warp instruction `instruction` of the warp whose lane 0 has logical index `first_thread`;
// `lanes` of its lanes exist (32, or fewer in the last warp of a block or launch).
WarpAccess access_of_warp(const Program& program, const Placement& placement,
                          const Instruction& instruction, std::uint64_t first_thread,
                          std::uint32_t lanes);

}  // namespace coalprof
