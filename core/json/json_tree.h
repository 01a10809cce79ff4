// A JSON value as a tree that is filled again and again: its nodes are in one block and its text in
// another, so that points cost no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"

namespace coalprof {

// The limits of a tree. A result's points are dropped one by one, so that these limit a point, or a
// document without them, and not the file.
inline constexpr std::size_t most_json_depth = 16;
inline constexpr std::size_t most_json_nodes = 1'000'000;
inline constexpr std::size_t most_json_bytes = 16u << 20;  // limit of names and text

enum class JsonKind : std::uint8_t { null, flag, integer, natural, real, text, list, object };

class JsonTree;

// One value of a tree. Valid until the tree grows or is cleared.
class JsonView {
 public:
    inline JsonKind kind() const;
    bool is_object() const { return kind() == JsonKind::object; }
    bool is_list() const { return kind() == JsonKind::list; }
    bool is_null() const { return kind() == JsonKind::null; }
    // Its name in the object that holds it; empty in a list.
    inline std::string_view name() const;

    // Its text, if it is a string.
    inline std::optional<std::string_view> text() const;
    inline std::optional<std::uint64_t> natural() const;  // an integer from 0 to 2^64-1
    inline std::optional<double> number() const;          // any number
    // Anything but a list or an object.
    std::optional<Value> value() const;

    // The member of this name; none if it is missing, or where this is no object.
    std::optional<JsonView> find(std::string_view name) const;

    // Its items, or its members.
    class Iterator;
    inline Iterator begin() const;
    inline Iterator end() const;

 private:
    friend class JsonTree;
    JsonView(const JsonTree& tree, std::uint32_t node) : tree_(&tree), node_(node) {}

    const JsonTree* tree_;
    std::uint32_t node_;
};

class JsonTree {
 public:
    void clear();
    // The value so far; the tree must not be empty.
    JsonView root() const { return {*this, 0}; }
    // The number of open lists and objects.
    std::size_t depth() const { return open_.size(); }
    // The value that was added or closed last.
    JsonView last() const { return {*this, last_}; }

    // Each adds one value: an item, or the member of the name that was put before it. False where
    // the tree has reached its limits.
    bool add(std::nullptr_t);
    bool add(bool flag);
    bool add(std::int64_t number);
    bool add(std::uint64_t number);
    bool add(double number);
    bool add(std::string_view text);
    bool open_object();
    bool open_list();
    bool put_name(std::string_view name);
    void close();
    // Drops the items of the open list, with their content.
    void drop_items();

 private:
    friend class JsonView;
    struct Span {
        std::uint32_t at = 0;  // place in text_
        std::uint32_t size = 0;
    };
    struct Node {
        JsonKind kind = JsonKind::null;
        Span name;
        std::uint32_t next = 0;  // next entry of the same list or object; 0: it is the last one
        union {
            bool flag;
            std::int64_t integer;
            std::uint64_t natural;
            double real;
            Span text;
            std::uint32_t first_item;  // first entry of a list or object; 0: it is empty
        };
        Node() : natural(0) {}
    };
    struct Open {
        std::uint32_t node = 0;
        std::uint32_t last = 0;     // its last item; 0: none
        std::size_t text_size = 0;  // when it was opened
    };

    bool keep(std::string_view text, Span& span);
    Node* append(JsonKind kind);
    bool open(JsonKind kind);
    std::string_view view(const Span& span) const {
        return std::string_view(text_).substr(span.at, span.size);
    }

    std::vector<Node> nodes_;
    std::string text_;
    std::vector<Open> open_;
    Span name_;
    std::uint32_t last_ = 0;
};

class JsonView::Iterator {
 public:
    using difference_type = std::ptrdiff_t;
    using value_type = JsonView;
    explicit Iterator(JsonView at) : at_(at) {}
    JsonView operator*() const { return at_; }
    Iterator& operator++() {
        at_.node_ = at_.tree_->nodes_[at_.node_].next;
        return *this;
    }
    Iterator operator++(int) {
        const Iterator before = *this;
        ++*this;
        return before;
    }
    // The root is in no list, so its place marks the end.
    bool operator==(const Iterator& other) const { return at_.node_ == other.at_.node_; }

 private:
    JsonView at_;
};

// Called some hundred times for every point of a file.
inline JsonKind JsonView::kind() const { return tree_->nodes_[node_].kind; }
inline std::string_view JsonView::name() const { return tree_->view(tree_->nodes_[node_].name); }

inline std::optional<std::string_view> JsonView::text() const {
    const JsonTree::Node& node = tree_->nodes_[node_];
    if (node.kind != JsonKind::text) return std::nullopt;
    return tree_->view(node.text);
}

inline std::optional<std::uint64_t> JsonView::natural() const {
    const JsonTree::Node& node = tree_->nodes_[node_];
    if (node.kind != JsonKind::natural) return std::nullopt;
    return node.natural;
}

inline std::optional<double> JsonView::number() const {
    const JsonTree::Node& node = tree_->nodes_[node_];
    if (node.kind == JsonKind::natural) return static_cast<double>(node.natural);
    if (node.kind == JsonKind::integer) return static_cast<double>(node.integer);
    if (node.kind == JsonKind::real) return node.real;
    return std::nullopt;
}

inline JsonView::Iterator JsonView::begin() const {
    const bool has_items = is_object() || is_list();
    return Iterator({*tree_, has_items ? tree_->nodes_[node_].first_item : 0});
}
inline JsonView::Iterator JsonView::end() const { return Iterator({*tree_, 0}); }

}  // namespace coalprof
