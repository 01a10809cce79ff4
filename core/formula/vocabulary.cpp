#include "core/formula/vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/formula/lexer.h"
#include "core/result/counter.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

struct VariableName {
    std::string_view own;
    std::string_view cuda = {};  // its spelling in kernels, for pasted text
};
constexpr std::array<VariableName, variable_count> variable_names{{
    // in the order of Variable
    {"i"},
    {"n"},
    {"tid"},
    {"bid"},
    {"lane"},
    {"warp"},
    {"bdim"},
    {"gdim"},
    {"tid.x", "threadIdx.x"},
    {"tid.y", "threadIdx.y"},
    {"tid.z", "threadIdx.z"},
    {"bid.x", "blockIdx.x"},
    {"bid.y", "blockIdx.y"},
    {"bid.z", "blockIdx.z"},
    {"bdim.x", "blockDim.x"},
    {"bdim.y", "blockDim.y"},
    {"bdim.z", "blockDim.z"},
    {"gdim.x", "gridDim.x"},
    {"gdim.y", "gridDim.y"},
    {"gdim.z", "gridDim.z"},
}};

// Words of other languages and habits, with this language's equivalent.
constexpr std::string_view no_fractions =
    "there are only whole numbers: / already divides towards zero, i*3/2 is a fraction of i";
struct Foreign {
    std::string_view words;  // one blank between two words
    std::string_view hint;
};
constexpr Foreign foreign_words[] = {
    {"idx gid index", "the global thread index is 'i'"},
    {"tx ty tz bx by bz", "say first what it is: tx = threadIdx.x; by = blockIdx.y; a[by*64 + tx]"},
    {"thread", "the thread in its block is 'tid', in the whole launch 'i'"},
    {"block", "the block's number is 'bid', its size 'bdim'"},
    {"threadIdx", "write threadIdx.x, or 'tid' for the thread in its block"},
    {"blockIdx", "write blockIdx.x, or 'bid' for the block's number"},
    {"blockDim", "write blockDim.x, or 'bdim' for the threads of a block"},
    {"gridDim", "write gridDim.x, or 'gdim' for the number of blocks"},
    {"and", "write && for conditions, & for bits"},
    {"or", "write || for conditions, | for bits"},
    {"not", "write ! for conditions, ~ for bits"},
    {"B KB MB GB kB KiB MiB GiB", "a size and its unit are one word: --size 64MiB"},
    {"mod", "write % for the remainder"},
    {"floor ceil round sqrt", no_fractions},
    {"else", "a choice is written test ? then : otherwise"},
    {"lambda", "its body alone is the formula: i*2"},
    {"range arange np.arange torch.arange tl.arange",
     "i counts from 0: for arange(n)*2 write i*2; how many there are says --size"},
    {"pow", "there are no powers: write i*i, or 1 << k for a power of two"},
};

// Empty: an unknown word.
std::string_view hint_for_foreign(std::string_view word) {
    for (const auto& [words, hint] : foreign_words)
        if (has_word(words, word)) return hint;
    return {};
}

bool is_name(std::string_view text) {
    return !text.empty() && is_name_char(text.front()) &&
           (text.front() < '0' || text.front() > '9') && std::ranges::all_of(text, is_name_char);
}

// N, M, K, W, H: names of sizes in kernels, and not variables of the language (n counts threads).
bool is_capital(std::string_view name) {
    return name.size() == 1 && name.front() >= 'A' && name.front() <= 'Z' && name != "I";
}

// True if the language has taken the name.
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
    return variable_names[static_cast<std::size_t>(variable)].own;
}

std::optional<Variable> find_variable(std::string_view name) {
    const auto found = std::ranges::find_if(variable_names, [&](const VariableName& variable) {
        return name == variable.own || (!name.empty() && name == variable.cuda);
    });
    if (found == variable_names.end()) return std::nullopt;
    return static_cast<Variable>(found - variable_names.begin());
}

const OperatorInfo* find_function(std::string_view name) {
    for (const OperatorInfo& candidate : operator_table)
        if (!candidate.usage.empty() && candidate.name == name) return &candidate;
    return nullptr;
}

