#include "cli/pasted_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <utility>

#include "core/formula/vocabulary.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

// True if the text begins with a character that names and numbers have.
bool is_letter(std::string_view text) {
    return !text.empty() &&
           (std::isalnum(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
}

using WordList = std::initializer_list<std::string_view>;
bool is_one_of(std::string_view word, WordList words) {
    return std::ranges::find(words, word) != words.end();
}

// Signs of several characters that matter here. ">>" counts as two, since it may end two templates.
std::size_t length_of_sign(std::string_view text) {
    for (const std::string_view sign : WordList{"<<=", ">>=", "->", "++", "--", "::", "&&", "||"})
        if (text.starts_with(sign)) return sign.size();
    const bool has_equals = text.substr(1, 1) == "=";
    return has_equals && std::string_view("=!<>+-*/%&|^").find(text[0]) != text.npos ? 2 : 1;
}
constexpr std::array<std::string_view, 4> cuda_names{"threadIdx", "blockIdx", "blockDim",
                                                     "gridDim"};
bool is_assignment(std::string_view sign) {
    return is_one_of(sign, {"++", "--"}) ||
           (sign.ends_with("=") && !is_one_of(sign, {"==", "!=", "<=", ">="}));
}

// Names of the formula language in C.
std::string_view meaning_of(std::string_view name) {
    if (is_one_of(name, {"i", "x"})) return "blockIdx.x * blockDim.x + threadIdx.x";
    if (name == "y") return "blockIdx.y * blockDim.y + threadIdx.y";
    if (name == "z") return "blockIdx.z * blockDim.z + threadIdx.z";
    if (name == "tid") return "threadIdx.x";
    if (name == "bid") return "blockIdx.x";
    return name == "lane" ? "threadIdx.x % 32" : "";
}

// The names of --type as types, and functions that use values, since a compiler drops loads whose
// values nothing uses. The operator stands before a statement, on a line of its own that no message
// of a compiler shows; its right side may be void. Parameters are references, since compilers
// refuse to pass a value that is not initialized.
constexpr std::string_view prelude = R"(
#ifndef __clang__
#include <cstdint>
#endif
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
typedef signed char i8, s8; typedef short i16, s16; typedef int i32, s32; typedef long long i64, s64;
typedef float f32; typedef double f64; typedef uchar4 u8x4; typedef uint2 u32x2; typedef uint4 u32x4;
typedef float2 f32x2; typedef float4 f32x4; typedef double2 f64x2;
template <class T> __device__ inline void coalprof_use(const T& value) {
    const T copy = value;
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &copy, sizeof(T));
    for (unsigned word : words) asm volatile("" ::"r"(word));
}
struct CoalprofUse {};
template <class T> __device__ inline CoalprofUse operator,(CoalprofUse use, const T& value) { coalprof_use(value); return use; }
template <class T> __device__ inline void coalprof_use_number(const T& value) { if (!__is_class(T)) coalprof_use(value); }
__device__ inline void coalprof_use_array(const void* array) { asm volatile("" ::"l"(array) : "memory"); }
template <class T> __device__ inline T clamp(T a, T low, T high) { return a < low ? low : high < a ? high : a; }
)";

struct Token {
    std::string_view text;
    std::size_t at = 0;
    std::size_t end() const { return at + text.size(); }
    bool is(std::string_view other) const { return text == other; }
    bool is_word() const { return is_letter(text.substr(0, 1)) && !is_number(); }
    bool is_number() const { return !text.empty() && text[0] >= '0' && text[0] <= '9'; }
};
using TokenIndex = std::size_t;  // a token's number

