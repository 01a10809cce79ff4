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
        (parent.last == 0 ? nodes_[parent.node].items.first : nodes_[parent.last].next) = last_;
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
    nodes_[last_].items = {0, 0};
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

JsonTree::Mark JsonTree::mark() const {
    const Open& here = open_.back();
    return {static_cast<std::uint32_t>(nodes_.size()) - here.node - 1,
            static_cast<std::uint32_t>(text_.size() - here.text_size),
            here.last == 0 ? 0 : here.last - here.node};
}

void JsonTree::keep_open(Kept& kept) const {
    const Open& here = open_.back();
    kept.nodes_.assign(nodes_.begin() + here.node + 1, nodes_.end());
    kept.text_.assign(text_, here.text_size);
    kept.node_ = here.node;
    kept.text_at_ = static_cast<std::uint32_t>(here.text_size);
}

// Unsigned, so that shifts to the front wrap around.
void JsonTree::shift(Node& node, std::uint32_t nodes, std::uint32_t text_bytes) {
    const auto shift_text = [&](Span& span) {
        span.at = span.size == 0 ? 0 : span.at + text_bytes;
    };
    shift_text(node.name);
    if (node.next != 0) node.next += nodes;
    if (node.kind == JsonKind::text) shift_text(node.text);
    const bool has_items = node.kind == JsonKind::list || node.kind == JsonKind::object;
    if (has_items && node.items.first != 0) node.items.first += nodes;
}

bool JsonTree::repeat(const Kept& kept, const Mark& mark) {
    if (mark.nodes > most_json_nodes - nodes_.size() ||
        mark.text_bytes > most_json_bytes - text_.size())
        return false;
    if (mark.nodes == 0) return true;
    Open& here = open_.back();
    const auto text_at = static_cast<std::uint32_t>(text_.size());
    text_.append(kept.text_, 0, mark.text_bytes);
    const std::size_t from = nodes_.size();
    nodes_.insert(nodes_.end(), kept.nodes_.begin(), kept.nodes_.begin() + mark.nodes);
    for (std::size_t i = from; i < nodes_.size(); ++i)
        shift(nodes_[i], here.node - kept.node_, text_at - kept.text_at_);
    nodes_[here.node].items.first = here.node + 1;
    here.last = here.node + mark.last;
    nodes_[here.last].next = 0;
    last_ = here.last;
    return true;
}

void JsonTree::set_content(std::uint32_t content) {
    nodes_[open_.back().node].items.content = content;
}

void JsonTree::drop_items() {
    Open& list = open_.back();
    nodes_.resize(list.node + 1);
    text_.resize(list.text_size);
    nodes_[list.node].items = {0, 0};
    list.last = 0;
}

}  // namespace coalprof
