// A Pratt parser: one loop over binary operators, each with its binding power, the powers being
// C's. It recurses once per level of nesting, of which max_formula_depth are allowed.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/complaint.h"
#include "core/formula/lexer.h"
#include "core/formula/operators.h"
#include "core/formula/vocabulary.h"

namespace coalprof {
namespace {

constexpr int conditional_power = 1;
constexpr int comparison_power = 7;  // of == and !=; < and the others bind one tighter
constexpr int unary_power = 12;

const OperatorInfo* find_operator(const Token& token, bool is_binary) {
    if (token.kind != TokenKind::sign) return nullptr;
    const auto found = std::ranges::find_if(operator_table, [&](const OperatorInfo& candidate) {
        return candidate.name == token.text && (candidate.power > 0) == is_binary;
    });
    return found != operator_table.end() ? &*found : nullptr;
}
const OperatorInfo* find_binary(const Token& token) { return find_operator(token, true); }
const OperatorInfo* find_unary(const Token& token) { return find_operator(token, false); }

bool is_comparison(NodeKind kind) { return kind >= NodeKind::less && kind <= NodeKind::not_equal; }

// What is meant by a sign that the language does not have, or not there.
std::string hint_for_sign(std::string_view sign) {
    if (sign == "=")
        return "to compare, write ==; to name a part, give it an instruction of its "
               "own: row = i / 64; a[row * 100]";
    if (sign == "**") return "there are no powers: write i*i, or 1 << k for a power of two";
    if (sign == "//")
        return "/ already divides to a whole number (towards zero, as in C); there are no comments";
    if (sign == "->") return "one member of a structure has an index, e.g. i*3 + 1";
    if (sign == "=<") return "write <=";
    if (sign == "=>") return "write >=";
    if (sign == "<>" || sign == "^^") return "write != for different numbers, ^ for different bits";
    if (sign == "++" || (sign.size() >= 2 && sign.back() == '='))
        return "a formula changes nothing: write i + 1 for the next index";
    if (sign == ",")
        return "commas stand between the arguments of min, max and hash; instructions "
               "are separated by ;";
    if (sign == "[")
        return "an index cannot read memory: give the inner array an instruction of "
               "its own, e.g. load: row[i]; load: a[i*4]";
    if (sign == ":")
        return "a condition is written test ? then : otherwise; an instruction starts "
               "with load:, store:, atomic: or reduce:";
    return "an index looks like i*3 + 1, a[(i%16)*17 + i/16] or load: a[i]; store: b[i*2]";
}

// An expression that was read: its node, and its text with the parentheses around it.
struct Operand {
    NodeId node = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool bare_comparison = false;  // without parentheses around it
};

// `row = i / 64`: the tree to put wherever the name stands.
struct Definition {
    std::string_view name;
    std::vector<Node> nodes;
};

class Parser {
 public:
    Parser(std::string_view text, const std::vector<std::string>& parameters,
           std::uint64_t tile_width)
        : tile_width_(tile_width) {
        formula_.text = text;
        formula_.parameters = parameters;
        formula_.uses_parameter.resize(parameters.size());
        names_ = parameters;
    }

    ParsedFormula parse() {
        advance();
        while (token_.kind != TokenKind::end) {
            if (token_.is(";")) {
                advance();
                continue;
            }
            parse_statement();
            if (token_.kind != TokenKind::end && !token_.is(";")) fail_after_statement();
        }
        if (formula_.accesses.empty())
            throw error(token_.at, "there is no index",
                        definitions_.empty()
                            ? "an index looks like i*3, or a[i*3]"
                            : fmt::format("{0} only names a part: use it in an index, e.g. a[{0}]",
                                          definitions_.back().name));
        return std::move(formula_);
    }

 private:
    std::string_view text() const { return formula_.text; }
    UsageError error(std::size_t at, const std::string& sentence, const std::string& hint) const {
        return formula_error(text(), at, sentence, hint);
    }
    void advance() { token_ = next_token(text(), token_.end()); }
    Token peek() const { return next_token(text(), token_.end()); }
    static std::string named(const Token& token) {
        return token.kind == TokenKind::end ? "the end" : fmt::format("'{}'", shown(token.text));
    }

    // ---- statements ----

