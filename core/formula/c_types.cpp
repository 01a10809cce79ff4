#include "core/formula/c_types.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/pattern/plan.h"

namespace coalprof {
namespace {

struct ScalarWords {
    std::string_view words;  // several with a comma between them
    ElementType element;
    bool is_integer = true;
    bool is_signed = true;
};
// sizeof and signedness on the GPU, where long has 64 bits.
constexpr std::array<ScalarWords, 14> scalars{{
    {"int,signed,signed int,int32_t", ElementType::s32},
    {"unsigned,unsigned int,uint,uint32_t,u32", ElementType::u32, true, false},
    {"long,long int,long long,long long int,signed long,int64_t,ptrdiff_t,ssize_t,intptr_t",
     ElementType::s64},
    {"unsigned long,unsigned long int,unsigned long long,unsigned long long int,uint64_t,size_t,"
     "ulong,uintptr_t",
     ElementType::u64, true, false},
    {"short,short int,int16_t", ElementType::s16},
    {"unsigned short,unsigned short int,ushort,uint16_t", ElementType::u16, true, false},
    {"char,signed char,int8_t", ElementType::s8},
    {"unsigned char,uchar,uint8_t,bool", ElementType::u8, true, false},
    {"float", ElementType::f32, false},
    {"double", ElementType::f64, false},
    {"half,__half,_Float16", ElementType::f16, false},
    {"__nv_bfloat16,nv_bfloat16,bfloat16", ElementType::bf16, false},
    {"half2,__half2", ElementType::f16x2, false},
    {"__nv_bfloat162,nv_bfloat162", ElementType::bf16x2, false},
}};

struct VectorFamily {
    std::string_view name;     // float2, float3, ...
    std::string_view element;  // of a member
};
constexpr std::array<VectorFamily, 12> families{{{"float", "float"},
                                                 {"double", "double"},
                                                 {"int", "int"},
                                                 {"uint", "unsigned"},
                                                 {"char", "char"},
                                                 {"uchar", "unsigned char"},
                                                 {"short", "short"},
                                                 {"ushort", "unsigned short"},
                                                 {"long", "long"},
                                                 {"ulong", "unsigned long"},
                                                 {"longlong", "long long"},
                                                 {"ulonglong", "unsigned long long"}}};

// Types of one width have the same traffic.
std::optional<ElementType> access_of(std::uint64_t bytes, std::uint64_t member_bytes) {
    switch (bytes) {
        case 2: return ElementType::u16;
        case 4: return ElementType::u8x4;
        case 8: return member_bytes == 4 ? ElementType::f32x2 : ElementType::u32x2;
        case 16: return member_bytes == 8 ? ElementType::f64x2 : ElementType::f32x4;
        default: return std::nullopt;
    }
}

constexpr std::array<std::string_view, 21> qualifiers{
    "const",        "constexpr",    "volatile",       "static",       "register",   "inline",
    "extern",       "mutable",      "__restrict",     "restrict",     "__device__", "__shared__",
    "struct",       "typename",     "__global__",     "__constant__", "__host__",   "__inline__",
    "__restrict__", "__noinline__", "__forceinline__"};

bool is_word_of_integer(std::string_view word) {
    return word == "unsigned" || word == "signed" || word == "long" || word == "short" ||
           word == "int" || word == "char";
}

}  // namespace

bool is_qualifier(std::string_view word) {
    return std::ranges::find(qualifiers, word) != qualifiers.end();
}

CTypes::CTypes(ElementType usual_element) {
    CType first;
    first.name = "--type";
    first.size_bytes = bytes_of(usual_element);
    first.align_bytes = bytes_of(usual_element);
    types_.push_back(first);
    CType nothing;
    nothing.name = "void";
    nothing.size_bytes = 1;
    types_.push_back(nothing);
    for (const ScalarWords& one : scalars) {
        std::string_view rest = one.words;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            add_scalar(rest.substr(0, end), one.element, one.is_integer, one.is_signed);
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    for (const VectorFamily& family : families) {
        const CTypeId element = *find(family.element);
        std::vector<CMember> members;
        for (const char* name : {"x", "y", "z", "w"}) {
            members.push_back({name, element, 0});
            if (members.size() == 1) continue;
            CType& type = types_[add_structure(
                std::string(family.name) + std::to_string(members.size()), members)];
            if (members.size() == 3) continue;  // loaded member by member
            type.element = access_of(type.size_bytes, at(element).size_bytes);
            type.align_bytes =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(16, type.size_bytes));
            if (type.element) type.kind = CType::Kind::scalar;
        }
    }
    built_in_ = types_.size();
}

void CTypes::add_scalar(std::string_view words, ElementType element, bool is_integer,
                        bool is_signed) {
    CType type;
    type.name = words;
    type.size_bytes = bytes_of(element);
    type.align_bytes = bytes_of(element);
    type.element = element;
    type.is_integer = is_integer;
    type.is_signed = is_signed;
    add(std::move(type));
}

CTypeId CTypes::add(CType type) {
    types_.push_back(std::move(type));
    return types_.size() - 1;
}

std::optional<CTypeId> CTypes::find(std::string_view words) const {
    for (const auto& [name, id] : aliases_)
        if (name == words) return id;
    for (CTypeId id = none; id < types_.size(); ++id)
        if (types_[id].name == words) return id;
    // f32x4, u64x2 and the like, as --type has them
    if (const auto element = find_element_type(words)) return type_of(*element);
    return std::nullopt;
}

bool CTypes::begins_type(std::string_view word) const {
    return is_qualifier(word) || is_word_of_integer(word) || word == "auto" ||
           find(word).has_value();
}

CTypeId CTypes::pointer_to(CTypeId inner) {
    CType type;
    type.kind = CType::Kind::pointer;
    type.name = at(inner).name + "*";
    type.size_bytes = 8;
    type.align_bytes = 8;
    type.element = ElementType::u64;
    type.inner = inner;
    return add(std::move(type));
}

CTypeId CTypes::array_of(CTypeId inner, std::uint64_t count) {
    CType type;
    type.kind = CType::Kind::array;
    type.name = at(inner).name + "[]";
    type.size_bytes = at(inner).size_bytes * count;
    type.align_bytes = at(inner).align_bytes;
    type.inner = inner;
    return add(std::move(type));
}

CTypeId CTypes::add_structure(std::string name, std::vector<CMember> members) {
    CType type;
    type.kind = CType::Kind::structure;
    type.name = std::move(name);
    std::uint64_t end = 0;
    for (CMember& member : members) {
        const CType& own = at(member.type);
        end = (end + own.align_bytes - 1) / own.align_bytes * own.align_bytes;
        member.offset_bytes = static_cast<std::uint32_t>(end);
        end += own.size_bytes;
        type.align_bytes = std::max(type.align_bytes, own.align_bytes);
    }
    type.size_bytes = (end + type.align_bytes - 1) / type.align_bytes * type.align_bytes;
    type.members = std::move(members);
    return add(std::move(type));
}

std::optional<CTypeId> CTypes::structure_with(std::string_view member) const {
    std::optional<CTypeId> found;
    // x is a member of float3, too: built-in types are only used where they are named.
    for (CTypeId id = built_in_; id < types_.size(); ++id) {
        if (types_[id].kind != CType::Kind::structure || member_of(id, member) == nullptr) continue;
        if (found) return std::nullopt;
        found = id;
    }
    return found;
}

const CMember* CTypes::member_of(CTypeId type, std::string_view name) const {
    for (const CMember& member : at(type).members)
        if (member.name == name) return &member;
    return nullptr;
}

std::uint32_t CTypes::grain_of(CTypeId type) const {
    const CType* one = &at(type);
    while (one->kind == CType::Kind::array) one = &at(one->inner);
    return one->kind == CType::Kind::structure ? one->align_bytes
                                               : static_cast<std::uint32_t>(one->size_bytes);
}

bool CTypes::is_number(CTypeId type) const {
    const CType& own = at(type);
    return own.element && *own.element <= ElementType::f64 && own.members.empty();
}

CTypeId CTypes::component_of(CTypeId type) const {
    const CType& own = at(type);
    if (own.element == ElementType::f16x2) return type_of(ElementType::f16);
    if (own.element == ElementType::bf16x2) return type_of(ElementType::bf16);
    return own.kind == CType::Kind::scalar && !own.members.empty() ? own.members.front().type
                                                                   : none;
}

CTypeId CTypes::unit_of_copy(CTypeId structure) const {
    const std::uint32_t bytes = at(structure).align_bytes;
    const CType* first = &at(structure);
    CTypeId id = structure;
    while (!first->element && (first->kind == CType::Kind::array || !first->members.empty())) {
        id = first->kind == CType::Kind::array ? first->inner : first->members.front().type;
        first = &at(id);
    }
    if (first->size_bytes == bytes) return id;
    return type_of(bytes == 1   ? ElementType::u8
                   : bytes == 2 ? ElementType::u16
                   : bytes == 4 ? ElementType::u32
                   : bytes == 8 ? ElementType::u64
                                : ElementType::u32x4);
}

CTypeId CTypes::type_of(ElementType element) const {
    for (CTypeId id = none + 1; id < types_.size(); ++id)
        if (types_[id].element == element && types_[id].kind == CType::Kind::scalar) return id;
    return usual;
}

}  // namespace coalprof
