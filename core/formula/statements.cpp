// The statements of a formula: instructions, and those of C.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/formula/lexer.h"
#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 11> assignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
bool is_assignment(const Token& token) {
    return token.kind == TokenKind::sign &&
           std::ranges::find(assignments, token.text) != assignments.end();
}
bool is_step(const Token& token) { return token.is("++") || token.is("--"); }

const OperatorInfo* operator_of(std::string_view assignment) {
    assignment.remove_suffix(1);
    const auto found = std::ranges::find_if(operator_table, [&](const OperatorInfo& one) {
        return one.power > 0 && one.name == assignment;
    });
    return found != operator_table.end() ? &*found : nullptr;
}

}  // namespace

std::string hint_for_sign(std::string_view sign) {
    if (sign == "=")
        return "to compare, write ==; to name a part, give it an instruction of its "
               "own: row = i / 64; a[row * 100]";
    if (sign == "**") return "there are no powers: write i*i, or 1 << k for a power of two";
    if (sign == "=<") return "write <=";
    if (sign == "=>") return "write >=";
    if (sign == "<>" || sign == "^^") return "write != for different numbers, ^ for different bits";
    if (sign == "++" || sign == "--" || (sign.size() >= 2 && sign.back() == '='))
        return "an expression changes nothing: write i + 1 for the next index, or i += 1; as a "
               "statement";
    if (sign == ",")
        return "commas stand between the arguments of min, max and hash; instructions "
               "are separated by ;";
    if (sign == "{" || sign == "}")
        return "an index stands in [ ], and { } around the statements of an if or a loop";
    if (sign == ":")
        return "a condition is written test ? then : otherwise; an instruction starts "
               "with load:, store:, atomic: or reduce:";
    return "an index looks like i*3 + 1, a[(i%16)*17 + i/16] or load: a[i]; store: b[i*2]";
}

FormulaReader::FormulaReader(std::string_view text, const FormulaContext& context,
                             const ReadLaunch& launch)
    : code_(without_macros(c_of_python(text, context.arrays), max_formula_bytes)),
      text_(context.structures),
      context_(context),
      launch_(launch),
      types_(launch.type) {
    formula_.parameters = context.parameters;
    formula_.uses_parameter.resize(context.parameters.size());
    formula_.text = code_;
}

ParsedFormula FormulaReader::read() {
    for (seek(0); token_.kind != TokenKind::end;) {
        if (is_word("struct") || is_word("typedef"))
            read_structure(is_word("typedef"));
        else if (!take(";"))
            throw error(token_.at, "--struct describes a structure",
                        "for example --struct 'struct P { float x, y, z; };', in Fortran: type P; "
                        "real :: x, y, z; end type. Its p(i)%x is p[i-1].x");
    }
    text_ = code_;
    declare_arrays(context_.arrays);
    for (seek(0); token_.kind != TokenKind::end;) {
        read_statements("");
        if (token_.is("}"))
            throw error(token_.at, "there is no opening sign for this '}'", "remove it");
    }
    if (formula_.accesses.empty() && unknown_call_) throw *unknown_call_;  // Fortran's a(i,j)
    if (formula_.accesses.empty())
        throw error(token_.at, "there is no index",
                    variables_.empty()
                        ? "an index looks like i*3, or a[i*3]"
                        : fmt::format("{0} only names a part: use it in an index, e.g. a[{0}]",
                                      variables_.back().name));
    require_conditions_behind_if();
    return std::move(formula_);
}