// Comments and blanks are no tokens. A directive is one.
std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    bool begins_line = true;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
        const std::string_view rest = text.substr(at);
        bool is_token = false;
        if (rest.starts_with("//")) {
            end = std::min(text.find('\n', at), text.size());
        } else if (rest.starts_with("/*")) {
            end = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
        } else if (rest[0] == '#' && begins_line) {
            for (end = at; end < text.size() && (text[end] != '\n' || text[end - 1] == '\\');)
                ++end;
            is_token = true;
        } else if (rest[0] == '"' || rest[0] == '\'') {
            for (end = at + 1; end < text.size() && text[end] != rest[0];)
                end += text[end] == '\\' ? 2 : 1;
            end = std::min(end + 1, text.size());
            is_token = true;
        } else if (is_letter(rest)) {
            const bool is_number = Token{rest}.is_number();
            for (end = at + 1; is_letter(text.substr(end, 1)) ||
                               (is_number && is_one_of(text.substr(end, 1), {".", "'"}));)
                ++end;
            is_token = true;
        } else {
            is_token = std::isspace(static_cast<unsigned char>(rest[0])) == 0;
            end = at + length_of_sign(rest);
        }
        begins_line = rest[0] == '\n' || (begins_line && !is_token);
        if (is_token) tokens.push_back({text.substr(at, end - at), at});
    }
    return tokens;
}

// A text, and what it becomes in a kernel.
class Wrapping {
 public:
    explicit Wrapping(const PastedCode& code) : code_(code), tokens_(tokens_of(code.text)) {
        end_.at = code.text.size();
        refuse_python();
        if (is_whole()) {
            for (TokenIndex at = 0; at < tokens_.size(); ++at) read_template(at);
            return;
        }
        refuse_unbalanced();
        read_statements();
        // Macros use names too.
        for (TokenIndex at = 0, end = tokens_.size(); at < end; ++at)
            if (token(at).text.starts_with('#'))
                for (const Token& one : tokens_of(token(at).text.substr(1))) tokens_.push_back(one);
        for (const std::string& name : code.undeclared) declare(name);
    }

    bool is_whole() const { return place_of("__global__") < tokens_.size(); }
    // False for a name that is not in the text. Refuses a type and a function.
    bool refuse_unless_variable(std::string_view name) const {
        const TokenIndex at = place_of(name);
        if (at >= tokens_.size()) return false;
        if (token(at + 1).is("(") || token(at + 1).is_word())
            refuse(
                token(at), fmt::format("'{}' is no function and no type here", name),
                fmt::format("declare it before: __device__ float {0}(float v) {{ return v; }}; an "
                            "array is indexed by {0}[i]; types are those of CUDA: float4",
                            name));
        return true;
    }
    // True if the first template has a parameter of this name.
    bool is_template_value(std::string_view name) const {
        const TokenIndex first = place_of("template"), end = end_of_template(first),
                         at = place_of(name);
        return first < at && at < end && is_one_of(token(at + 1).text, {",", ">"});
    }

    std::string source(std::string_view file) const {
        const std::string first_line = fmt::format("\n#line 1 \"{}\"\n", file);
        std::string inside = code_.text;
        for (const Range& one : hidden_)
            for (std::size_t at = one.begin; at < one.end; ++at)
                if (inside[at] != '\n') inside[at] = ' ';
        // From the end on, since what is inserted moves places behind it.
        for (auto one = values_.rbegin(); one != values_.rend(); ++one) {
            const std::size_t line = inside.rfind('\n', one->begin) + 1;
            inside.insert(one->begin,
                          fmt::format("\nCoalprofUse{{}},\n#line {} \"{}\"\n{:{}}",
                                      line_at(one->begin), file, "", one->begin - line));
        }
        std::string outside;
        for (const auto& [line, item] : outside_)
            outside += fmt::format("\n#line {} \"{}\"\n{}", line, file, item);
        if (is_whole()) return outside + first_line + inside;
        return fmt::format("{}\n__global__ void code({}) {{{}{}{}\n;{}\n}}\n", outside,
                           fmt::join(parameters_, ", "), fmt::join(locals_, ""), first_line, inside,
                           fmt::join(uses_, ""));
    }

