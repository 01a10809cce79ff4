#include "core/json/json_tree.h"

#include <nlohmann/json.hpp>

namespace coalprof {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

bool JsonView::is_object() const { return node_->is_object(); }
bool JsonView::is_list() const { return node_->is_array(); }
bool JsonView::is_null() const { return node_->is_null(); }

std::optional<std::string_view> JsonView::text() const {
    const auto* text = node_->get_ptr<const std::string*>();
    return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

std::optional<std::uint64_t> JsonView::natural() const {
    const auto* number = node_->get_ptr<const std::uint64_t*>();
    return number ? std::optional(*number) : std::nullopt;
}

std::optional<double> JsonView::number() const {
    return node_->is_number() ? std::optional(node_->get<double>()) : std::nullopt;
}

std::optional<Value> JsonView::value() const {
    switch (node_->type()) {
        case Json::value_t::null: return Value();
        case Json::value_t::boolean: return Value(node_->get<bool>());
        case Json::value_t::number_integer: return Value(node_->get<std::int64_t>());
        case Json::value_t::number_unsigned: return Value(node_->get<std::uint64_t>());
        case Json::value_t::number_float: return Value(node_->get<double>());
        case Json::value_t::string: return Value(*text());
        default: return std::nullopt;
    }
}

std::optional<JsonView> JsonView::find(std::string_view name) const {
    if (is_object())
        for (const auto& [key, member] : node_->get_ref<const Json::object_t&>())
            if (key == name) return JsonView(member, key);
    return std::nullopt;
}

std::size_t JsonView::size() const { return node_->is_structured() ? node_->size() : 0; }

JsonView JsonView::at(std::size_t index) const {
    if (is_list()) return JsonView((*node_)[index]);
    const auto& [key, member] =
        node_->get_ref<const Json::object_t&>().begin()[static_cast<std::ptrdiff_t>(index)];
    return JsonView(member, key);
}

}  // namespace coalprof
