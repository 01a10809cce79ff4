#include "core/program/array_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/program/statement.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/text/symbol.h"

namespace coalprof {
namespace {

constexpr std::string_view by_position = "arg";
constexpr std::string_view either = " or ";

// "_ZZ9transposePfE4tile" is "tile".
std::string variable_name(std::string_view symbol) {
    if (symbol.starts_with("__local_depot")) return {};
    const std::string name = demangled(std::string(symbol));
    const std::size_t scope = name.rfind("::");
    return scope == name.npos ? name : name.substr(scope + 2);
}

bool is_variable(std::string_view word) {
    return !word.empty() && is_name_character(word.front()) && word.front() != '%' &&
           !is_digit(word.front()) && word != "WARP_SZ";
}

std::string without_comments(const std::string& cuda) {
    std::string plain;
    for (std::size_t at = 0; at < cuda.size();) {
        const std::size_t end = skip_blanks(cuda, at);
        plain += end == at ? cuda[at] : ' ';
        at = std::max(end, at + 1);
    }
    return plain;
}

SourceParameter parameter_in(std::string_view declaration) {
    const auto is_part = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    SourceParameter one;
    if (declaration.find_first_of("*[") != declaration.npos) one.type = "*";
    declaration = declaration.substr(0, declaration.find_first_of("[="));
    while (!declaration.empty() && !is_part(declaration.back())) declaration.remove_suffix(1);
    std::size_t begin = declaration.size();
    while (begin > 0 && is_part(declaration[begin - 1])) --begin;
    one.name = declaration.substr(begin);
    return one;
}

// `text` begins behind the opening parenthesis; what follows the closing one is not read.
std::vector<SourceParameter> parameters_of_list(std::string_view text) {
    std::vector<SourceParameter> all;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' || c == '<') ++depth;
        if (c == '>') --depth;
        if ((c == ',' || c == ')') && depth == 0) {
            all.push_back(parameter_in(text.substr(begin, i - begin)));
            begin = i + 1;
            if (c == ')') return all;
        } else if (c == ')') {
            --depth;
        }
    }
    return {};
}

// True if there are as many, and the same of them are pointers; also for a symbol without types.
bool fit(const std::vector<SourceParameter>& parameters, const std::vector<std::string>& types) {
    return types.empty() ||
           std::ranges::equal(parameters, types,
                              [](const SourceParameter& one, const std::string& type) {
                                  return (one.type == "*") == (type.find('*') != type.npos);
                              });
}

}  // namespace

void ArrayNames::take(std::string_view statement) {
    statement = trimmed(statement);
    if (statement.starts_with('@'))
        statement =
            trimmed(statement.substr(std::min(statement.find_first_of(" \t"), statement.size())));
    const std::size_t blank = std::min(statement.find_first_of(" \t"), statement.size());
    const std::string_view opcode = statement.substr(0, blank);
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    if (base == "ld" || base == "ldu") return take_load(opcode, statement.substr(blank));
    if (base == "st" || base == "red" || base == "bra" || base.empty()) return;
    const std::vector<std::string_view> words = words_of(statement.substr(blank));
    if (words.size() < 2) return;
    Pointer made;
    if (base == "mov" || base == "cvta" || base == "cvt" || base == "sub")
        made = pointer_in(words[1]);
    else if (words.size() > 2 && (base == "add" || base == "or" || base == "xor" || base == "and"))
        made = one_of(pointer_in(words[1]), pointer_in(words[2]));
    else if (words.size() > 2 && base == "selp")
        made = chosen(pointer_in(words[1]), pointer_in(words[2]));
    else if (words.size() > 3 && base == "mad")
        made = pointer_in(words[3]);
    made.is_certain |= base == "cvta";
    set(words.front(), made);
}

// "ld.param.v2.u64 {%rd1, %rd2}, [k_param_0+8]"
void ArrayNames::take_load(std::string_view opcode, std::string_view operands) {
    const std::size_t open = operands.find('[');
    const std::size_t close = operands.find(']', open);
    if (close == operands.npos) return;
    const std::string_view address = operands.substr(open + 1, close - open - 1);
    const std::size_t plus = address.find('+');
    const std::string_view base = trimmed(address.substr(0, plus));
    std::uint64_t offset =
        plus == address.npos ? 0 : read_integer(trimmed(address.substr(plus + 1))).value;
    const bool is_wide = opcode.ends_with("64");
    const bool is_parameter = opcode.find(".param") != opcode.npos;
    const std::string from = is_parameter || !is_wide ? std::string() : array_at(base);
    for (std::string_view result : words_of(operands.substr(0, open))) {
        while (result.starts_with('{')) result.remove_prefix(1);
        while (result.ends_with('}')) result.remove_suffix(1);
        if (result.empty()) continue;
        set(result, {!is_wide       ? std::string()
                     : is_parameter ? parameter_at(base, offset)
                     : from.empty() ? std::string()
                     // Triton's dynamic shared memory, which no source names.
                     : from == "global_smem" ? "pointer in shared memory"
                                             : "*" + from,
                     false});
        offset += 8;
    }
}

