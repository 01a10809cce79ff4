// A JSON value that is read while it is put together, within limits. A result's points are dropped
// one by one, so that these limit a point, or a document without them, and not the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "core/json/value.h"

namespace coalprof {

inline constexpr std::size_t most_json_depth = 16;
inline constexpr std::size_t most_json_nodes = 1'000'000;
inline constexpr std::size_t most_json_bytes = 16u << 20;  // limit of names and text

// One value of a document. Valid until the document grows or is dropped.
class JsonView {
 public:
    explicit JsonView(const nlohmann::ordered_json& node, std::string_view name = {})
        : node_(&node), name_(name) {}
    bool is_object() const;
    bool is_list() const;
    bool is_null() const;
    // Its name in the object that holds it; empty in a list.
    std::string_view name() const { return name_; }

    // Its text, if it is a string.
    std::optional<std::string_view> text() const;
    std::optional<std::uint64_t> natural() const;  // an integer from 0 to 2^64-1
    std::optional<double> number() const;          // any number
    // Anything but a list or an object.
    std::optional<Value> value() const;

    // The member of this name; none if it is missing, or where this is no object.
    std::optional<JsonView> find(std::string_view name) const;

    // Its items, or its members.
    class Iterator;
    inline Iterator begin() const;
    inline Iterator end() const;

 private:
    std::size_t size() const;  // 0: no list or object
    JsonView at(std::size_t index) const;

    const nlohmann::ordered_json* node_;
    std::string_view name_;
};

class JsonView::Iterator {
 public:
    using difference_type = std::ptrdiff_t;
    using value_type = JsonView;
    Iterator(const JsonView& in, std::size_t index) : in_(in), index_(index) {}
    JsonView operator*() const { return in_.at(index_); }
    Iterator& operator++() {
        ++index_;
        return *this;
    }
    Iterator operator++(int) { return {in_, index_++}; }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

 private:
    JsonView in_;
    std::size_t index_;
};

inline JsonView::Iterator JsonView::begin() const { return {*this, 0}; }
inline JsonView::Iterator JsonView::end() const { return {*this, size()}; }

}  // namespace coalprof
