// The value of an expression while it is read, and C's arithmetic on it. Only for the files of this
// folder.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formula/node_tree.h"
#include "core/formula/operators.h"
#include "core/formula/value_types.h"
#include "core/text/error.h"

namespace coalprof {

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