 private:
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    const Token& token(TokenIndex at) const { return at < tokens_.size() ? tokens_[at] : end_; }
    TokenIndex place_of(std::string_view word) const {
        return static_cast<TokenIndex>(std::ranges::find(tokens_, word, &Token::text) -
                                       tokens_.begin());
    }
    Range range_of(TokenIndex first, TokenIndex end) const {
        return {token(first).at, token(end - 1).end()};
    }
    std::string text_of(TokenIndex first, TokenIndex end) const {
        return code_.text.substr(token(first).at, token(end - 1).end() - token(first).at);
    }

    [[noreturn]] void refuse(const Token& at, const std::string& sentence,
                             const std::string& hint) const {
        throw UsageError(
            fmt::format("{}: {}", coalprof::text_of("code", PlaceFinder(code_.text).at(at.at)),
                        sentence),
            hint);
    }

    // ---- groups and types ----

    // What a compiler says of them is about the kernel around the text. A macro may have one alone.
    void refuse_unbalanced() const {
        std::vector<const Token*> open;
        for (const Token& one : tokens_) {
            if (one.text.starts_with('#')) return;
            if (is_one_of(one.text, {"(", "[", "{"})) open.push_back(&one);
            if (!is_one_of(one.text, {")", "]", "}"})) continue;
            const bool fits = !open.empty() && std::abs(one.text[0] - open.back()->text[0]) < 3;
            fits ? open.pop_back() : open.push_back(&one);
            if (!fits) break;
        }
        if (open.empty()) return;
        constexpr std::string_view signs = "()[]{}";
        const std::size_t sign = signs.find(open.back()->text.front());
        const std::string division = hint_for_slashes(code_.text);
        refuse(*open.back(), fmt::format("'{}' has no counterpart", open.back()->text),
               sign % 2 == 0 && !division.empty()
                   ? division
                   : fmt::format("add {} {} it, or take it out", signs[sign ^ 1],
                                 sign % 2 == 0 ? "behind what belongs to" : "before"));
    }

    // What Python writes in another way than C, and CUDA's names in other letters.
    void refuse_python() const {
        for (TokenIndex at = 0; at < tokens_.size(); ++at) {
            const Token &one = token(at), &next = token(at + 1),
                        &before = at > 0 ? token(at - 1) : end_;
            const bool has_value = before.is_number() || before.is("]") ||
                                   (before.is_word() && !is_one_of(before.text, {"else", "do"}));
            const bool is_test = is_one_of(one.text, {"if", "while", "for"});
            std::string_view in_c;
            if (one.is("if") && has_value)
                in_c = "write test ? then : otherwise";
            else if (is_test && !is_one_of(next.text, {"(", "constexpr"}))
                in_c = "write if (i < n) y[i] = x[i]; or for (int k = 0; k < n; ++k) y[k] = x[k];";
            else if (is_one_of(one.text, {"elif", "None"}) ||
                     (is_one_of(one.text, {"def", "lambda", "import"}) && next.is_word()))
                in_c = "write statements of C: y[i] = 2*x[i];";
            else if (one.is("*") && next.is("*") && token(at + 2).is_number())
                in_c = "a power is written x*x";
            if (!in_c.empty())
                refuse(one, fmt::format("'{}' is Python here, and C is compiled", one.text),
                       std::string(in_c));
            if (std::ranges::count(cuda_names, one.text) > 0) refuse_member(at);
            if (!is_one_of(one.text, {";", "{", "}"}) &&
                is_divisor(std::string_view(code_.text).substr(one.end())))
                refuse(one, "a comment begins behind it", hint_for_slashes(code_.text));
        }
    }

    // The token after the closing sign.
    TokenIndex end_of_group(TokenIndex open) const {
        int depth = 0;
        for (TokenIndex at = open; at < tokens_.size(); ++at) {
            if (is_one_of(token(at).text, {"(", "[", "{"})) ++depth;
            if (is_one_of(token(at).text, {")", "]", "}"}) && --depth == 0) return at + 1;
        }
        return tokens_.size();
    }