    void parse_statement() {
        const Token after = token_.kind == TokenKind::name ? peek() : Token{};
        if (after.is("=")) return parse_definition();
        if (token_.is("&") || token_.is("*"))
            throw error(token_.at, fmt::format("expected an index, found {}", named(token_)),
                        "there are no pointers and addresses: write the access, a[i*2]");
        if (formula_.accesses.size() == max_formula_accesses)
            throw error(token_.at, fmt::format("more than {} instructions", max_formula_accesses),
                        "measure them in several formulas");
        FormulaAccess access;
        access.begin = position(token_.at);
        if (after.is(":")) parse_prefix(access);
        if (token_.kind == TokenKind::name && peek().is("[")) {
            parse_array(access);
        } else {
            parse_index(access);
        }
        if (token_.kind == TokenKind::name && token_.text == "if") {
            access.condition_begin = position(token_.at);
            advance();
            access.condition = parse_expression(0).node;
        }
        access.end = position(last_end_);
        formula_.accesses.push_back(std::move(access));
    }

    void parse_definition() {
        const std::string_view name = token_.text;
        std::string reason = reason_against_name(name);
        if (reason.empty() && is_known(name)) reason = "it already has a meaning";
        if (!reason.empty())
            throw error(token_.at, fmt::format("'{}' cannot be a name for a part", shown(name)),
                        reason);
        advance();
        advance();
        const Operand value = parse_expression(0);
        Definition definition{name, {}};
        const NodeId first = formula_.nodes[value.node].first;
        definition.nodes = copied(first, value.node, 0);
        formula_.nodes.resize(first);
        definitions_.push_back(std::move(definition));
        names_.emplace_back(name);
    }

    void parse_prefix(FormulaAccess& access) {
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
                            hint_for_type(type));
        }
        advance();
        advance();
    }

    void parse_index(FormulaAccess& access) {
        const Operand index = parse_expression(0);
        access.index = index.node;
        access.index_begin = position(index.begin);
        access.index_end = position(index.end);
    }

    void parse_array(FormulaAccess& access) {
        const std::string reason = reason_against_name(token_.text);
        if (!reason.empty())
            throw error(token_.at, fmt::format("'{}' cannot be an array", shown(token_.text)),
                        reason + ": call it a, b, table, ...");
        access.array = token_.text;
        const std::size_t name_at = token_.at;
        advance();
        const std::size_t open = token_.at;
        refuse_second_index(access, name_at, open);
        advance();
        parse_index(access);
        if (!token_.is("]"))
            throw error(token_.at,
                        fmt::format("expected ']' for the '[' in column {}, found {}", open + 1,
                                    named(token_)),
                        token_.is(",") ? hint_for_dimensions() : hint_to_close(closed(open)));
        advance_past_operand();
    }
    static std::string hint_for_dimensions() {
        return "flatten it as the hardware does: a[row*pitch + column]";
    }
    // Before the first index is read: what is wrong with it depends on there being two.
    void refuse_second_index(const FormulaAccess& access, std::size_t name_at,
                             std::size_t open) const {
        const std::size_t close = closing_bracket(open);
        const std::size_t second = text().find_first_not_of(" \t\n", close + 1);
        if (close == text().size() || second == text().npos || text()[second] != '[') return;
        const std::size_t end = closing_bracket(second);
        const bool is_plain = text().find('[', open + 1) == second && end < text().size() &&
                              text().find('[', second + 1) > end;
        throw error(second, "an array has one index",
                    is_plain ? flattened(access, name_at, {open + 1, close}, {second + 1, end})
                             : hint_for_dimensions());
    }
    struct Part {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    // "W = 1024; row = i / W; load: A[row*W + tid.x]": the whole formula, where what has no meaning
    // yet is given one. The length of a row decides about conflicts and only its author knows it.
    std::string flattened(const FormulaAccess& access, std::size_t name_at, Part row,
                          Part column) const {
        const std::string rows(text_between(row.begin, row.end));
        const bool is_word = rows.find_first_of(" +-*/%()<>&|^?:,") == rows.npos;
        const std::uint64_t length = access.space == Space::shared ? tile_width_ : 1024;
        const std::string width = free_width();
        return fmt::format(
            "flatten it as the hardware does, with the length that a row has in your program for "
            "{1}, which is {2} only as an example: {0}",
            shown(fmt::format("{1} = {2}; {3}{4}{5}{0}[{6}*{1} + {7}]{8}", access.array, width,
                              length, meanings(row, fmt::format("i / {}", width)),
                              meanings(column, fmt::format("i % {}", width)),
                              text().substr(0, name_at), is_word ? rows : fmt::format("({})", rows),
                              text_between(column.begin, column.end),
                              text().substr(column.end + 1))),
            width, length);
    }
    std::string free_width() const {
        std::string name = "W";
        for (int number = 2; is_known(name) || text().find(name) != text().npos; ++number)
            name = fmt::format("W{}", number);
        return name;
    }
    std::string meanings(Part part, std::string_view meaning) const {
        std::string definitions;
        for (Token token = next_token(text(), part.begin); token.at < part.end;
             token = next_token(text(), token.end()))
            if (token.kind == TokenKind::name && is_unknown(token.text))
                definitions += fmt::format("{} = {}; ", token.text, meaning);
        return definitions;
    }
    bool is_unknown(std::string_view name) const {
        return !is_known(name) && reason_against_name(name).empty();
    }
    // The end of the text where there is none.
    std::size_t closing_bracket(std::size_t open) const {
        std::size_t depth = 0;
        for (std::size_t at = open; at < text().size(); ++at) {
            if (text()[at] == '[') ++depth;
            if (text()[at] == ']' && --depth == 0) return at;
        }
        return text().size();
    }
    // What was read from the name before `open` on, with the bracket that it lacks.
    std::string closed(std::size_t open) const {
        return token_.kind == TokenKind::end
                   ? fmt::format("add ]: {}]", shown(text_between(open - 1, last_end_)))
                   : "an array is written a[index]";
    }

