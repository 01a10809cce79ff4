#include "core/pattern/plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace coalprof {
namespace {

template <typename Enum, std::size_t N>
using Names = std::array<std::pair<Enum, std::string_view>, N>;

constexpr Names<Op, 7> op_names{{{Op::load, "load"},
                                 {Op::store, "store"},
                                 {Op::rmw, "rmw"},
                                 {Op::copy, "copy"},
                                 {Op::add, "add"},
                                 {Op::atomic, "atomic"},
                                 {Op::reduce, "reduce"}}};
constexpr Names<ElementType, 9> type_names{{{ElementType::u8, "u8"},
                                            {ElementType::u16, "u16"},
                                            {ElementType::u32, "u32"},
                                            {ElementType::u64, "u64"},
                                            {ElementType::f32, "f32"},
                                            {ElementType::f64, "f64"},
                                            {ElementType::f32x2, "f32x2"},
                                            {ElementType::f32x4, "f32x4"},
                                            {ElementType::f64x2, "f64x2"}}};
constexpr Names<LoadModifier, 4> load_modifier_names{{{LoadModifier::ca, "ca"},
                                                      {LoadModifier::cg, "cg"},
                                                      {LoadModifier::cs, "cs"},
                                                      {LoadModifier::cv, "cv"}}};
constexpr Names<StoreModifier, 4> store_modifier_names{{{StoreModifier::wb, "wb"},
                                                        {StoreModifier::cg, "cg"},
                                                        {StoreModifier::cs, "cs"},
                                                        {StoreModifier::wt, "wt"}}};

constexpr Names<Allocation, 4> allocation_names{{{Allocation::device, "device"},
                                                 {Allocation::static_array, "static"},
                                                 {Allocation::managed, "managed"},
                                                 {Allocation::host, "host"}}};
constexpr Names<LoadPath, 3> load_path_names{
    {{LoadPath::ld, "ld"}, {LoadPath::ldg, "ldg"}, {LoadPath::tex, "tex"}}};

template <typename Enum, std::size_t N>
std::string_view name_in(const Names<Enum, N>& names, Enum wanted) {
    return std::find_if(names.begin(), names.end(),
                        [&](const auto& entry) { return entry.first == wanted; })
        ->second;
}

template <typename Enum, std::size_t N>
std::optional<Enum> find_in(const Names<Enum, N>& names, std::string_view wanted) {
    for (const auto& [value, name] : names)
        if (name == wanted) return value;
    return std::nullopt;
}

template <typename Enum, std::size_t N>
std::vector<std::string_view> list_of(const Names<Enum, N>& names) {
    std::vector<std::string_view> list;
    for (const auto& entry : names) list.push_back(entry.second);
    return list;
}

}  // namespace

std::uint32_t bytes_of(ElementType type) {
    switch (type) {
        case ElementType::u8:
            return 1;
        case ElementType::u16:
            return 2;
        case ElementType::u32:
        case ElementType::f32:
            return 4;
        case ElementType::u64:
        case ElementType::f64:
        case ElementType::f32x2:
            return 8;
        case ElementType::f32x4:
        case ElementType::f64x2:
            return 16;
    }
    return 0;
}

std::string_view name_of(Op op) { return name_in(op_names, op); }
std::string_view name_of(ElementType type) { return name_in(type_names, type); }
std::string_view name_of(LoadModifier modifier) { return name_in(load_modifier_names, modifier); }
std::string_view name_of(StoreModifier modifier) { return name_in(store_modifier_names, modifier); }
std::optional<Op> find_op(std::string_view name) { return find_in(op_names, name); }
std::optional<ElementType> find_element_type(std::string_view name) {
    return find_in(type_names, name);
}
std::optional<LoadModifier> find_load_modifier(std::string_view name) {
    return find_in(load_modifier_names, name);
}
std::optional<StoreModifier> find_store_modifier(std::string_view name) {
    return find_in(store_modifier_names, name);
}
std::string_view name_of(Allocation allocation) { return name_in(allocation_names, allocation); }
std::string_view name_of(LoadPath path) { return name_in(load_path_names, path); }
std::optional<Allocation> find_allocation(std::string_view name) {
    return find_in(allocation_names, name);
}
std::optional<LoadPath> find_load_path(std::string_view name) {
    return find_in(load_path_names, name);
}
std::vector<std::string_view> op_list() { return list_of(op_names); }
std::vector<std::string_view> element_type_list() { return list_of(type_names); }
std::vector<std::string_view> load_modifier_list() { return list_of(load_modifier_names); }
std::vector<std::string_view> store_modifier_list() { return list_of(store_modifier_names); }
std::vector<std::string_view> allocation_list() { return list_of(allocation_names); }
std::vector<std::string_view> load_path_list() { return list_of(load_path_names); }

std::string size_as_typed(const LaunchShape& shape) {
    return shape.size_text.empty() ? std::to_string(shape.size_bytes) : shape.size_text;
}

}  // namespace coalprof
