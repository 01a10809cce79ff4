#include "core/formula/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/result/counter.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

constexpr std::array<std::pair<std::string_view, Variable>, variable_count> variable_names{{
    {"i", Variable::i},
    {"n", Variable::n},
    {"tid", Variable::tid},
    {"bid", Variable::bid},
    {"lane", Variable::lane},
    {"warp", Variable::warp},
    {"bdim", Variable::bdim},
    {"gdim", Variable::gdim},
    {"tid.x", Variable::tid_x},
    {"tid.y", Variable::tid_y},
    {"bid.x", Variable::bid_x},
    {"bid.y", Variable::bid_y},
    {"bdim.x", Variable::bdim_x},
    {"bdim.y", Variable::bdim_y},
    {"gdim.x", Variable::gdim_x},
    {"gdim.y", Variable::gdim_y},
}};

// What a kernel's source says for the same: an index can be pasted as it stands.
constexpr std::array<std::pair<std::string_view, Variable>, 8> cuda_names{{
    {"threadIdx.x", Variable::tid_x},
    {"threadIdx.y", Variable::tid_y},
    {"blockIdx.x", Variable::bid_x},
    {"blockIdx.y", Variable::bid_y},
    {"blockDim.x", Variable::bdim_x},
    {"blockDim.y", Variable::bdim_y},
    {"gridDim.x", Variable::gdim_x},
    {"gridDim.y", Variable::gdim_y},
}};

constexpr std::array functions{
    FunctionInfo{"min", NodeKind::minimum, 2, 16, "min(a, b)"},
    FunctionInfo{"max", NodeKind::maximum, 2, 16, "max(a, b)"},
    FunctionInfo{"abs", NodeKind::absolute, 1, 1, "abs(a)"},
    FunctionInfo{"hash", NodeKind::hash, 2, 3, "hash(x, buckets) or hash(x, buckets, seed)"},
};

// Words of other languages and habits, with what this one says instead.
constexpr std::string_view no_types =
    "there are no types and casts: every number is a 64-bit integer";
constexpr std::string_view no_loops =
    "there are no loops: --var j=0..3 measures each step, or write each access behind ;";
constexpr std::string_view no_fractions =
    "there are only whole numbers: / already divides towards zero, i*3/2 is a fraction of i";
constexpr std::array<std::pair<std::string_view, std::string_view>, 39> foreign_words{{
    {"idx", "the global thread index is 'i'"},
    {"gid", "the global thread index is 'i'"},
    {"index", "the global thread index is 'i'"},
    {"thread", "the thread in its block is 'tid', in the whole launch 'i'"},
    {"block", "the block's number is 'bid', its size 'bdim'"},
    {"threadIdx", "write threadIdx.x, or 'tid' for the thread in its block"},
    {"blockIdx", "write blockIdx.x, or 'bid' for the block's number"},
    {"blockDim", "write blockDim.x, or 'bdim' for the threads of a block"},
    {"gridDim", "write gridDim.x, or 'gdim' for the number of blocks"},
    {"threadIdx.z", "blocks have two dimensions here: tid.x and tid.y"},
    {"blockIdx.z", "grids have two dimensions here: bid.x and bid.y"},
    {"tid.z", "blocks have two dimensions here: tid.x and tid.y"},
    {"bid.z", "grids have two dimensions here: bid.x and bid.y"},
    {"warpSize", "a warp has 32 lanes: write 32"},
    {"and", "write && for conditions, & for bits"},
    {"or", "write || for conditions, | for bits"},
    {"not", "write ! for conditions, ~ for bits"},
    {"mod", "write % for the remainder"},
    {"int", no_types},
    {"unsigned", no_types},
    {"long", no_types},
    {"float", no_types},
    {"double", no_types},
    {"const", no_types},
    {"auto", no_types},
    {"size_t", no_types},
    {"int64_t", no_types},
    {"uint32_t", no_types},
    {"for", no_loops},
    {"while", no_loops},
    {"floor", no_fractions},
    {"ceil", no_fractions},
    {"round", no_fractions},
    {"sqrt", no_fractions},
    {"pow", "there are no powers: write i*i, or 1 << k for a power of two"},
    {"__ldg", "write only the access: load: a[i]"},
    {"sizeof", "indices count elements, not bytes: --type says how wide one is"},
    {"true", "write 1"},
    {"false", "write 0"},
}};

