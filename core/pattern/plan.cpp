#include "core/pattern/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

// In the order of the enumeration.
struct TypeInfo {
    ElementType type;
    std::string_view name;
    std::uint32_t bytes;
    // The names of CUDA and NumPy, and vectors that differ from this in width only; with blanks
    // between.
    std::string_view other_names;
};
constexpr std::array<TypeInfo, 23> types{{
    {ElementType::u8, "u8", 1, "uchar uint8_t bool uint8"},
    {ElementType::u16, "u16", 2, "ushort uint16_t uint16 u8x2"},
    {ElementType::u32, "u32", 4, "uint unsigned uint32_t uint32 u16x2"},
    {ElementType::u64, "u64", 8, "uint64_t size_t ulong ulonglong uint64"},
    {ElementType::s8, "s8", 1, "char schar int8_t int8"},
    {ElementType::s16, "s16", 2, "short int16_t int16"},
    {ElementType::s32, "s32", 4, "int int32_t int32"},
    {ElementType::s64, "s64", 8, "long int64_t longlong int64"},
    {ElementType::f16, "f16", 2, "half __half float16"},
    {ElementType::bf16, "bf16", 2, "__nv_bfloat16 nv_bfloat16 bfloat16"},
    {ElementType::f32, "f32", 4, "float float32"},
    {ElementType::f64, "f64", 8, "double float64"},
    {ElementType::u8x4, "u8x4", 4, "uchar4 char4"},
    {ElementType::f16x2, "f16x2", 4, "half2 __half2"},
    {ElementType::bf16x2, "bf16x2", 4, "__nv_bfloat162 nv_bfloat162"},
    {ElementType::u32x2, "u32x2", 8, "uint2 int2 u8x8 u16x4 f16x4 bf16x4"},
    {ElementType::f32x2, "f32x2", 8, "float2 complex64"},
    {ElementType::u32x4, "u32x4", 16, "uint4 int4 u8x16 u16x8 f16x8 bf16x8"},
    {ElementType::f32x4, "f32x4", 16, "float4"},
    {ElementType::f64x2, "f64x2", 16, "double2 complex128"},
    {ElementType::u32x8, "u32x8", 32, "u8x32 u16x16 f16x16 bf16x16"},
    {ElementType::f32x8, "f32x8", 32, ""},
    {ElementType::f64x4, "f64x4", 32, "double4_32a"},
}};
constexpr bool are_in_enum_order() {
    for (std::size_t i = 0; i < types.size(); ++i)
        if (types[i].type != static_cast<ElementType>(i)) return false;
    return types.back().type == ElementType::f64x4;
}
static_assert(are_in_enum_order());
const TypeInfo& info(ElementType type) { return types[static_cast<std::size_t>(type)]; }

}  // namespace

std::uint32_t bytes_of(ElementType type) { return info(type).bytes; }

std::string_view name_of(ElementType type) { return info(type).name; }
std::optional<ElementType> find_element_type(std::string_view name) {
    for (const TypeInfo& type : types)
        if (type.name == name || std::ranges::count(words_of(type.other_names), name) > 0)
            return type.type;
    return std::nullopt;
}
// " --type s32" of int3; f32 is the usual one.
static std::string type_of_three(std::string_view word) {
    word.remove_suffix(word.ends_with("x3") ? 2 : 1);
    const auto type = find_element_type(word);
    return type && type != ElementType::f32 ? fmt::format(" --type {}", name_of(*type)) : "";
}
std::string hint_for_element_type(std::string_view word) {
    const std::size_t letters = word.find_last_not_of("0123456789") + 1;  // of half8
    if (const auto one = find_element_type(word.substr(0, letters)))
        if (const std::string several = fmt::format("{}x{}", name_of(*one), word.substr(letters));
            find_element_type(several))
            return fmt::format("did you mean '{}'?", several);
    std::vector<std::string_view> known = element_type_list();
    for (const TypeInfo& type : types)
        for (const std::string_view name : words_of(type.other_names)) known.push_back(name);
    const auto near = nearest(word, known);
    // int3, float3, u32x3: a load is 1, 2 or 4 elements wide.
    if (near && word.size() > 3 && word.ends_with('3') &&
        (word[word.size() - 2] < '0' || word[word.size() - 2] > '9'))
        return "no load is three elements wide: coalprof formula 'a[i*3]; a[i*3 + 1]; a[i*3 + 2]'" +
               type_of_three(word);
    if (near) return fmt::format("did you mean '{}'?", *near);
    std::string list = "types are";
    for (const std::string_view name : element_type_list()) list.append(" ").append(name);
    return list + ", or as CUDA and NumPy call them: float, half2, int32";
}
bool is_atomic_type(ElementType type) {
    switch (type) {
        case ElementType::u32:
        case ElementType::u64:
        case ElementType::s32:
        case ElementType::s64:
        case ElementType::f32:
        case ElementType::f64: return true;
        default: return false;
    }
}
std::vector<std::string_view> element_type_list() {
    std::vector<std::string_view> list;
    for (const TypeInfo& type : types) list.push_back(type.name);
    return list;
}

std::string size_as_typed(const LaunchShape& shape) {
    if (!shape.size_text.empty()) return shape.size_text;
    constexpr std::array<std::pair<std::uint64_t, const char*>, 3> units{
        {{1ull << 30, "GiB"}, {1ull << 20, "MiB"}, {1ull << 10, "KiB"}}};
    for (const auto& [bytes, unit] : units)
        if (shape.size_bytes != 0 && shape.size_bytes % bytes == 0)
            return fmt::format("{}{}", shape.size_bytes / bytes, unit);
    return std::to_string(shape.size_bytes);
}

std::string extent_as_typed(const LaunchShape& shape) {
    return shape.grid ? "--grid " + text_of(*shape.grid) : "--size " + size_as_typed(shape);
}

LaunchShape settled_shape(LaunchShape shape, ElementType type) {
    if (!shape.grid) return shape;
    constexpr std::uint64_t most_threads = 1ull << 48;
    if (shape.block == 0 || shape.grid->count() > most_threads / shape.block)
        throw UsageError(fmt::format("--grid {}: more than 2^48 threads; choose a smaller grid",
                                     text_of(*shape.grid)));
    const std::uint64_t threads = shape.grid->count() * shape.block;
    const std::uint64_t size_bytes = threads * bytes_of(type);
    if (shape.per_thread > 1)
        throw UsageError(
            fmt::format("--per-thread {} and --grid {}: a grid says how many elements there are, "
                        "one for each thread",
                        shape.per_thread, text_of(*shape.grid)),
            fmt::format("for as many blocks, without --grid: --size {}B --per-thread {}",
                        size_bytes * shape.per_thread, shape.per_thread));
    if (!shape.size_text.empty() && shape.size_bytes / bytes_of(type) != threads)
        throw UsageError(
            fmt::format("--grid {} of {} threads a block is {} elements of {}, and --size {} is {}",
                        text_of(*shape.grid), shape.block, threads, name_of(type),
                        size_as_typed(shape), shape.size_bytes / bytes_of(type)),
            "give one of the two: each follows from the other");
    shape.size_bytes = size_bytes;
    shape.size_text.clear();
    return shape;
}

}  // namespace coalprof