UsageError FormulaReader::error(std::size_t at, const std::string& sentence,
                                const std::string& hint) const {
    return formula_error(text_, at, sentence, hint);
}
std::string FormulaReader::named(const Token& token) {
    return token.kind == TokenKind::end ? "the end" : fmt::format("'{}'", shown(token.text));
}
std::string_view FormulaReader::text_between(std::size_t begin, std::size_t end) const {
    while (begin < end && text_[begin] == ' ') ++begin;
    while (begin < end && text_[end - 1] == ' ') --end;
    return text_.substr(begin, end - begin);
}
bool FormulaReader::take(std::string_view sign) {
    if (!token_.is(sign)) return false;
    advance();
    return true;
}
void FormulaReader::expect(std::string_view sign, const char* hint) {
    if (!take(sign))
        throw error(token_.at, fmt::format("expected '{}', found {}", sign, named(token_)), hint);
}
std::size_t FormulaReader::find_in_group(std::size_t from, std::string_view sign) const {
    int depth = 0;
    for (Token token = next_token(text_, from); token.kind != TokenKind::end;
         token = next_token(text_, token.end())) {
        if (depth == 0 && token.is(sign)) return token.at;
        if (token.is("(") || token.is("[") || token.is("{")) ++depth;
        if ((token.is(")") || token.is("]") || token.is("}")) && --depth < 0) break;
    }
    throw error(from, fmt::format("a '{}' is missing", sign), "every group needs its end");
}
std::size_t FormulaReader::end_of_group(std::size_t open) const {
    const Token sign = next_token(text_, open);
    return find_in_group(sign.end(), sign.is("{") ? "}" : sign.is("[") ? "]" : ")") + 1;
}

// ---- statements ----

void FormulaReader::read_statements(std::string_view end) {
    while (token_.kind != TokenKind::end && !token_.is("}")) read_statement();
    if (!end.empty()) expect(end, "every '{' needs its '}'");
}

void FormulaReader::read_statement() {
    if (take(";")) return;
    if (++blocks_ > max_formula_depth)
        throw error(token_.at, fmt::format("nested deeper than {} levels", max_formula_depth),
                    "`coalprof kernel` takes whole kernels");
    if (token_.is("{")) {
        const std::size_t below = variables_below();
        advance();
        read_statements("}");
        leave(below);
    } else if (!read_control()) {
        if (begins_declaration()) {
            read_declaration();
            // A kernel's body follows its parameters.
            if (!std::exchange(ended_function_, false) && !token_.is("{")) read_statement_end();
        } else {
            read_simple();
            read_statement_end();
        }
    }
    --blocks_;
}

void FormulaReader::read_statement_end() {
    if (token_.kind == TokenKind::end || token_.is("}")) return;
    if (!take(";")) fail_after_statement();
}

bool FormulaReader::read_control() {
    if (token_.kind != TokenKind::name) return false;
    const std::string_view word = token_.text;
    if (word == "if" && peek().kind != TokenKind::end) {
        read_if();
    } else if (word == "for") {
        read_for();
    } else if (word == "while") {
        read_while();
    } else if (word == "do") {
        read_do();
        read_statement_end();
    } else if (word == "template") {
        read_template();
    } else if (word == "using" || word == "namespace") {
        read_using();
        read_statement_end();
    } else if (word == "struct" || word == "typedef") {
        if (word == "struct" && !begins_structure()) return false;
        read_structure(word == "typedef");
        read_statement_end();
    } else if (word == "return") {
        read_exit(ReadExit::Of::function);
    } else if (word == "break" || word == "continue") {
        read_exit(word == "break" ? ReadExit::Of::loop : ReadExit::Of::round);
    } else if (word == "switch") {
        read_switch();
    } else if (word == "goto" || word == "asm" || word == "try") {
        throw error(token_.at, fmt::format("'{}' is not understood", word),
                    "write the accesses with their conditions, a[i] if i < 3, or give the whole "
                    "kernel to `coalprof kernel`");
    } else {
        return false;
    }
    return true;
}

// struct P { ...; `struct P* p` declares a pointer.
bool FormulaReader::begins_structure() const {
    Token token = peek();
    while (token.kind == TokenKind::name) token = next_token(text_, token.end());
    return token.is("{") || token.is("(");
}