    // The ';' at its end, or the end of the block around it.
    TokenIndex end_of_simple(TokenIndex first) const {
        for (TokenIndex at = first; at < tokens_.size();) {
            if (is_one_of(token(at).text, {";", "}"})) return at;
            at = is_one_of(token(at).text, {"(", "[", "{"}) ? end_of_group(at) : at + 1;
        }
        return tokens_.size();
    }

    // The token after template <...>; `first` where there is none.
    TokenIndex end_of_template(TokenIndex first) const {
        int depth = 0;
        for (TokenIndex at = first + 1; token(first).is("template") && at < tokens_.size(); ++at) {
            if (token(at).is("<")) ++depth;
            if (token(at).is(">") && --depth == 0) return at + 1;
        }
        return first;
    }

    // T f(...) {
    bool is_function(TokenIndex first) const {
        TokenIndex at = first;
        while (token(at).is_word() || is_one_of(token(at).text, {"*", "&"})) ++at;
        return at >= first + 2 && !is_one_of(token(first).text, {"else", "do"}) &&
               token(at).is("(") && token(end_of_group(at)).is("{");
    }

    bool is_in_brackets(TokenIndex at) const {
        int depth = 0;
        while (at-- > 0 && !is_one_of(token(at).text, {";", "{", "}"})) {
            if (token(at).is("]")) ++depth;
            if (token(at).is("[") && depth-- == 0) return true;
        }
        return false;
    }

    // "unsigned char " of const unsigned char c
    std::string type_before(TokenIndex name) const {
        std::string type;
        while (name-- > 0 && token(name).is_word())
            if (!token(name).is("const")) type = fmt::format("{} {}", token(name).text, type);
        return type == "auto " ? std::string() : type;
    }

    // The value that --arg gives the name; empty if there is none.
    std::string value_of(std::string_view name) const {
        for (const std::string& one : code_.arguments)
            if (one.starts_with(fmt::format("{}=", name))) return one.substr(name.size() + 1);
        return {};
    }

    // ---- statements, and what stands outside the kernel ----

    void read_statements() {
        int depth = 0;
        for (TokenIndex at = 0; at < tokens_.size();) {
            const std::string_view first = token(at).text;
            if (depth == 0 && is_outside(at)) {
                at = read_outside(at);
            } else if (is_one_of(first, {"for", "if", "while", "switch"})) {
                at = end_of_group(at + (token(at + 1).is("constexpr") ? 2 : 1));
            } else if (is_one_of(first, {"case", "default"})) {
                while (at < tokens_.size() && !token(at++).is(":")) {
                }
            } else if (first.starts_with('#') || is_one_of(first, {"{", "}", ";", "else", "do"})) {
                depth += first == "{" ? 1 : first == "}" ? -1 : 0;
                ++at;
            } else {
                const TokenIndex end = end_of_simple(at);
                read_simple(at, end, depth == 0);
                at = end;
            }
        }
    }

    bool is_outside(TokenIndex first) const {
        const Token& one = token(first);
        if (one.text.starts_with('#')) return !one.text.starts_with("#pragma");
        return is_one_of(one.text, {"typedef", "using", "namespace", "template", "__device__",
                                    "__constant__", "__host__", "static", "inline", "constexpr",
                                    "enum", "union", "__forceinline__", "class"}) ||
               (one.is("struct") && (token(first + 2).is("{") || token(first + 1).is("{"))) ||
               is_function(first);
    }