    [[noreturn]] void fail_after_statement() {
        const FormulaAccess* last = formula_.accesses.empty() ? nullptr : &formula_.accesses.back();
        if (last != nullptr && token_.text == "if")
            throw error(token_.at, "an access has one condition",
                        "join two with &&: a[i] if i >= 1 && i < n - 1");
        if (last != nullptr && token_.kind == TokenKind::name && (peek().is(":") || peek().is("[")))
            throw error(token_.at, fmt::format("expected ';', found {}", named(token_)),
                        "instructions are separated by ;");
        if (last != nullptr && text()[last->end - 1u] == ']' && token_.is("="))
            throw error(token_.at, "an access is no assignment",
                        "write its load and its store: load: a[i]; store: b[i]");
        if (last != nullptr && text()[last->end - 1u] == ']' && find_binary(token_) != nullptr)
            throw error(
                token_.at,
                fmt::format("expected ';' or 'if' behind the access, found {}", named(token_)),
                "the value that is read does not matter here: write only the index, and "
                "further accesses behind ;");
        fail_after_operand();
    }

    // ---- expressions ----

    Operand parse_expression(int least_power) {
        if (++nesting_ > max_formula_depth)
            throw error(token_.at, fmt::format("nested deeper than {} levels", max_formula_depth),
                        "name parts of it first: row = i / 64; a[row * 100]");
        Operand left = parse_operand();
        for (;;) {
            if (token_.is("?") && conditional_power >= least_power) {
                left = parse_conditional(left);
                continue;
            }
            const OperatorInfo* binary = find_binary(token_);
            if (binary == nullptr || binary->power < least_power) break;
            const Token sign = token_;
            advance();
            const Operand right = parse_expression(binary->power + 1);
            require_parentheses(*binary, sign, left, right);
            left = join(binary->kind, sign.at, left, right);
            left.bare_comparison = is_comparison(binary->kind);
        }
        --nesting_;
        return left;
    }