void FormulaReader::read_if() {
    advance();
    if (is_word("constexpr")) advance();
    const std::size_t open = token_.at;
    expect("(", "a condition is written if (i < n) b[i] = a[i];, or b[i] if i < n");
    const ReadValue test = loaded(read_whole());
    expect_closing(open);
    const std::size_t guards = guards_.size();
    const std::size_t exits = exits_.size();
    push_guard(guard_of(test, true));
    read_statement();
    guards_.resize(guards);
    if (is_word("else")) {
        advance();
        push_guard(guard_of(test, false));
        read_statement();
        guards_.resize(guards);
    }
    apply_exits(exits);
}

// template <int N>: its numbers are given by --var, its types are --type.
void FormulaReader::read_template() {
    advance();
    for (int depth = 0; token_.kind != TokenKind::end; advance()) {
        if ((is_word("typename") || is_word("class")) && peek().kind == TokenKind::name)
            types_.add_alias(std::string(peek().text), CTypes::usual);
        if (token_.is("<")) ++depth;
        if (token_.is(">") && --depth == 0) break;
    }
    expect(">", "template <int N> __global__ void f(float* a)");
}

// using real = float; namespace cg = cooperative_groups; using namespace std;
void FormulaReader::read_using() {
    const bool may_be_type = is_word("using");
    advance();
    const Token name = token_;
    if (may_be_type && peek().is("=")) {
        advance();
        advance();
        return types_.add_alias(std::string(name.text), read_type());
    }
    while (token_.kind != TokenKind::end && !token_.is(";")) advance();
}

// ---- simple statements ----

void FormulaReader::read_simple() {
    if (is_step(token_) && peek().kind == TokenKind::name) {  // ++i
        const Token sign = token_;
        advance();
        const Token name = token_;
        advance_past_operand();
        return assign_name(name, sign, {});
    }
    const Token after = token_.kind == TokenKind::name ? peek() : Token{};
    if (after.is(":")) return read_instruction();
    const bool is_array = token_.kind == TokenKind::name && find_array(token_.text) != nullptr &&
                          find_variable_of_text(token_.text) == nullptr;
    if ((is_assignment(after) || is_step(after)) &&
        (!is_array || find_array(token_.text)->type != CTypes::usual))
        return read_assigned_name();
    read_access();
}

void FormulaReader::read_assigned_name() {
    Token name = token_;
    const std::size_t dot = name.text.find('.');
    if (dot != name.text.npos && is_known(name.text.substr(0, dot))) return read_access();
    advance();
    const Token sign = token_;
    advance_past_operand();
    if (is_step(sign)) return assign_name(name, sign, {});
    if (!sign.is("=")) return assign_name(name, sign, loaded(read_whole()));
    std::string reason;
    if (find_variable_of_text(name.text) == nullptr) {
        reason = reason_against_name(name.text);
        if (reason.empty() && is_known(name.text)) reason = "it already has a meaning";
        if (!reason.empty())
            throw error(name.at, fmt::format("'{}' cannot be a name for a part", shown(name.text)),
                        fmt::format("{}: declare it, as C does, int {} = ..., or call it otherwise",
                                    reason, shown(name.text)));
    }
    const ReadVariable* before = find_variable_of_text(name.text);
    ReadValue value =
        taken(read_whole(), before != nullptr ? before->type : CTypes::none, name.text);
    if (ReadVariable* known = find_variable_of_text(name.text))
        return assign(*known, std::move(value));
    if (value.is(Kind::pointer) && value.may_be_array && value.why) throw *value.why;
    if (value.is(Kind::data) && value.why && touched_ == 0) throw *value.why;
    declare(name.text, std::move(value), CTypes::none);
}