    // A function and a namespace end with their block, anything else with ';'.
    TokenIndex read_outside(TokenIndex first) {
        TokenIndex end = first;
        while (end < tokens_.size() && !token(first).text.starts_with('#') && !token(end).is(";")) {
            const bool is_body =
                token(end).is("{") && (token(end - 1).is(")") || token(first).is("namespace"));
            end = is_one_of(token(end).text, {"{", "("}) ? end_of_group(end) : end + 1;
            if (is_body) break;
        }
        if (token(first).text.starts_with('#') || token(end).is(";")) ++end;
        std::string item = text_of(first, end);
        const TokenIndex begin = end_of_template(first);
        if (is_function(begin) && item.find("__device__") == item.npos)
            item.insert(token(begin).at - token(first).at, "__device__ ");
        put_outside(first, item);
        hidden_.push_back(range_of(first, end));
        return end;
    }
    void put_outside(TokenIndex first, std::string item) {
        outside_.emplace_back(line_at(token(first).at), std::move(item));
    }
    std::ptrdiff_t line_at(std::size_t place) const {
        return 1 + std::ranges::count(std::string_view(code_.text).substr(0, place), '\n');
    }

    // Types of a kernel's template are --type, its numbers are given.
    void read_template(TokenIndex first) {
        const TokenIndex end = end_of_template(first);
        if (end == first || !token(end).is("__global__")) return;
        for (TokenIndex at = first + 2; at < end; ++at) {
            const std::string value = value_of(token(at).text);
            if (is_one_of(token(at - 1).text, {"typename", "class"}))
                put_outside(at, fmt::format("typedef {} {};", code_.type, token(at).text));
            else if (!value.empty())
                put_outside(at, fmt::format("constexpr auto {} = {};", token(at).text, value));
        }
        hidden_.push_back(range_of(first, end));
    }

    void read_simple(TokenIndex first, TokenIndex end, bool is_top) {
        if (is_one_of(token(first).text, {"return", "break", "continue", "goto", "asm"})) return;
        TokenIndex at = first;
        while (token(at).is_word() || token(at).is("::")) ++at;
        const bool has_two_words =
            at >= first + 2 && token(at - 1).is_word() && token(at - 2).is_word();
        const bool is_pointer =
            token(at).is("*") && token(at + 1).is_word() &&
            (at + 2 >= end || token(at + 2).is_word() || is_one_of(token(at + 2).text, {"=", ","}));
        const bool is_template = token(at).is("<") && !token(first).text.ends_with("_cast");
        if (at > first && (has_two_words || is_pointer || is_template)) {
            if (is_top) read_declaration(first, end);
            return;
        }
        for (at = first; at < end;) {
            if (is_assignment(token(at).text)) return;
            at = is_one_of(token(at).text, {"(", "["}) ? end_of_group(at) : at + 1;
        }
        const bool is_call = token(first).is_word() && token(first + 1).is("(") &&
                             end_of_group(first + 1) == end &&
                             !token(first).text.starts_with("__ld");
        if (!is_call) values_.push_back(range_of(first, end));
    }

    // A pointer without a value, or an array that is too large for registers: of 1,000 and more.
    bool is_parameter(TokenIndex first, TokenIndex end) const {
        bool is_pointer = false, is_array = false, is_large = false;
        for (TokenIndex at = first; at < end; ++at) {
            if (is_one_of(token(at).text, {"=", "(", "__shared__", ","})) return false;
            is_pointer = is_pointer || token(at).is("*");
            is_array = is_array || token(at).is("[");
            is_large = is_large || (token(at).is_number() && token(at).text.size() > 3);
        }
        return is_array ? is_large : is_pointer;
    }