std::optional<AccessKind> find_access_kind(std::string_view name) {
    for (const AccessKind kind : access_kinds)
        if (name_of(kind) == name) return kind;
    if (name == "add") return AccessKind::reduce;  // atomicAdd() whose result is not read
    return std::nullopt;
}

std::string reason_against_name(std::string_view name) {
    if (name.ends_with(".T")) return "it has no transpose; its indices change places, x[j][i]";
    if (name.find('.') != std::string_view::npos)
        return "a name has no dots; one member of a structure has an index, e.g. i*3 + 1";
    if (!is_name(name)) return "names are letters, digits and _, and do not start with a digit";
    if (name.size() > max_formula_name_bytes)
        return fmt::format("names have at most {} characters", max_formula_name_bytes);
    if (is_reserved(name)) return fmt::format("'{}' is a word of the formula language", name);
    return "";
}

std::string hint_for_name(std::string_view name, std::span<const std::string> own_names) {
    if (const std::string_view hint = hint_for_foreign(name); !hint.empty())
        return std::string(hint);
    if (const OperatorInfo* function = find_function(name))
        return fmt::format("it is written {}", function->usage);
    if (find_access_kind(name)) return fmt::format("an instruction is written {}: a[...]", name);
    std::vector<std::string_view> known(own_names.begin(), own_names.end());
    if (is_capital(name)) {
        if (const auto near = nearest(name, known)) return fmt::format("did you mean '{}'?", *near);
        return fmt::format("a size of your own has its value from you: --var {}=1024{}", name,
                           name == "N" ? "; 'n' is the number of all threads" : "");
    }
    for (const VariableName& variable : variable_names) {
        known.push_back(variable.own);
        if (!variable.cuda.empty()) known.push_back(variable.cuda);
    }
    const std::string_view own =
        is_name(name) && name.size() <= max_formula_name_bytes ? name : "k";
    const std::string values = fmt::format(
        "known are i, n, tid, bid, lane, warp, bdim, gdim, tid.x, bid.y, threadIdx.x, blockDim.y "
        "and "
        "the like; give a number of your own with --var {0}=64, or name a part: {0} = i / 64; "
        "a[{0}]",
        own);
    return did_you_mean(name, known, values);
}

std::string hint_for_function(std::string_view name) {
    if (const std::string_view hint = hint_for_foreign(name); !hint.empty())
        return std::string(hint);
    std::vector<std::string_view> known;
    for (const OperatorInfo& candidate : operator_table)
        if (!candidate.usage.empty()) known.push_back(candidate.name);
    if (name.starts_with("__") || name.starts_with("atomic")) return c_hint;
    return did_you_mean(
        name, known,
        fmt::format("the functions are min, max, abs and hash; an array is written {0}[index], or "
                    "as in Fortran with --array {0}=f32(1024,1024), which begins with {0}(1,1)",
                    is_name(name) ? name : "a"));
}

std::string hint_for_slashes(std::string_view text) {
    const std::size_t slashes = text.find("//");
    if (slashes == text.npos) return {};
    return fmt::format("// begins a comment; a whole division is /: {}{}", text.substr(0, slashes),
                       text.substr(slashes + 1));
}

bool is_divisor(std::string_view comment) {
    comment.remove_prefix(std::min(comment.find_first_not_of(" \t"), comment.size()));
    if (!comment.starts_with("//")) return false;
    const std::string_view divisor = trimmed(comment.substr(2, comment.find('\n') - 2));
    if (is_name(divisor)) return divisor.size() <= 2 || comment[2] != ' ';
    return !divisor.empty() && divisor.find_first_not_of("0123456789()*+- ") == divisor.npos;
}

std::string hint_for_prefix(std::string_view name) {
    std::vector<std::string_view> known;
    for (const AccessKind kind : access_kinds) known.push_back(name_of(kind));
    return did_you_mean(name, known,
                        "an instruction starts with load:, store:, atomic: or reduce:, those of "
                        "shared memory with shared.load:, ...");
}

}  // namespace coalprof
