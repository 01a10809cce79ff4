#include "core/json/json_tree.h"

namespace coalprof {

std::optional<Value> JsonView::value() const {
    const JsonTree::Node& node = tree_->nodes_[node_];
    std::optional<Value> value;
    switch (node.kind) {
        case JsonKind::null: value.emplace(); break;
        case JsonKind::flag: value.emplace(node.flag); break;
        case JsonKind::integer: value.emplace(node.integer); break;
        case JsonKind::natural: value.emplace(node.natural); break;
        case JsonKind::real: value.emplace(node.real); break;
        case JsonKind::text: value.emplace(tree_->view(node.text)); break;
        case JsonKind::list:
        case JsonKind::object: break;
    }
    return value;
}

std::optional<JsonView> JsonView::find(std::string_view name) const {
    if (!is_object()) return std::nullopt;
    for (const JsonView member : *this)
        if (member.name() == name) return member;
    return std::nullopt;
}

void JsonTree::clear() {
    nodes_.clear();
    text_.clear();
    open_.clear();
    name_ = {};
    last_ = 0;
}

bool JsonTree::keep(std::string_view text, Span& span) {
    if (text.size() > most_json_bytes - text_.size()) return false;
    span = {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text.size())};
    text_ += text;
    return true;
}

JsonTree::Node* JsonTree::append(JsonKind kind) {
    if (nodes_.size() == most_json_nodes) return nullptr;
    last_ = static_cast<std::uint32_t>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.kind = kind;
    node.name = name_;
    name_ = {};
    if (!open_.empty()) {
        Open& parent = open_.back();
        (parent.last == 0 ? nodes_[parent.node].first_item : nodes_[parent.last].next) = last_;
        parent.last = last_;
    }
    return &node;
}

bool JsonTree::add(std::nullptr_t) { return append(JsonKind::null) != nullptr; }
bool JsonTree::add(bool flag) {
    Node* node = append(JsonKind::flag);
    if (node) node->flag = flag;
    return node;
}
bool JsonTree::add(std::int64_t number) {
    Node* node = append(JsonKind::integer);
    if (node) node->integer = number;
    return node;
}
bool JsonTree::add(std::uint64_t number) {
    Node* node = append(JsonKind::natural);
    if (node) node->natural = number;
    return node;
}
bool JsonTree::add(double number) {
    Node* node = append(JsonKind::real);
    if (node) node->real = number;
    return node;
}
bool JsonTree::add(std::string_view text) {
    Span kept;
    Node* node = keep(text, kept) ? append(JsonKind::text) : nullptr;
    if (node) node->text = kept;
    return node;
}

bool JsonTree::open(JsonKind kind) {
    if (open_.size() == most_json_depth || !append(kind)) return false;
    nodes_[last_].first_item = 0;
    open_.push_back({last_, 0, text_.size()});
    return true;
}
bool JsonTree::open_object() { return open(JsonKind::object); }
bool JsonTree::open_list() { return open(JsonKind::list); }
bool JsonTree::put_name(std::string_view name) { return keep(name, name_); }

void JsonTree::close() {
    last_ = open_.back().node;
    open_.pop_back();
}

void JsonTree::drop_items() {
    Open& list = open_.back();
    nodes_.resize(list.node + 1);
    text_.resize(list.text_size);
    nodes_[list.node].first_item = 0;
    list.last = 0;
}

}  // namespace coalprof