    void read_declaration(TokenIndex first, TokenIndex end) {
        if (is_parameter(first, end)) {
            parameters_.push_back(text_of(first, end));
            hidden_.push_back(range_of(first, end));
            return;
        }
        bool is_shared = false;
        for (TokenIndex at = first; at < end; ++at) {
            const std::string_view name = token(at).text, after = token(at + 1).text;
            is_shared = is_shared || name == "__shared__";
            if (is_shared && token(at).is_word() && after == "[")
                uses_.push_back(fmt::format("coalprof_use_array({});", name));
            if (is_shared) continue;
            if (is_one_of(name, {"(", "[", "{"})) at = end_of_group(at) - 1;
            const bool is_name = at > first && token(at).is_word() &&
                                 (token(at - 1).is_word() || token(at - 1).is(",")) &&
                                 (at + 1 == end || after == "=" || after == ",");
            // A structure that the text names again loads only the members that it uses there.
            const bool is_named_later = std::ranges::count(tokens_, name, &Token::text) > 1;
            if (is_name)
                uses_.push_back(
                    fmt::format("coalprof_use{}({});", is_named_later ? "_number" : "", name));
        }
    }

    // ---- names without a declaration ----

    // A member of a name that the text does not declare.
    void refuse_member(TokenIndex at) const {
        const std::string_view member = token(at + 2).text;
        const auto near = nearest(token(at).text, cuda_names);
        if (!token(at + 1).is(".") ||
            (near == token(at).text && is_one_of(member, {"x", "y", "z"})))
            return;
        const std::array<std::string_view, 3> axes{"x", "y", "z"};
        refuse(token(at), fmt::format("there is no {}.{}", token(at).text, member),
               near ? fmt::format("did you mean {}.{}?", *near, nearest(member, axes).value_or("x"))
                    : "C knows no .T and no np.f(): indices change places, y[i*n + j]; a structure "
                      "is declared: struct P { float x; }; P* p; y[i] = p[i].x;");
    }

    // What a compiler takes for an operator, or calls no pointer.
    void refuse_two_indices(TokenIndex at) const {
        if (!token(at + 1).is("[")) return;
        const TokenIndex end = end_of_group(at + 1);
        bool has_two = token(end).is("[");
        for (TokenIndex one = at + 2; one + 1 < end && !has_two;
             one = is_one_of(token(one).text, {"(", "["}) ? end_of_group(one) : one + 1)
            has_two = token(one).is(",");
        if (has_two)
            refuse(token(at), fmt::format("'{}' has one index", token(at).text),
                   fmt::format("write {0}[row*1024 + column], or declare its rows before: {1} "
                               "{0}[1024][1024];",
                               token(at).text, code_.type));
    }

    void declare(const std::string& name) {
        bool is_array = false, is_index = false, is_assigned = false;
        std::string type = "int";
        for (TokenIndex at = 0; at < tokens_.size(); ++at) {
            if (!token(at).is(name) || (at > 0 && is_one_of(token(at - 1).text, {".", "->"})))
                continue;
            const std::string_view before = at > 0 ? token(at - 1).text : "";
            refuse_member(at);
            refuse_two_indices(at);
            is_array = is_array || is_pointer(at);
            is_index = is_index || is_in_brackets(at) ||
                       (before == "(" && at > 1 && token(at - 2).is("for"));
            is_assigned =
                is_assigned || is_assignment(token(at + 1).text) || is_one_of(before, {"++", "--"});
            for (TokenIndex sign = at; before == "=" && sign-- > 1 && !token(sign).is(";");)
                if (token(sign).is("*") && is_one_of(token(sign + 1).text, {">", ")"}))
                    type = token(sign - 1).text;  // *(T*)p = name
        }
        const std::string_view meaning = meaning_of(name);
        if (is_array) {
            parameters_.push_back(fmt::format("{}* {}", element_type(name), name));
        } else if (!meaning.empty()) {
            locals_.push_back(fmt::format("int {} = {};", name, meaning));
        } else if (is_assigned) {
            locals_.push_back(fmt::format("{} {} = {{}};", is_index ? "int" : code_.type, name));
            uses_.push_back(fmt::format("coalprof_use({});", name));
        } else {
            parameters_.push_back(fmt::format("{} {}", type, name));
        }
    }

