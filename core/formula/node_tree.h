// Expressions while they are read: each a tree of its own, put together from those of its parts.
// Only for the files of this folder.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "core/formula/tree.h"

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

}  // namespace coalprof
