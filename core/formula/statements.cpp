// The statements of a formula: instructions, named parts and assignments.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 13> assignments{
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
bool is_assignment(const Token& token) {
    return token.kind == TokenKind::sign &&
           std::ranges::find(assignments, token.text) != assignments.end();
}

// Words that begin a statement or a declaration of C.
constexpr std::array<std::string_view, 22> words_of_c{
    "for",        "while",        "do",         "switch",    "return",    "break",
    "continue",   "goto",         "struct",     "typedef",   "template",  "using",
    "namespace",  "auto",         "static",     "extern",    "constexpr", "asm",
    "__global__", "__constant__", "__device__", "__shared__"};

const OperatorInfo& operator_of(std::string_view assignment) {
    assignment.remove_suffix(1);
    return *std::ranges::find_if(operator_table, [&](const OperatorInfo& one) {
        return one.power > 0 && one.name == assignment;
    });
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
        return "an expression changes nothing: write i + 1 for the next index";
    if (sign == ",")
        return "commas stand between the arguments of min, max and hash; instructions "
               "are separated by ;";
    if (sign == ":")
        return "a condition is written test ? then : otherwise; an instruction starts "
               "with load:, store:, atomic: or reduce:";
    return "an index looks like i*3 + 1, a[(i%16)*17 + i/16] or load: a[i]; store: b[i*2]";
}

FormulaReader::FormulaReader(std::string_view text, const FormulaContext& context)
    : text_(text), context_(context), trees_(text) {
    formula_.parameters = context.parameters;
    formula_.uses_parameter.resize(context.parameters.size());
    formula_.text = text;
}

ParsedFormula FormulaReader::read() {
    for (token_ = next_token(text_, 0); token_.kind != TokenKind::end;) {
        if (!token_.is(";")) read_statement();
        if (token_.is(";"))
            advance();
        else if (token_.kind != TokenKind::end)
            fail_after_statement();
    }
    if (formula_.accesses.empty() && unknown_call_) throw *unknown_call_;  // Fortran's a(i,j)
    if (formula_.accesses.empty())
        throw error(
            token_.at, "there is no index",
            hint_at_end(parts_.empty()
                            ? "an index looks like i*3, or a[i*3]"
                            : fmt::format("{0} only names a part: use it in an index, e.g. a[{0}]",
                                          parts_.back().name)));
    if (is_divisor(text_.substr(last_end_)))  // i//2
        throw error(text_.find("//", last_end_), "a comment begins here", hint_at_end(""));
    require_conditions_behind_if();
    return std::move(formula_);
}

void FormulaReader::fail_as_c(const Token& token) const {
    throw error(token.at,
                fmt::format("{} is C, and a formula is an index expression", named(token)), c_hint);
}
std::string FormulaReader::named(const Token& token) {
    return token.kind == TokenKind::end ? "the end" : fmt::format("'{}'", shown(token.text));
}
std::string_view FormulaReader::text_between(std::size_t begin, std::size_t end) const {
    while (begin < end && text_[begin] == ' ') ++begin;
    while (begin < end && text_[end - 1] == ' ') --end;
    return text_.substr(begin, end - begin);
}
void FormulaReader::expect(std::string_view sign, const char* hint) {
    if (!token_.is(sign))
        throw error(token_.at, fmt::format("expected '{}', found {}", sign, named(token_)), hint);
    advance();
}

// ---- statements ----

void FormulaReader::read_statement() {
    const Token after = token_.kind == TokenKind::name ? peek() : Token{};
    if (after.is(":")) {
        read_instruction();
    } else {
        require_no_c();
        if (is_assignment(after))
            read_named_part();
        else
            read_expression_statement();
    }
    read_condition();
    finish_statement();
}

void FormulaReader::require_no_c() const {
    const Token after = peek();
    const bool is_branch = is_word("if") && after.is("(");
    const bool is_declaration =
        at_type() && (after.kind == TokenKind::name || after.is("*") || after.is("&"));
    if (token_.is("{") || token_.is("}") || is_branch || is_declaration ||
        (token_.kind == TokenKind::name && !is_known(token_.text) &&
         std::ranges::find(words_of_c, token_.text) != words_of_c.end()))
        fail_as_c(token_);
}

