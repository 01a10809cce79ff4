#include "core/text/symbol.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/text/name_list.h"

// Of libstdc++ (cmake/demangler.cmake): abi::__cxa_demangle(), which hands over its text in pieces.
// 0: the symbol is one.
extern "C" int __gcclibcxx_demangle_callback(const char* symbol,
                                             void (*take)(const char*, std::size_t, void*),
                                             void* receiver);

namespace coalprof {

namespace {

// A symbol of 400 bytes can stand for 5 GB, where each part names the one before it twice.
constexpr std::size_t most_bytes = std::size_t{1} << 16;
struct TooLong {};

void append_piece(const char* piece, std::size_t size, void* text) {
    auto& all = *static_cast<std::string*>(text);
    if (all.size() + size > most_bytes) throw TooLong{};
    all.append(piece, size);
}

}  // namespace

std::string demangled(const std::string& name) {
    // Otherwise "a" would become the type that it means in a symbol: "signed char".
    if (!name.starts_with("_Z")) return name;
    try {
        std::string text;
        if (__gcclibcxx_demangle_callback(name.c_str(), append_piece, &text) == 0) return text;
    } catch (const TooLong&) {
    }
    return name;
}

namespace {

void erase_all(std::string& text, std::string_view piece) {
    for (std::size_t at = 0; (at = text.find(piece, at)) != text.npos;)
        text.erase(at, piece.size());
}

// Numba's options, part of the symbol.
void erase_tags(std::string& text) {
    for (std::size_t at = 0; (at = text.find("[abi:", at)) != text.npos;)
        text.erase(at, std::min(text.find(']', at), text.size() - 1) + 1 - at);
}

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

// The position of the first of `wanted` outside all brackets; npos: none.
std::size_t find_outside(std::string_view text, std::string_view wanted, std::size_t from = 0) {
    int depth = 0;
    for (std::size_t at = from; at < text.size(); ++at) {
        if (depth == 0 && text.substr(at).starts_with(wanted)) return at;
        if (opens(text[at])) ++depth;
        if (closes(text[at])) --depth;
    }
    return text.npos;
}

std::vector<std::string_view> split_outside(std::string_view text, std::string_view mark) {
    std::vector<std::string_view> parts;
    for (std::size_t at; (at = find_outside(text, mark)) != text.npos;) {
        parts.push_back(text.substr(0, at));
        text.remove_prefix(at + mark.size());
    }
    parts.push_back(text);
    return parts;
}

// "f<int>" from "void f<int>(float*)"; nothing from a lambda. An argument has no result.
std::string_view without_result_and_parameters(std::string_view text, bool is_argument) {
    text = trimmed(text.substr(0, find_outside(text, "(")));
    for (std::size_t at; !is_argument && (at = find_outside(text, " ")) != text.npos;)
        text.remove_prefix(at + 1);
    return text.starts_with('{') || text.starts_with("operator") ? std::string_view() : text;
}

constexpr int most_depth = 3;  // nesting of template arguments

// "at::native::BinaryFunctor<float, float, at::MulFunctor<float> >" is "MulFunctor<float>": a
// template that wraps another one is called by that one, as tables of kernels have no room for
// both.
std::string short_argument(std::string_view text, int depth);

std::string short_arguments(std::string_view text, int depth, std::string* wrapped) {
    std::string all;
    for (const std::string_view argument : split_outside(text, ",")) {
        const std::string one = short_argument(trimmed(argument), depth);
        // Libraries pass operand pointers like this; they say nothing about the operation.
        if (one.starts_with("array<char*")) continue;
        if (wrapped) *wrapped = one.ends_with('>') ? one : std::string();
        all += (all.empty() ? "" : ", ") + one;
    }
    return all;
}

std::string short_path(std::string_view text, int depth) {
    std::string name;
    for (const std::string_view component : split_outside(text, "::")) {
        const std::string_view plain = without_result_and_parameters(component, depth > 0);
        if (plain.empty()) continue;
        const std::size_t begin = std::min(plain.find('<'), plain.size());
        const std::string own(plain.substr(0, begin));
        if (begin == plain.size()) {
            // A template's member is only clear with the template.
            name = name.ends_with('>') && !own.empty() ? name + "::" + own : own;
            continue;
        }
        const std::string_view inside =
            plain.substr(begin + 1, std::max(plain.rfind('>'), begin + 1) - begin - 1);
        std::string wrapped;
        const std::string arguments =
            depth >= most_depth ? "..." : short_arguments(inside, depth + 1, &wrapped);
        name = depth > 0 && !wrapped.empty() ? wrapped : own + '<' + arguments + '>';
    }
    return name;
}

std::string short_argument(std::string_view text, int depth) {
    // "(int)4", "4ul", "(bool)1"
    if (text.starts_with('('))
        text = trimmed(text.substr(std::min(text.find(')'), text.size() - 1) + 1));
    if (!text.empty() && text.front() >= '0' && text.front() <= '9')
        return std::string(text.substr(0, text.find_first_not_of("0123456789")));
    const std::string pointers(text.substr(std::min(text.find_last_not_of("*&") + 1, text.size())));
    text.remove_suffix(pointers.size());
    const std::string name = short_path(text, depth);
    return (name.empty() ? std::string(text) : name) + pointers;
}

// "Array<float, 2, C, mutable, aligned>" is "float32[:, :]".
std::string numba_type(std::string_view text) {
    constexpr std::array names{std::pair{"float", "float32"},
                               std::pair{"double", "float64"},
                               std::pair{"int", "int32"},
                               std::pair{"long long", "int64"},
                               std::pair{"long", "int64"},
                               std::pair{"unsigned int", "uint32"},
                               std::pair{"unsigned long", "uint64"},
                               std::pair{"signed char", "int8"},
                               std::pair{"unsigned char", "uint8"}};
    if (text.starts_with("Array<")) {
        const auto parts = split_outside(text.substr(6), ",");
        std::string shape = ":";
        if (parts.size() > 1)
            for (char n = '1'; n < '9' && n < trimmed(parts[1]).front(); ++n) shape += ", :";
        return numba_type(trimmed(parts[0])) + '[' + shape + ']';
    }
    for (const auto& [from, to] : names)
        if (text == from) return to;
    return std::string(text.substr(0, text.find('<')));
}

std::string numba_name(const std::string& name, const std::string& plain) {
    const std::size_t open = find_outside(name, "(");
    if (open == name.npos) return plain;
    const std::size_t close = name.rfind(')');
    if (close == name.npos || close <= open + 1) return plain + "()";
    const auto types =
        split_outside(std::string_view(name).substr(open + 1, close - open - 1), ",");
    return plain + '(' + numba_type(trimmed(types.front())) + (types.size() > 1 ? ", ...)" : ")");
}

// The bracket before the parameters of "void scale<float, (int)4>(float*, int)", searched from the
// end: template arguments have parentheses, too. npos: the name has none.
std::size_t begin_of_parameters(std::string_view text) {
    if (!text.ends_with(')')) return text.npos;
    int depth = 0;
    for (std::size_t at = text.size() - 1; at-- > 0;) {
        if (depth == 0 && text[at] == '(') return at;
        if (closes(text[at])) ++depth;
        if (opens(text[at])) --depth;
    }
    return text.npos;
}

}  // namespace

std::vector<std::string> parameter_types(const std::string& symbol) {
    const std::string text = demangled(symbol);
    const std::size_t begin = begin_of_parameters(text);
    if (begin == text.npos || text.ends_with("()")) return {};
    std::vector<std::string> types;
    for (const std::string_view type :
         split_outside(std::string_view(text).substr(begin + 1, text.size() - begin - 2), ","))
        types.emplace_back(trimmed(type));
    return types;
}

std::string long_kernel_name(const std::string& symbol) {
    std::string text = demangled(symbol);
    text.resize(std::min(begin_of_parameters(text), text.size()));
    constexpr std::string_view result = "void ";
    if (text.starts_with(result)) text.erase(0, result.size());
    return text;
}

std::string kernel_name(const std::string& symbol) {
    std::string name = demangled(symbol);
    erase_all(name, "(anonymous namespace)::");
    erase_tags(name);
    if (name.starts_with('(')) return name;  // no function's
    std::string plain;
    int depth = 0;
    for (const char c : name) {
        if (c == '<') ++depth;
        if (c == '(' && depth == 0 && !plain.empty()) break;
        if (depth == 0) plain += c;
        if (c == '>') --depth;
    }
    const std::size_t space = plain.rfind(' ');
    if (space != plain.npos && space + 1 < plain.size()) plain.erase(0, space + 1);
    return depth == 0 && !plain.empty() ? plain : name;
}

std::string short_kernel_name(const std::string& symbol) {
    std::string name = demangled(symbol);
    if (name.starts_with('(') && !name.starts_with("(anonymous")) return name;
    erase_all(name, "(anonymous namespace)::");
    const bool is_numbas = name.find("[abi:v") != name.npos;
    erase_tags(name);
    const std::string plain = short_path(name, 0);
    if (plain.empty()) return name;
    return is_numbas ? numba_name(name, plain) : plain;
}

}  // namespace coalprof