template <typename Table>
auto find_in(const Table& table, std::string_view name) {
    return std::find_if(table.begin(), table.end(),
                        [&](const auto& entry) { return entry.first == name; });
}

bool is_name(std::string_view text) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (text.empty() || !is_letter(text.front())) return false;
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Whether the language has taken the name.
bool is_reserved(std::string_view name) {
    return find_variable(name) || find_function(name) || find_access_kind(name) || name == "if";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known,
                         const std::string& otherwise) {
    const auto near = nearest(word, known);
    return near ? fmt::format("did you mean '{}'?", *near) : otherwise;
}

}  // namespace

std::string_view name_of(Variable variable) {
    return variable_names[static_cast<std::size_t>(variable)].first;
}

std::optional<Variable> find_variable(std::string_view name) {
    if (const auto own = find_in(variable_names, name); own != variable_names.end())
        return own->second;
    if (const auto cuda = find_in(cuda_names, name); cuda != cuda_names.end()) return cuda->second;
    return std::nullopt;
}

std::optional<FunctionInfo> find_function(std::string_view name) {
    for (const FunctionInfo& function : functions)
        if (function.name == name) return function;
    return std::nullopt;
}

std::optional<AccessKind> find_access_kind(std::string_view name) {
    for (const AccessKind kind : access_kinds)
        if (name_of(kind) == name) return kind;
    return std::nullopt;
}

std::string reason_against_name(std::string_view name) {
    if (name.find('.') != std::string_view::npos)
        return "a name has no dots; one member of a structure has an index, e.g. i*3 + 1";
    if (!is_name(name)) return "names are letters, digits and _, and do not start with a digit";
    if (name.size() > max_formula_name_bytes)
        return fmt::format("names have at most {} characters", max_formula_name_bytes);
    if (is_reserved(name)) return fmt::format("'{}' is a word of the formula language", name);
    return "";
}

std::string hint_for_name(std::string_view name, std::span<const std::string> own_names) {
    if (const auto foreign = find_in(foreign_words, name); foreign != foreign_words.end())
        return std::string(foreign->second);
    if (const auto function = find_function(name))
        return fmt::format("it is written {}", function->usage);
    if (find_access_kind(name)) return fmt::format("an instruction is written {}: a[...]", name);
    std::vector<std::string_view> known(own_names.begin(), own_names.end());
    for (const auto& entry : variable_names) known.push_back(entry.first);
    for (const auto& entry : cuda_names) known.push_back(entry.first);
    const std::string_view own =
        is_name(name) && name.size() <= max_formula_name_bytes ? name : "k";
    const std::string values = fmt::format(
        "known are i, n, tid, bid, lane, warp, bdim, gdim; give a number of your own with --var "
        "{0}=64, or name a part: {0} = i / 64; a[{0}]",
        own);
    return did_you_mean(name, known, values);
}

std::string hint_for_function(std::string_view name) {
    if (const auto foreign = find_in(foreign_words, name); foreign != foreign_words.end())
        return std::string(foreign->second);
    std::vector<std::string_view> known;
    for (const FunctionInfo& function : functions) known.push_back(function.name);
    return did_you_mean(name, known,
                        fmt::format("the functions are min, max, abs and hash; an array is written "
                                    "{}[index]",
                                    is_name(name) ? name : "a"));
}

std::string hint_for_prefix(std::string_view name) {
    std::vector<std::string_view> known;
    for (const AccessKind kind : access_kinds) known.push_back(name_of(kind));
    return did_you_mean(name, known,
                        "an instruction starts with load:, store:, atomic: or reduce:");
}

std::string hint_for_type(std::string_view name) {
    const std::vector<std::string_view> known = element_type_list();
    return did_you_mean(name, known, "types are u8 u16 u32 u64 f32 f64 f32x2 f32x4 f64x2");
}

}  // namespace coalprof