// row = i / 64, s += a[i], k += 1
void FormulaReader::read_named_part() {
    const Token name = token_;
    advance();
    const Token sign = token_;
    NamedPart* known = find_part(name.text);
    if (sign.is("++") || sign.is("--"))
        throw error(sign.at, fmt::format("expected an operator or ';', found '{}'", sign.text),
                    hint_for_sign(sign.text));
    advance_past_operand();
    ReadValue value = loaded(read_whole());
    if (!sign.is("=")) {
        // A sum of data that nothing else is known of begins here.
        ReadValue before = known != nullptr ? known->value : value_of_name(name);
        if (value.is(Kind::number) && !before.is(Kind::number)) throw *before.why;
        value = binary(operator_of(sign.text), sign.at, before, value, trees_);
    }
    if (known != nullptr) {
        known->value = std::move(value);
        return;
    }
    std::string reason = reason_against_name(name.text);
    if (reason.empty() && is_known(name.text)) reason = "it already has a meaning";
    if (!reason.empty())
        throw error(name.at, fmt::format("'{}' cannot be a name for a part", shown(name.text)),
                    fmt::format("{}: call it otherwise", reason));
    if (sign.is("=") && !value.is(Kind::number) && loads_read_ == 0) throw *value.why;
    parts_.push_back({name.text, std::move(value)});
}

void FormulaReader::read_expression_statement() {
    const std::size_t loads = loads_read_;
    const ReadValue value = read_whole();
    if (token_.is("{")) fail_as_c(token_);
    if (is_assignment(token_)) return read_assignment(value);
    if (!value.is(Kind::data)) return read_index(value);
    if (loads == loads_read_) throw *value.why;
}

// b[i] = ..., b[i] += ..., b[i]++
void FormulaReader::read_assignment(ReadValue target) {
    const Token sign = token_;
    if (!target.is(Kind::element)) {
        if (target.is(Kind::rows) && target.indices > 0) throw *target.why;
        if (target.is(Kind::data) && text_[target.span.end - 1] == ')') throw *target.why;
        throw error(sign.at, fmt::format("expected an operator or ';', found '{}'", sign.text),
                    hint_for_sign(sign.text));
    }
    if (!sign.is("=")) loaded(target);
    advance_past_operand();
    if (!sign.is("++") && !sign.is("--")) loaded(read_whole());
    store(target);
}

// An index that stands alone, or an access: --op says what is done.
void FormulaReader::read_index(const ReadValue& value) {
    FormulaAccess access = access_at(value);
    const NodeTree index = value.is(Kind::element) ? value.tree : whole(value, trees_);
    const NodeKind kind = index.back().kind;
    access.is_bare_comparison =
        value.is(Kind::number) && (value.is_comparison || kind == NodeKind::logical_and ||
                                   kind == NodeKind::logical_or || kind == NodeKind::logical_not);
    pending_.push_back({std::move(access), index, {}});
}

// ... if i < n: the condition of all accesses of the statement.
void FormulaReader::read_condition() {
    if (!is_word("if")) return;
    const std::size_t begin = token_.at;
    advance();
    const std::size_t count = pending_.size();
    if (count == 0)
        throw error(begin, "a condition switches accesses off, and here is none",
                    "choose between numbers: i < 32 ? i : 0");
    const ReadValue test = loaded(read_whole());
    for (std::size_t k = 0; k < count; ++k) {
        PendingAccess& one = pending_[k];
        one.condition = trees_.both(whole(test, trees_), one.condition);
        one.access.condition_begin = static_cast<std::uint16_t>(begin);
        one.access.condition_end = static_cast<std::uint16_t>(last_end_);
        if (text_between(one.access.end, begin).empty())  // nothing lies between them
            one.access.end = one.access.condition_end;
    }
    // The loads of the condition come first.
    std::rotate(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count),
                pending_.end());
    known_.clear();
    if (is_word("if"))
        throw error(token_.at, "an access has one condition",
                    "join two with &&: a[i] if i >= 1 && i < n - 1");
}

void FormulaReader::finish_statement() {
    for (PendingAccess& one : pending_) {
        FormulaAccess access = std::move(one.access);
        if (formula_.accesses.size() == max_formula_accesses)
            throw error(access.begin,
                        fmt::format("more than {} instructions", max_formula_accesses),
                        "measure them in several formulas");
        access.index = trees_.append(one.index, formula_.nodes);
        if (!one.condition.empty()) access.condition = condition_node(one.condition);
        formula_.accesses.push_back(std::move(access));
    }
    pending_.clear();
}

// Accesses under one condition share its node.
NodeId FormulaReader::condition_node(const NodeTree& condition) {
    const auto root = static_cast<NodeId>(condition.size() - 1);
    for (const FormulaAccess& other : formula_.accesses)
        if (other.condition && is_same_subtree(condition, root, formula_.nodes, *other.condition))
            return *other.condition;
    return trees_.append(condition, formula_.nodes);
}