std::string ArrayNames::parameter_at(std::string_view name, std::uint64_t offset) const {
    const auto found = std::ranges::find(parameters_, name);
    if (found == parameters_.end()) return {};
    const std::string position = std::to_string(found - parameters_.begin());
    const std::string own =
        found->ends_with("_param_" + position) ? std::string(by_position) + position : *found;
    return offset == 0 ? own : fmt::format("{}+{}", own, offset);  // a structure's array
}

ArrayNames::Pointer ArrayNames::pointer_in(std::string_view word) const {
    const auto known = pointers_.find(word);
    if (known != pointers_.end()) return known->second;
    return is_variable(word) ? Pointer{variable_name(name_at(word, 0)), true} : Pointer{};
}

ArrayNames::Pointer ArrayNames::one_of(const Pointer& a, const Pointer& b) {
    if (a.array.empty() || b.array.empty()) return a.array.empty() ? b : a;
    if (a.is_certain != b.is_certain) return a.is_certain ? a : b;
    return a.array == b.array ? a : Pointer{};
}

ArrayNames::Pointer ArrayNames::chosen(const Pointer& a, const Pointer& b) {
    if (a.array.empty() || b.array.empty()) return {};
    if (a.array == b.array) return a;
    if (a.array.find(either) != a.array.npos || b.array.find(either) != b.array.npos) return {};
    return {fmt::format("{}{}{}", a.array, either, b.array), a.is_certain && b.is_certain};
}

void ArrayNames::set(std::string_view result, const Pointer& pointer) {
    if (!pointer.array.empty())
        pointers_[std::string(result)] = pointer;
    else if (const auto known = pointers_.find(result); known != pointers_.end())
        pointers_.erase(known);
}

std::vector<SourceParameter> parameters_in_text(const std::string& cuda,
                                                const std::string& symbol) {
    const std::string plain = without_comments(cuda), name = kernel_name(symbol);
    const std::vector<std::string> types = parameter_types(symbol);
    for (std::size_t at = plain.find(name); at != plain.npos; at = plain.find(name, at + 1)) {
        const std::size_t behind = plain.find_first_not_of(' ', at + name.size());
        const std::size_t global = plain.rfind("__global__", at);
        if (behind == plain.npos || plain[behind] != '(' || global == plain.npos ||
            (at > 0 && is_name_character(plain[at - 1])) ||
            plain.substr(global, at - global).find_first_of(";{}") != plain.npos)
            continue;
        if (auto all = parameters_of_list(std::string_view(plain).substr(behind + 1));
            !all.empty() && fit(all, types))
            return all;
    }
    return {};
}

std::string array_in_source(const std::string& array, const std::vector<SourceParameter>& names) {
    if (const std::size_t other = array.find(either); other != array.npos)
        return fmt::format("{}{}{}", array_in_source(array.substr(0, other), names), either,
                           array_in_source(array.substr(other + either.size()), names));
    const std::size_t at = array.find(by_position);
    if (at == array.npos || array.find_first_not_of('*') != at) return array;
    const std::size_t digits = at + by_position.size();
    const std::size_t end = std::min(array.find('+', digits), array.size());
    if (digits == end || array.find_first_not_of("0123456789", digits) < end) return array;
    const std::uint64_t position = read_integer(std::string_view(array).substr(digits)).value;
    if (position >= names.size() || names[position].name.empty()) return array;
    const SourceParameter& one = names[position];
    const std::string offset = array.substr(end);
    const auto member = std::ranges::find(
        one.members, read_integer(offset.empty() ? "0" : std::string_view(offset).substr(1)).value,
        &SourceMember::offset);
    return array.substr(0, at) + one.name +
           (member == one.members.end() ? offset : '.' + member->name);
}

}  // namespace coalprof