    // C reads `i & 31 == 0` as `i & (31 == 0)` and `0 <= i < n` as `(0 <= i) < n`; nobody means it.
    void require_parentheses(const OperatorInfo& binary, const Token& sign, const Operand& left,
                             const Operand& right) const {
        const bool is_bitwise = binary.power >= 4 && binary.power < comparison_power;
        if (!(is_bitwise || is_comparison(binary.kind))) return;
        if (!left.bare_comparison && !right.bare_comparison) return;
        if (!is_bitwise)
            throw error(sign.at,
                        fmt::format("a comparison cannot be compared with '{}'", sign.text),
                        fmt::format("write {}, or put one comparison in parentheses",
                                    left.bare_comparison ? joined_comparison(left, sign, right)
                                                         : "0 <= i && i < n"));
        throw error(sign.at, fmt::format("comparisons bind tighter than '{0}', as in C", sign.text),
                    fmt::format("write {}, or put the comparison in parentheses",
                                right.bare_comparison ? compared_bits(left, sign, right)
                                                      : fmt::format("(i {} 31) == 0", sign.text)));
    }
    // Without blanks at its ends.
    std::string_view text_between(std::size_t begin, std::size_t end) const {
        while (begin < end && text()[begin] == ' ') ++begin;
        while (begin < end && text()[end - 1] == ' ') --end;
        return text().substr(begin, end - begin);
    }
    // `0 <= i < n` as "0 <= i && i < n"
    std::string joined_comparison(const Operand& left, const Token& sign,
                                  const Operand& right) const {
        const std::size_t middle = text().find_first_not_of("<>=!", formula_.nodes[left.node].at);
        return shown(fmt::format("{} && {} {} {}", text_between(left.begin, left.end),
                                 text_between(middle, left.end), sign.text,
                                 text_between(right.begin, right.end)));
    }
    // `lane & 3 == 0` as "(lane & 3) == 0"
    std::string compared_bits(const Operand& left, const Token& sign, const Operand& right) const {
        const std::size_t comparison = formula_.nodes[right.node].at;
        return shown(fmt::format("({} {} {}) {}", text_between(left.begin, left.end), sign.text,
                                 text_between(right.begin, comparison),
                                 text_between(comparison, right.end)));
    }

    Operand parse_conditional(const Operand& condition) {
        const std::size_t at = token_.at;
        advance();
        const Operand then = parse_expression(conditional_power);
        if (!token_.is(":"))
            throw error(token_.at,
                        fmt::format("expected ':' for the '?' in column {}, found {}", at + 1,
                                    named(token_)),
                        "a condition is written test ? then : otherwise");
        advance();
        const Operand otherwise = parse_expression(conditional_power);
        Node node;
        node.kind = NodeKind::conditional;
        node.children = {condition.node, then.node, otherwise.node};
        return finish(node, at, condition.begin, otherwise.end);
    }

    Operand parse_operand() {
        const std::size_t at = token_.at;
        if (token_.kind == TokenKind::number) {
            Node node;
            node.value = token_.value;
            advance_past_operand();
            return finish(node, at, at, last_end_);
        }
        if (token_.kind == TokenKind::name && token_.text != "if") return parse_name();
        if (token_.is("(")) return parse_parentheses();
        if (token_.is("+")) {
            advance();
            return parse_expression(unary_power);
        }
        if (const OperatorInfo* unary = find_unary(token_)) {
            advance();
            const Operand operand = parse_expression(unary_power);
            Node node;
            node.kind = unary->kind;
            node.children[0] = operand.node;
            return finish(node, at, at, operand.end);
        }
        fail_before_operand();
    }

    Operand parse_parentheses() {
        const std::size_t open = token_.at;
        advance();
        Operand inside = parse_expression(0);
        expect_closing(open);
        inside.begin = open;
        inside.end = last_end_;
        inside.bare_comparison = false;
        return inside;
    }

    void expect_closing(std::size_t open) {
        if (!token_.is(")"))
            throw error(token_.at,
                        fmt::format("expected ')' for the '(' in column {}, found {}", open + 1,
                                    named(token_)),
                        hint_to_close("every '(' needs its ')'"));
        advance_past_operand();
    }

    Operand parse_name() {
        const Token name = token_;
        const Token after = peek();
        if (after.is("(")) return parse_call();
        if (after.is("->"))
            throw error(after.at, "expected an operator or ';', found '->'", hint_for_sign("->"));
        if (after.is("["))
            throw error(name.at, fmt::format("the value of {}[...] is not known", shown(name.text)),
                        hint_for_sign("["));
        advance_past_operand();
        for (const Definition& definition : definitions_)
            if (definition.name == name.text) return paste(definition, name);
        Node node;
        if (const auto variable = find_variable(name.text)) {
            node.kind = NodeKind::variable;
            node.value = static_cast<std::int64_t>(*variable);
        } else {
            node.kind = NodeKind::parameter;
            node.value = parameter_index(name);
        }
        return finish(node, name.at, name.at, name.end());
    }