// name += value, name++
void FormulaReader::assign_name(const Token& name, const Token& sign, ReadValue value) {
    if (is_step(sign))
        value = number(leaf(NodeKind::literal, 1, sign.at, sign.end()), sign.at, sign.end());
    if (find_variable_of_text(name.text) == nullptr) {
        ReadValue first = value_of_name(name);
        if (first.may_be_array && first.why && value.is(Kind::number)) throw *first.why;
        if (first.may_be_array && first.why) first = data(name.at, name.end(), *first.why);
        declare_first(name.text, std::move(first));
    }
    ReadVariable& variable = *find_variable_of_text(name.text);
    const std::string_view word = sign.is("++") ? "+=" : sign.is("--") ? "-=" : sign.text;
    ReadValue result = binary(*operator_of(word), sign.at, variable.value, std::move(value));
    assign(*find_variable_of_text(name.text), std::move(result));
}

void FormulaReader::read_access() {
    const std::size_t touched = touched_;
    ReadValue value = read_whole();
    if (is_assignment(token_) || is_step(token_)) return read_assignment(std::move(value));
    finish_expression(std::move(value), touched);
}

// b[i] = ..., b[i] += ..., b[i]++
void FormulaReader::read_assignment(ReadValue target) {
    const Token sign = token_;
    if (!target.is(Kind::place) && !target.is(Kind::data))
        throw error(sign.at, fmt::format("expected an operator or ';', found '{}'", sign.text),
                    hint_for_sign(sign.text));
    if (target.is(Kind::data) && target.why && text_[target.end - 1] == ')') throw *target.why;
    if (!sign.is("=") && target.is(Kind::place)) loaded(target);
    advance_past_operand();
    if (!is_step(sign)) {
        const ReadValue value = loaded(read_whole());
        if (sign.is("=") && value.is(Kind::data)) settle(target, value.type);
    }
    if (target.is(Kind::place)) store(target);
}

// The effect of an expression statement.
void FormulaReader::finish_expression(ReadValue value, std::size_t touched) {
    if (token_.is("{")) fail_after_statement();  // a{i}
    if (value.atomic && *value.atomic < formula_.accesses.size()) {
        const std::string_view call = text_.substr(value.begin);
        const bool needs_old = call.starts_with("atomicExch") || call.starts_with("atomicCAS");
        if (!needs_old) formula_.accesses[*value.atomic].kind = AccessKind::reduce;
        return;
    }
    if (value.is(Kind::data)) {
        const bool is_intrinsic = value.is_group || text_.substr(value.begin).starts_with("__");
        if (touched == touched_ && !is_dead() && !is_intrinsic) throw *value.why;
        return;
    }
    if (value.is(Kind::place) && types_.at(value.type).kind == CType::Kind::structure) {
        const std::size_t behind = token_.at;  // each has the condition
        for (ReadValue& part : parts_of(value)) {
            seek(behind);
            finish_expression(std::move(part), touched);
        }
        return;
    }
    FormulaAccess access = access_at(value);
    NodeTree index;
    if (value.is(Kind::place)) {
        const ReadArray* array = find_array(value.array);
        if (array != nullptr && array->is_local) return;
        index = index_of(value);
    } else {
        index = whole(value);
        const NodeKind kind = index.back().kind;
        access.is_bare_comparison = value.is_comparison || kind == NodeKind::logical_and ||
                                    kind == NodeKind::logical_or || kind == NodeKind::logical_not;
    }
    read_end_of_access(std::move(access), index);
}

void FormulaReader::read_end_of_access(FormulaAccess access, const NodeTree& index) {
    NodeTree condition;
    if (is_word("if")) {
        access.condition_begin = static_cast<std::uint16_t>(token_.at);
        advance();
        condition = whole(loaded(read_whole()));
    }
    access.end = static_cast<std::uint16_t>(last_end_);
    if (!is_dead()) finish_access(std::move(access), index, std::move(condition));
}

// ---- instructions: load.u64: a[i] if i < n ----

