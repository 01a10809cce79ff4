#include "core/formula/value_types.h"

#include <array>

#include "core/pattern/plan.h"

namespace coalprof {
namespace {

// Sizes on the GPU, where long has 64 bits. Names are separated by commas.
struct NamedType {
    std::string_view names;
    ValueType type;
};
constexpr std::array<NamedType, 13> named_types{{
    {"int,signed,signed int,int32_t", {4, true}},
    {"unsigned,unsigned int,uint,uint32_t", {4, true, false}},
    {"long,long int,long long,long long int,signed long,int64_t,ptrdiff_t,ssize_t,intptr_t",
     {8, true}},
    {"unsigned long,unsigned long int,unsigned long long,unsigned long long int,uint64_t,size_t,"
     "ulong,uintptr_t",
     {8, true, false}},
    {"short,short int,int16_t", {2, true}},
    {"unsigned short,unsigned short int,ushort,uint16_t", {2, true, false}},
    {"char,signed char,int8_t", {1, true}},
    {"unsigned char,uchar,uint8_t,bool", {1, true, false}},
    {"float", {4}},
    {"double", {8}},
    {"half,__half,_Float16,__nv_bfloat16,nv_bfloat16", {2}},
    {"half2,__half2,__nv_bfloat162,nv_bfloat162", {4}},
    {"void", {}},
}};

bool lists(std::string_view names, std::string_view name) {
    for (std::size_t at = names.find(name); at != names.npos; at = names.find(name, at + 1)) {
        const std::size_t end = at + name.size();
        const bool begins = at == 0 || names[at - 1] == ',';
        if (begins && (end == names.size() || names[end] == ',')) return true;
    }
    return false;
}

// float3, uchar4, longlong2
std::optional<ValueType> find_vector(std::string_view name) {
    constexpr std::string_view families =
        "float,double,int,uint,char,uchar,short,ushort,long,ulong,longlong,ulonglong";
    const char count = name.empty() ? '\0' : name.back();
    if (count < '1' || count > '4') return std::nullopt;
    name.remove_suffix(1);
    if (!lists(families, name)) return std::nullopt;
    const auto element = find_value_type(name == "longlong" || name == "ulonglong" ? "long" : name);
    return ValueType{element->bytes * static_cast<std::uint32_t>(count - '0'), false};
}

}  // namespace

std::optional<ValueType> find_value_type(std::string_view words) {
    for (const auto& [names, type] : named_types)
        if (lists(names, words)) return type;
    if (const auto vector = find_vector(words)) return vector;
    if (const auto element = find_element_type(words)) {
        const bool is_whole = (words[0] == 'u' || words[0] == 's') && words.find('x') == words.npos;
        return ValueType{bytes_of(*element), is_whole, words[0] != 'u'};
    }
    return std::nullopt;
}

bool begins_type(std::string_view word) {
    return word == "const" || find_value_type(word).has_value();
}

}  // namespace coalprof
