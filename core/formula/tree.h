// An index formula as a tree, made by the parser and walked by every reader (evaluator, emitter,
// analysis, explanation). All nodes are in one vector, children before parents and every subtree in
// one piece, so that readers are loops and no input decides how deep a call stack grows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/access/warp_access.h"
#include "core/pattern/array_text.h"
#include "core/pattern/plan.h"

namespace coalprof {

// The largest formula that is accepted, documented in docs/formula.md.
inline constexpr std::size_t max_formula_bytes = 4096;
inline constexpr std::size_t max_formula_depth = 64;
inline constexpr std::size_t max_formula_nodes = 512;
inline constexpr std::size_t max_formula_accesses = 16;
// Numbers, names and operators times elements a thread: each of them is code, and a kernel of twice
// as many takes more than twice as long to compile (512 x 4: 1.6 to 3.2 s on 2 busy cores, 512 x 8:
// up to 10 s; NVRTC 13.0, sm_90, 2026-11-21, tests/kernels/largest_formula_test.cpp).
inline constexpr std::size_t max_formula_code = 2048;
inline constexpr std::size_t max_formula_name_bytes = 32;

enum class NodeKind : std::uint8_t {
    // clang-format off
    literal, parameter, variable,
    negate, complement, logical_not, absolute, population, leading_zeros, reversed, lookup,
    multiply, divide, remainder, add, subtract, shift_left, shift_right,
    less, less_equal, greater, greater_equal, equal, not_equal,
    bit_and, bit_xor, bit_or, minimum, maximum,
    logical_and, logical_or, conditional, hash,
    // clang-format on
};

// The names a formula may use without declaring them. `warp` is the warp within its block and
// `lane` the lane within its warp, as threadIdx.x / 32 and threadIdx.x % 32 are in a 1-D block.
enum class Variable : std::uint8_t {
    // clang-format off
    i, n, tid, bid, lane, warp, bdim, gdim,
    tid_x, tid_y, tid_z, bid_x, bid_y, bid_z,
    bdim_x, bdim_y, bdim_z, gdim_x, gdim_y, gdim_z,
    // clang-format on
};
inline constexpr std::size_t variable_count = static_cast<std::size_t>(Variable::gdim_z) + 1;
std::string_view name_of(Variable variable);
// False: a compiler knows that the lanes of a warp have the same value.
constexpr bool is_of_thread(Variable variable) {
    return variable == Variable::i || variable == Variable::tid || variable == Variable::lane ||
           variable == Variable::warp ||
           (variable >= Variable::tid_x && variable <= Variable::tid_z);
}

using NodeId = std::uint32_t;

struct Node {
    NodeKind kind = NodeKind::literal;
    std::uint8_t depth = 1;   // depth of its subtree
    std::uint16_t begin = 0;  // its text: [begin, end)
    std::uint16_t end = 0;
    std::uint16_t at = 0;  // place of its operator, where a caret belongs
    NodeId first = 0;      // its subtree is the nodes first .. its own
    std::array<NodeId, 3> children{};
    std::int64_t value = 0;  // value of a literal; else number of the parameter, Variable or table
};

// True if both trees mean the same, wherever they are in the text.
bool is_same_subtree(const std::vector<Node>& a, NodeId root_of_a, const std::vector<Node>& b,
                     NodeId root_of_b);

constexpr std::size_t child_count(NodeKind kind) {
    if (kind <= NodeKind::variable) return 0;
    if (kind <= NodeKind::lookup) return 1;
    return kind < NodeKind::conditional ? 2 : 3;
}
// True if it evaluates some of its operands depending on others.
constexpr bool is_lazy(NodeKind kind) {
    return kind == NodeKind::logical_and || kind == NodeKind::logical_or ||
           kind == NodeKind::conditional;
}

// One index of an array with declared extents, which stays below its extent.
struct FormulaBound {
    NodeId index = 0;
    std::uint64_t extent = 0;
};

// One memory instruction: array[index] if condition.
struct FormulaAccess {
    std::optional<AccessKind> kind;   // none: --op decides
    Space space = Space::global;      // global or shared
    std::optional<ElementType> type;  // none: --type decides
    std::string array = "a";
    NodeId index = 0;
    std::optional<NodeId> condition;  // lanes where it is zero are idle
    std::vector<FormulaBound> bounds = {};
    std::uint16_t begin = 0;  // its text, prefix included: [begin, end)
    std::uint16_t end = 0;
    std::uint16_t index_begin = 0;  // the index within it; the same twice: i, not written
    std::uint16_t index_end = 0;
    bool is_written_whole = false;      // the text of the whole: a[j][i]
    std::uint16_t condition_begin = 0;  // "if ..." of its statement, where that was written
    std::uint16_t condition_end = 0;
    bool is_bare_comparison = false;
};

// An array that was declared beside the formula: --array.
struct DeclaredArray {
    std::string name;
    std::optional<ElementType> type;     // none: --type's
    std::vector<std::uint64_t> extents;  // empty: one, as long as needed
    std::vector<std::uint64_t> strides;  // distances in elements, one for each extent
    bool is_fortran = false;             // x(i, j), from 1 on
    // Its content, where its values make indices: numbers from a file, or a rule.
    std::shared_ptr<const std::vector<std::int64_t>> values;
    using Rule = ArrayRule;
    Rule rule = Rule::none;
    std::uint64_t seed = 1;
};

struct FormulaContext {
    std::vector<std::string> parameters;  // the names given by --var; require_parameter_name()
    std::vector<DeclaredArray> arrays = {};
};

struct ParsedFormula {
    std::string text;                     // the text as the user typed it
    std::vector<std::string> parameters;  // names, in the order their values are given
    std::vector<bool> uses_parameter;     // which of them occur
    std::vector<Node> nodes;
    std::vector<FormulaAccess> accesses;
    std::vector<DeclaredArray> arrays = {};  // a lookup node has the number of one
    bool is_of_catalog = false;              // a pattern's: nobody typed it, and it is not shown

    std::string_view text_of(const Node& node) const {
        return std::string_view(text).substr(node.begin, std::size_t{node.end} - node.begin);
    }
};

// Text to tree. Throws UsageError with the text, a caret and a hint.
ParsedFormula read_formula(std::string_view text, const FormulaContext& context);
ParsedFormula parse_formula(std::string_view text, const std::vector<std::string>& parameters);

// An array as --array declares it: "in=f32[2048][2048]", "col=@col.npy". Throws UsageError.
DeclaredArray read_declared_array(const std::string& typed);

// Throws UsageError where `name` cannot be a parameter: not a name, too long, or taken.
void require_parameter_name(std::string_view name);

}  // namespace coalprof