// ---- instructions: load.u64: a[i] if i < n ----

void FormulaReader::read_instruction() {
    const std::size_t begin = token_.at;
    const FormulaAccess prefix = read_prefix();
    const std::size_t operand_at = token_.at;
    const ReadValue value = read_whole();
    if (!pending_.empty() && value.is(Kind::data))
        throw error(operand_at, "an instruction is one access",
                    "the value that is read does not matter here: write only the index, and "
                    "further accesses after ;");
    if (value.is(Kind::data)) throw *value.why;
    read_index(value);
    FormulaAccess& access = pending_.back().access;
    access.kind = prefix.kind;
    access.space = prefix.space;
    if (prefix.type) access.type = prefix.type;
    access.is_bare_comparison = false;
    access.begin = static_cast<std::uint16_t>(begin);
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

// ---- accesses ----

FormulaAccess FormulaReader::access_at(const ReadValue& value) {
    FormulaAccess access;
    const bool has_index = value.index.begin != value.index.end;
    const TextSpan index = has_index ? value.index : value.span;
    access.begin = static_cast<std::uint16_t>(value.span.begin);
    access.end = static_cast<std::uint16_t>(value.span.end);
    access.index_begin = static_cast<std::uint16_t>(index.begin);
    access.index_end = static_cast<std::uint16_t>(index.end);
    if (!value.is(Kind::element)) return access;
    access.is_written_whole = !has_index;
    access.array = value.array;
    if (const DeclaredArray* declared = find_array(value.array)) access.type = declared->type;
    for (const auto& [bounded, extent] : value.within) {
        const bool is_number = bounded.size() == 1 && bounded.back().kind == NodeKind::literal;
        if (!is_number || static_cast<std::uint64_t>(bounded.back().value) >= extent)
            access.bounds.push_back({trees_.append(bounded, formula_.nodes), extent});
    }
    return access;
}

void FormulaReader::add_access(AccessKind kind, const ReadValue& element) {
    for (const Guard& guard : guards_)
        if (guard.why) throw *guard.why;
    FormulaAccess access = access_at(element);
    access.kind = kind;
    pending_.push_back({std::move(access), element.tree, condition()});
}

void FormulaReader::store(const ReadValue& element) {
    known_.clear();
    add_access(AccessKind::store, element);
    remember(element,
             data_value(element.span, error(element.span.begin, "what is stored here is not known",
                                            "give the instruction that uses it one of its own")));
}

void FormulaReader::fail_after_statement() const {
    if (token_.is("{") || token_.is("}") || token_.is(".") || token_.is("->")) fail_as_c(token_);
    if (token_.kind == TokenKind::name && (peek().is(":") || peek().is("[")))
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

// ---- names ----

FormulaReader::NamedPart* FormulaReader::find_part(std::string_view name) {
    const auto found = std::ranges::find(parts_, name, &NamedPart::name);
    return found != parts_.end() ? &*found : nullptr;
}

bool FormulaReader::is_known(std::string_view name) const {
    return std::ranges::find(formula_.parameters, name) != formula_.parameters.end() ||
           std::ranges::find(parts_, name, &NamedPart::name) != parts_.end();
}

std::vector<std::string> FormulaReader::own_names() const {
    std::vector<std::string> names = formula_.parameters;
    for (const NamedPart& part : parts_) names.emplace_back(part.name);
    return names;
}

ParsedFormula read_formula(std::string_view text, const FormulaContext& context) {
    if (text.size() > max_formula_bytes)
        throw formula_error(text.substr(0, max_formula_bytes), max_formula_bytes,
                            fmt::format("longer than {} characters", max_formula_bytes),
                            "measure its parts in several formulas");
    for (const std::string& name : context.parameters) require_parameter_name(name);
    ParsedFormula formula = FormulaReader(text, context).read();
    formula.arrays = context.arrays;
    return formula;
}

ParsedFormula parse_formula(std::string_view text, const std::vector<std::string>& parameters) {
    FormulaContext context;
    context.parameters = parameters;
    return read_formula(text, context);
}

void require_parameter_name(std::string_view name) {
    if (name == "n") return;  // kernels have a separate size
    const std::string reason = reason_against_name(name);
    if (!reason.empty())
        throw UsageError(fmt::format("--var: '{}' cannot be a parameter: {}", shown(name), reason),
                         "the formula gets another name for it: --var k=4");
}

}  // namespace coalprof