    std::int64_t parameter_index(const Token& name) {
        for (std::size_t k = 0; k < formula_.parameters.size(); ++k) {
            if (formula_.parameters[k] != name.text) continue;
            formula_.uses_parameter[k] = true;
            return static_cast<std::int64_t>(k);
        }
        throw error(name.at, fmt::format("unknown name '{}'", shown(name.text)),
                    hint_for_name(name.text, names_));
    }

    Operand parse_call() {
        const Token name = token_;
        const OperatorInfo* function = find_function(name.text);
        if (function == nullptr)
            throw error(name.at, fmt::format("unknown function '{}'", shown(name.text)),
                        hint_for_function(name.text));
        advance();
        const std::size_t open = token_.at;
        advance();
        std::size_t count = 0;
        std::vector<Operand> arguments;
        while (!token_.is(")")) {
            arguments.push_back(parse_expression(0));
            // min(a, b, c) is min(min(a, b), c), made as it is read: subtrees stay in one piece.
            if (folds(function->kind) && arguments.size() > 1)
                arguments = {call(function->kind, name, arguments)};
            ++count;
            if (!token_.is(",") || count == function->most_arguments) break;
            advance();
        }
        if (token_.is(",") || (token_.is(")") && count < function->fewest_arguments))
            throw error(token_.at,
                        fmt::format("too {} arguments for '{}'", token_.is(",") ? "many" : "few",
                                    function->name),
                        fmt::format("it is written {}", function->usage));
        expect_closing(open);
        if (function->kind == NodeKind::hash && count == 2) arguments.push_back(default_seed(name));
        if (folds(function->kind)) {
            formula_.nodes[arguments[0].node].end = position(last_end_);
            arguments[0].end = last_end_;
            return arguments[0];
        }
        return call(function->kind, name, arguments);
    }

    static bool folds(NodeKind kind) {
        return kind == NodeKind::minimum || kind == NodeKind::maximum;
    }

    Operand call(NodeKind kind, const Token& name, const std::vector<Operand>& arguments) {
        Node node;
        node.kind = kind;
        for (std::size_t k = 0; k < arguments.size(); ++k) node.children[k] = arguments[k].node;
        return finish(node, name.at, name.at, last_end_);
    }

    Operand default_seed(const Token& name) {
        Node seed;
        seed.value = 1;
        return finish(seed, name.at, name.at, last_end_);
    }

    // ---- nodes ----

    static std::uint16_t position(std::size_t at) { return static_cast<std::uint16_t>(at); }

    Operand join(NodeKind kind, std::size_t at, const Operand& left, const Operand& right) {
        Node node;
        node.kind = kind;
        node.children = {left.node, right.node, 0};
        return finish(node, at, left.begin, right.end);
    }

    Operand finish(Node node, std::size_t at, std::size_t begin, std::size_t end) {
        const std::size_t id = formula_.nodes.size();
        if (id == max_formula_nodes)
            throw error(at,
                        fmt::format("more than {} numbers, names and operators", max_formula_nodes),
                        "measure its parts in several formulas");
        node.at = position(at);
        node.begin = position(begin);
        node.end = position(end);
        node.first = static_cast<NodeId>(id);
        node.depth = 1;
        const std::size_t children = child_count(node.kind);
        if (children > 0) node.first = formula_.nodes[node.children[0]].first;
        for (std::size_t k = 0; k < children; ++k) {
            const std::size_t depth = formula_.nodes[node.children[k]].depth + std::size_t{1};
            if (depth > max_formula_depth)
                throw error(at, fmt::format("nested deeper than {} levels", max_formula_depth),
                            "a chain of operators counts too: a + b + c has 3 levels");
            node.depth = std::max(node.depth, static_cast<std::uint8_t>(depth));
        }
        formula_.nodes.push_back(node);
        return {static_cast<NodeId>(id), begin, end, false};
    }