    // Signs before a name that is a pointer: a cast, *p, *(p + i), f(p, ...) of memory, T* q = p.
    bool is_pointer(TokenIndex at) const {
        const auto before = [&](std::size_t count) {
            return count <= at ? token(at - count) : Token{};
        };
        const auto is_star = [&](std::size_t count) {  // that is no product
            const Token& left = before(count + 1);
            return before(count).is("*") && !left.is_word() && !is_one_of(left.text, {")", "]"}) &&
                   (left.text.empty() || !left.is_number());
        };
        if (is_one_of(token(at + 1).text, {"[", "->"}) || is_star(1)) return true;
        if (before(1).is(")") && before(2).is("*")) return true;
        if (before(1).is("=") && before(2).is_word() && before(3).is("*")) return true;
        if (!before(1).is("(")) return false;
        const std::string_view called = before(2).text;
        return is_star(2) || (before(2).is(">") && before(3).is("*")) ||
               called.starts_with("atomic") || called.starts_with("__ld") ||
               called.starts_with("__st") || token(end_of_group(at - 1)).is("->");
    }

    // The type that --arg gives, or that the uses of the name show.
    std::string element_type(std::string_view name) const {
        const std::string value = value_of(name);
        if (const std::size_t end = value.find('['); end != value.npos && end > 0)
            return value.substr(0, end);
        for (TokenIndex at = 0; at < tokens_.size(); ++at) {
            if (!token(at).is(name) || !token(at + 1).is("[")) continue;
            if (is_in_brackets(at)) return "int";
            if (token(end_of_group(at + 1)).is("."))  // the text ends in a structure's member
                for (TokenIndex word = tokens_.size(); word-- > 0;)
                    if (token(word).is("struct") && token(word + 2).is("{"))
                        return std::string(token(word + 1).text);
            if (at > 1 && token(at - 1).is("=") && token(at - 2).is_word())
                if (std::string type = type_before(at - 2); !type.empty())
                    return type;  // T v = name[
        }
        return code_.type;
    }

    const PastedCode& code_;
    std::vector<Token> tokens_;
    Token end_;
    std::vector<std::pair<std::ptrdiff_t, std::string>> outside_;  // lines, and what begins there
    std::vector<Range> hidden_;                                    // what is not inside the kernel
    std::vector<Range> values_;                                    // statements that are a value
    std::vector<std::string> uses_;  // statements that use variables' last values
    std::vector<std::string> parameters_, locals_;
};

}  // namespace

std::string source_of(const PastedCode& code, std::string_view file) {
    std::string headers;
    for (const auto& [word, lines] :
         {std::pair{"half", "#include <cuda_fp16.h>\ntypedef __half f16; typedef __half2 f16x2;\n"},
          {"bfloat16", "#include <cuda_bf16.h>\ntypedef __nv_bfloat16 bf16;\n"}})
        if (code.text.find(word) != code.text.npos || code.type.find("f16") != code.type.npos)
            headers += lines;
    return fmt::format("{}{}{}", headers, prelude, Wrapping(code).source(file));
}

bool note_undeclared(PastedCode& code, std::string_view messages) {
    const Wrapping wrapping(code);
    const std::size_t before = code.undeclared.size();
    for (const std::string_view sentence : {"use of undeclared identifier '", "identifier \""})
        for (std::size_t at = 0; (at = messages.find(sentence, at)) != messages.npos;) {
            at += sentence.size();
            const std::string name(messages.substr(at, messages.find(sentence.back(), at) - at));
            const bool is_known = std::ranges::find(code.undeclared, name) != code.undeclared.end();
            if (!is_known && !wrapping.is_whole() && wrapping.refuse_unless_variable(name))
                code.undeclared.push_back(name);
        }
    return code.undeclared.size() > before;
}

std::vector<std::string> without_template_values(const PastedCode& code) {
    const Wrapping wrapping(code);
    std::vector<std::string> others;
    for (const std::string& one : code.arguments)
        if (!wrapping.is_template_value(std::string_view(one).substr(0, one.find('='))))
            others.push_back(one);
    return others;
}

}  // namespace coalprof
