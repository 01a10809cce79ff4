// Expressions while they are read: each a tree of its own, put together from those of its parts;
// its value, the types that casts name, and C's arithmetic. Only for the files of this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formula/operators.h"
#include "core/formula/tree.h"
#include "core/text/error.h"

namespace coalprof {

// Children before parents, the root last; numbered from 0.
using NodeTree = std::vector<Node>;

// A part of the formula's text: [begin, end).
struct TextSpan {
    std::size_t begin = 0;
    std::size_t end = 0;
};

NodeTree leaf(NodeKind kind, std::int64_t value, TextSpan span);

// Makes trees of one text. Throws UsageError, with the text, for one that is too deep or too large.
class TreeMaker {
 public:
    explicit TreeMaker(std::string_view text) : text_(text) {}

    // `at` is the place of the operator.
    NodeTree combined(NodeKind kind, std::size_t at, TextSpan span,
                      std::initializer_list<const NodeTree*> children,
                      std::int64_t value = 0) const;
    // tree op number
    NodeTree with_number(NodeKind kind, const NodeTree& tree, std::int64_t number) const;
    NodeTree negated(const NodeTree& tree) const;
    // An empty one is met by all threads.
    NodeTree both(const NodeTree& a, const NodeTree& b) const;
    NodeTree masked(const NodeTree& tree, std::uint32_t bits) const;
    // Adds the tree to the formula.
    NodeId append(const NodeTree& tree, std::vector<Node>& nodes) const;

 private:
    std::string_view text_;
};

// The types of C that an index expression names: casts convert to them, sizeof asks for their size.
struct ValueType {
    std::uint32_t bytes = 0;
    bool is_integer = false;  // its values may make an index
    bool is_signed = true;
};

// "float4", "size_t", "unsigned long long": words with a blank between them; also f32x4, u64x2 and
// the like, as --type has them.
std::optional<ValueType> find_value_type(std::string_view words);

// True if a type may begin with the word: "unsigned", "const", "float4".
bool begins_type(std::string_view word);

// C's arithmetic on a whole number: in 64 bits, as 32 unsigned bits that wrap around, or as its
// author left open.
enum class Arithmetic : std::uint8_t { plain, word, wide };

struct ReadValue {
    enum class Kind : std::uint8_t {
        number,   // tree
        data,     // unknown: an element of an array, a fraction
        rows,     // a name that may be one, or the rows of one
        element,  // an element of `array` that is not loaded yet
    };
    Kind kind = Kind::data;
    TextSpan span = {};

    NodeTree tree = {};          // the value; of elements and rows the index so far
    bool is_comparison = false;  // not in parentheses
    std::size_t sign_at = 0;     // place of its operator
    Arithmetic arithmetic = Arithmetic::plain;
    bool wraps = false;  // the tree's low 32 bits are meant

    std::shared_ptr<const UsageError> why = nullptr;  // thrown where a number is needed

    std::string_view array = {};
    std::size_t indices = 0;  // that it has so far
    TextSpan index = {};      // the text in the brackets, of one pair
    // The indices of a declared array so far, with their extents.
    std::vector<std::pair<NodeTree, std::uint64_t>> within = {};

    bool is(Kind wanted) const { return kind == wanted; }
};

ReadValue number_value(NodeTree tree, TextSpan span);
ReadValue data_value(TextSpan span, const UsageError& why);

// The tree of a number; of others throws `why`.
NodeTree whole(const ReadValue& value, const TreeMaker& trees);

// left op right; of others than two numbers data.
ReadValue binary(const OperatorInfo& info, std::size_t at, const ReadValue& left,
                 const ReadValue& right, const TreeMaker& trees);

// (type)value. `no_index` is the error where a value of a type without whole numbers is an index.
ReadValue converted(ReadValue value, const ValueType& type, const TreeMaker& trees,
                    const UsageError& no_index);

}  // namespace coalprof