    // The nodes first .. last, renumbered so that the first one gets number `start`.
    std::vector<Node> copied(NodeId first, NodeId last, std::size_t start) const {
        std::vector<Node> nodes(formula_.nodes.begin() + first, formula_.nodes.begin() + last + 1);
        for (Node& node : nodes) renumber(node, start - first);
        return nodes;
    }
    static void renumber(Node& node, std::size_t shift) {
        node.first = static_cast<NodeId>(node.first + shift);
        for (std::size_t k = 0; k < child_count(node.kind); ++k)
            node.children[k] = static_cast<NodeId>(node.children[k] + shift);
    }

    Operand paste(const Definition& definition, const Token& name) {
        const std::size_t start = formula_.nodes.size();
        if (start + definition.nodes.size() > max_formula_nodes)
            throw error(name.at,
                        fmt::format("more than {} numbers, names and operators, counting "
                                    "'{}' wherever it stands",
                                    max_formula_nodes, shown(name.text)),
                        "measure its parts in several formulas");
        for (Node node : definition.nodes) {
            renumber(node, start);
            formula_.nodes.push_back(node);
        }
        return {static_cast<NodeId>(formula_.nodes.size() - 1), name.at, name.end(), false};
    }

    bool is_known(std::string_view name) const {
        for (const std::string& known : names_)
            if (known == name) return true;
        return false;
    }

    // Advances and remembers where the text of what was just read ends.
    void advance_past_operand() {
        last_end_ = token_.end();
        advance();
    }

    // ---- what else can stand there ----

    [[noreturn]] void fail_before_operand() const {
        if (token_.text == "if")
            throw error(token_.at, "the condition stands behind the access",
                        "write a[i*2] if i < n/2");
        if (token_.kind == TokenKind::end)
            throw error(token_.at, "expected a number, a name or '(' at the end",
                        "the formula stops in the middle: complete or remove its last operator");
        throw error(token_.at,
                    fmt::format("expected a number, a name or '(', found {}", named(token_)),
                    hint_for_sign(token_.text));
    }

    [[noreturn]] void fail_after_operand() const {
        if (token_.is(")") || token_.is("]"))
            throw error(token_.at,
                        fmt::format("there is no opening sign for this {}", named(token_)),
                        "remove it, or open it before");
        const bool starts_operand = token_.kind == TokenKind::number ||
                                    token_.kind == TokenKind::name || token_.is("(") ||
                                    token_.is("~") || token_.is("!");
        throw error(token_.at, fmt::format("expected an operator or ';', found {}", named(token_)),
                    starts_operand ? hint_for_two_operands() : hint_for_sign(token_.text));
    }
    std::string hint_to_close(const std::string& at_the_end) const {
        if (token_.kind == TokenKind::end || token_.is(")") || token_.is("]") || token_.is(";"))
            return at_the_end;
        return token_.kind == TokenKind::sign && !token_.is("(") ? hint_for_sign(token_.text)
                                                                 : hint_for_two_operands();
    }
    std::string hint_for_two_operands() const {
        if (token_.text == "and" || token_.text == "or" || token_.text == "mod")
            return hint_for_name(token_.text, names_);
        return "a product is written with *, and instructions are separated by ;";
    }

    ParsedFormula formula_;
    std::vector<Definition> definitions_;
    std::vector<std::string> names_;  // of parameters and definitions
    std::uint64_t tile_width_;
    Token token_;
    std::size_t last_end_ = 0;
    std::size_t nesting_ = 0;
};

}  // namespace

ParsedFormula parse_formula(std::string_view text, const std::vector<std::string>& parameters,
                            std::uint64_t tile_width) {
    if (text.size() > max_formula_bytes)
        throw formula_error(text.substr(0, max_formula_bytes), max_formula_bytes,
                            fmt::format("longer than {} characters", max_formula_bytes),
                            "measure its parts in several formulas");
    for (const std::string& name : parameters) require_parameter_name(name);
    return Parser(text, parameters, tile_width).parse();
}

void require_parameter_name(std::string_view name) {
    const std::string reason = reason_against_name(name);
    if (!reason.empty())
        throw UsageError(fmt::format("--var: '{}' cannot be a parameter: {}", shown(name), reason));
}

}  // namespace coalprof