void FormulaReader::read_instruction() {
    const std::size_t begin = token_.at;
    const FormulaAccess prefix = read_prefix();
    const std::size_t operand_at = token_.at;
    const std::size_t accesses = formula_.accesses.size();
    ReadValue value = read_whole();
    if (formula_.accesses.size() != accesses && value.is(Kind::data))
        throw error(operand_at, "an instruction is one access",
                    "the value that is read does not matter here: write only the index, and "
                    "further accesses after ;");
    if (value.is(Kind::data) || (value.is(Kind::pointer) && value.why)) throw *value.why;
    FormulaAccess access = access_at(value);
    access.kind = prefix.kind;
    if (prefix.space == Space::shared) access.space = prefix.space;
    if (prefix.type) {
        access.type = prefix.type;
        access.has_c_type = false;
    }
    access.begin = static_cast<std::uint16_t>(begin);
    const NodeTree index = value.is(Kind::place) ? index_of(value) : whole(value);
    read_end_of_access(std::move(access), index);
}

FormulaAccess FormulaReader::read_prefix() {
    FormulaAccess access;
    std::string_view word = token_.text;
    std::size_t at = token_.at;
    constexpr std::string_view shared = "shared.";
    if (word.starts_with(shared)) {
        access.space = Space::shared;
        word.remove_prefix(shared.size());
        at += shared.size();
    }
    const std::size_t dot = word.find('.');
    const std::string_view kind = word.substr(0, dot);
    access.kind = find_access_kind(kind);
    if (!access.kind)
        throw error(at, fmt::format("unknown instruction '{}:'", shown(kind)),
                    hint_for_prefix(kind));
    if (dot != std::string_view::npos) {
        const std::string_view type = word.substr(dot + 1);
        access.type = find_element_type(type);
        if (!access.type)
            throw error(at + dot + 1, fmt::format("unknown type '{}'", shown(type)),
                        hint_for_element_type(type));
    }
    advance();
    advance();
    return access;
}

void FormulaReader::fail_after_statement() {
    const FormulaAccess* last = formula_.accesses.empty() ? nullptr : &formula_.accesses.back();
    if (last != nullptr && is_word("if") && last->condition_begin == 0)
        throw error(token_.at, "the condition of a statement stands before it",
                    "if (tid < 49) s += a[tid]; or of the access alone: load: a[tid] if tid < 49");
    if (last != nullptr && is_word("if"))
        throw error(token_.at, "an access has one condition",
                    "join two with &&: a[i] if i >= 1 && i < n - 1");
    if (last != nullptr && token_.kind == TokenKind::name && (peek().is(":") || peek().is("[")))
        throw error(token_.at, fmt::format("expected ';', found {}", named(token_)),
                    "instructions are separated by ;");
    if (token_.is(")") || token_.is("]"))
        throw error(token_.at, fmt::format("there is no opening sign for this {}", named(token_)),
                    "remove it, or open it before");
    const bool starts_operand = token_.kind == TokenKind::number ||
                                token_.kind == TokenKind::name || token_.is("(") ||
                                token_.is("~") || token_.is("!");
    throw error(token_.at, fmt::format("expected an operator or ';', found {}", named(token_)),
                starts_operand ? hint_for_two_operands() : hint_for_sign(token_.text));
}

// `lane < 27; b[i]`: an access at index 0 or 1 beside another is never meant.
void FormulaReader::require_conditions_behind_if() const {
    if (formula_.accesses.size() < 2) return;
    for (std::size_t k = 0; k < formula_.accesses.size(); ++k) {
        const FormulaAccess& access = formula_.accesses[k];
        if (!access.is_bare_comparison) continue;
        const FormulaAccess& other =
            formula_.accesses[k + 1 < formula_.accesses.size() ? k + 1 : 0];
        const std::string_view test = text_between(access.begin, access.end);
        throw error(access.begin, fmt::format("'{}' is a condition, and no index", shown(test)),
                    fmt::format("a condition follows its access: {} if {}",
                                shown(text_between(other.begin, other.end)), shown(test)));
    }
}

}  // namespace coalprof
