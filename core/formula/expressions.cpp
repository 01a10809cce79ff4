// The expressions of a formula: one loop over binary operators, each with its binding power, as in
// C. It recurses once per level of nesting, of which max_formula_depth are allowed.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/formula/reader.h"
#include "core/formula/vocabulary.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

constexpr int conditional_power = 1;
constexpr int comparison_power = 7;  // how tightly == and != bind; < and the others: one more
constexpr int unary_power = 12;

const OperatorInfo* find_operator(const Token& token, bool is_binary) {
    if (token.kind != TokenKind::sign) return nullptr;
    const auto found = std::ranges::find_if(operator_table, [&](const OperatorInfo& candidate) {
        return candidate.name == token.text && (candidate.power > 0) == is_binary;
    });
    return found != operator_table.end() ? &*found : nullptr;
}

}  // namespace

ReadValue FormulaReader::read_expression(int least_power) {
    if (++nesting_ > max_formula_depth)
        throw error(token_.at, fmt::format("nested deeper than {} levels", max_formula_depth),
                    "name parts of it first: row = i / 64; a[row * 100]");
    ReadValue left = read_operand();
    for (;;) {
        if (token_.is("?") && conditional_power >= least_power) {
            left = read_conditional(loaded(std::move(left)));
            continue;
        }
        const OperatorInfo* info = find_operator(token_, true);
        if (info == nullptr || info->power < least_power) break;
        const Token sign = token_;
        left = loaded(std::move(left));
        advance();
        const ReadValue right = read_right_of(*info, left);
        require_parentheses(*info, sign, left, right);
        left = binary(*info, sign.at, left, right, trees_);
    }
    --nesting_;
    return left;
}

// The right side of && and || is evaluated only where the left side leaves it open.
ReadValue FormulaReader::read_right_of(const OperatorInfo& info, const ReadValue& left) {
    const std::size_t guards = guards_.size();
    if (is_lazy(info.kind)) push_guard(guard_of(left, info.kind == NodeKind::logical_and));
    ReadValue right = loaded(read_expression(info.power + 1));
    guards_.resize(guards);
    return right;
}

ReadValue FormulaReader::read_conditional(const ReadValue& test) {
    const std::size_t at = token_.at;
    const std::size_t guards = guards_.size();
    advance();
    push_guard(guard_of(test, true));
    const ReadValue then = loaded(read_expression(conditional_power));
    guards_.resize(guards);
    if (!token_.is(":"))
        throw error(
            token_.at,
            fmt::format("expected ':' for the '?' in column {}, found {}", at + 1, named(token_)),
            "a condition is written test ? then : otherwise");
    advance();
    push_guard(guard_of(test, false));
    const ReadValue otherwise = loaded(read_expression(conditional_power));
    guards_.resize(guards);
    const TextSpan span{test.span.begin, otherwise.span.end};
    for (const ReadValue* part : {&test, &then, &otherwise})
        if (!part->is(Kind::number)) return data_value(span, *part->why);
    const NodeTree trees[]{whole(test, trees_), whole(then, trees_), whole(otherwise, trees_)};
    ReadValue result = number_value(
        trees_.combined(NodeKind::conditional, at, span, {&trees[0], &trees[1], &trees[2]}), span);
    result.arithmetic = std::max(then.arithmetic, otherwise.arithmetic);
    return result;
}

// C reads `i & 31 == 0` as `i & (31 == 0)` and `0 <= i < n` as `(0 <= i) < n`, which is never
// meant.
void FormulaReader::require_parentheses(const OperatorInfo& info, const Token& sign,
                                        const ReadValue& left, const ReadValue& right) const {
    const bool is_bitwise = info.power >= 4 && info.power < comparison_power;
    const bool is_comparison = info.kind >= NodeKind::less && info.kind <= NodeKind::not_equal;
    if (!is_bitwise && !is_comparison) return;
    if (!left.is_comparison && !right.is_comparison) return;
    if (is_comparison) {
        std::string fixed = "0 <= i && i < n";
        if (left.is_comparison) {  // `0 <= i < n` as "0 <= i && i < n"
            const std::size_t middle = text_.find_first_not_of("<>=!", left.sign_at);
            fixed = shown(fmt::format("{} && {} {} {}", text_of(left.span),
                                      text_between(middle, left.span.end), sign.text,
                                      text_of(right.span)));
        }
        throw error(sign.at, fmt::format("a comparison cannot be compared with '{}'", sign.text),
                    fmt::format("write {}, or put one comparison in parentheses", fixed));
    }
    std::string fixed = fmt::format("(i {} 31) == 0", sign.text);
    if (right.is_comparison)  // `lane & 3 == 0` as "(lane & 3) == 0"
        fixed = shown(fmt::format("({} {} {}) {}", text_of(left.span), sign.text,
                                  text_between(right.span.begin, right.sign_at),
                                  text_between(right.sign_at, right.span.end)));
    throw error(sign.at, fmt::format("comparisons bind tighter than '{0}', as in C", sign.text),
                fmt::format("write {}, or put the comparison in parentheses", fixed));
}

ReadValue FormulaReader::read_operand() {
    if (token_.is("+")) {
        advance();
        return loaded(read_expression(unary_power));
    }
    if (token_.is("-") || token_.is("~") || token_.is("!")) return read_unary();
    return read_postfix(read_primary());
}

ReadValue FormulaReader::read_unary() {
    const Token sign = token_;
    advance();
    const ReadValue operand = loaded(read_expression(unary_power));
    const TextSpan span{sign.at, operand.span.end};
    if (!operand.is(Kind::number)) return data_value(span, *operand.why);
    const OperatorInfo& info = *find_operator(sign, false);
    const bool is_test = info.kind == NodeKind::logical_not;
    const NodeTree tree = is_test ? whole(operand, trees_) : operand.tree;
    ReadValue result = number_value(trees_.combined(info.kind, sign.at, span, {&tree}), span);
    if (is_test) return result;
    result.arithmetic = operand.arithmetic;
    result.wraps = operand.arithmetic == Arithmetic::word;
    return result;
}

ReadValue FormulaReader::read_primary() {
    const TextSpan span{token_.at, token_.end()};
    if (token_.kind == TokenKind::number) {
        ReadValue value = number_value(leaf(NodeKind::literal, token_.value, span), span);
        if (token_.is_long)
            value.arithmetic = Arithmetic::wide;
        else if (token_.is_unsigned)
            value.arithmetic = Arithmetic::word;
        advance_past_operand();
        return value;
    }
    if (token_.kind == TokenKind::fraction) {
        const UsageError why = fraction_error(text_, span.begin);
        advance_past_operand();
        return data_value(span, why);
    }
    if (token_.kind == TokenKind::name && token_.text != "if") return read_name();
    if (token_.is("(")) return read_parentheses();
    fail_before_operand();
}

// a[i], in[y][x]; NumPy's in[y, x] means the same, Fortran's x(i, j) begins with 1.
ReadValue FormulaReader::read_postfix(ReadValue value) {
    std::size_t open = token_.at;
    const bool is_fortran = value.is(Kind::rows) && is_fortran_array(value.array);
    const std::string_view closing = is_fortran ? ")" : "]";
    for (bool goes_on = false; goes_on || token_.is(is_fortran ? "(" : "[");) {
        if (!goes_on) open = token_.at;
        if (value.is(Kind::element))
            throw error(open, fmt::format("'{}' has no further index", shown(value.array)),
                        fmt::format("say how long its rows are, --array {0}=f32[1024][1024], or "
                                    "flatten it: {0}[row*1024 + column]",
                                    shown(value.array)));
        advance();
        ReadValue index = loaded(read_whole());
        goes_on = token_.is(",");
        if (!goes_on && !token_.is(closing))
            throw error(
                token_.at,
                fmt::format("expected '{}' for the '{}' in column {}, found {}", closing,
                            is_fortran ? '(' : '[', open + 1, named(token_)),
                hint_to_close(fmt::format("add {0}: {1}{0}", closing,
                                          shown(text_between(value.span.begin, last_end_)))));
        if (!goes_on) advance_past_operand();
        value = element(value, std::move(index), open);
    }
    if (token_.is(".") || token_.is("->")) fail_as_c(token_);
    return value;
}

// ---- types ----

bool FormulaReader::at_type() const {
    return token_.kind == TokenKind::name && begins_type(token_.text) && !is_known(token_.text);
}

ValueType FormulaReader::read_type() {
    std::string words;
    const Token first = token_;
    for (; token_.kind == TokenKind::name; advance_past_operand())
        if (token_.text != "const")
            words += fmt::format("{}{}", words.empty() ? "" : " ", token_.text);
    if (token_.is("*") || token_.is("**") || token_.is("&")) fail_as_c(token_);
    const auto type = find_value_type(words);
    if (!type)
        throw error(first.at, fmt::format("unknown type '{}'", shown(words)),
                    hint_for_element_type(words));
    return *type;
}

ReadValue FormulaReader::read_parentheses() {
    const std::size_t open = token_.at;
    advance();
    const Token after = peek();
    if (at_type() &&
        (after.is(")") || after.is("*") || after.is("**") || after.kind == TokenKind::name)) {
        const ValueType type = read_type();
        expect_closing(open);
        ReadValue value = read_expression(unary_power);
        const std::size_t end = value.span.end;
        value = read_cast_of(type, open, std::move(value));
        value.span.end = end;
        return value;
    }
    ReadValue inside = read_whole();
    expect_closing(open);
    inside.span = {open, last_end_};
    inside.is_comparison = false;
    return inside;
}

ReadValue FormulaReader::read_cast_of(const ValueType& type, std::size_t begin, ReadValue value) {
    value = loaded(std::move(value));
    const UsageError no_index = error(value.span.begin, "this is no whole number",
                                      "an index is a whole number: cast it to int");
    value = converted(std::move(value), type, trees_, no_index);
    value.span = {begin, last_end_};
    return value;
}

void FormulaReader::expect_closing(std::size_t open) {
    if (!token_.is(")"))
        throw error(
            token_.at,
            fmt::format("expected ')' for the '(' in column {}, found {}", open + 1, named(token_)),
            hint_to_close("every '(' needs its ')'"));
    advance_past_operand();
}

// static_cast<T>(x)
ReadValue FormulaReader::read_named_cast() {
    constexpr const char* usage = "a cast is written static_cast<size_t>(i)";
    const std::size_t begin = token_.at;
    advance();
    expect("<", usage);
    const ValueType type = read_type();
    expect(">", usage);
    const std::size_t open = token_.at;
    expect("(", usage);
    ReadValue value = read_whole();
    expect_closing(open);
    return read_cast_of(type, begin, std::move(value));
}

ReadValue FormulaReader::read_sizeof() {
    const std::size_t begin = token_.at;
    advance();
    const std::size_t open = token_.at;
    expect("(", "sizeof(float4)");
    if (token_.kind == TokenKind::name && !at_type()) fail_as_c(token_);
    const ValueType type = read_type();
    expect_closing(open);
    const TextSpan span{begin, last_end_};
    ReadValue value = number_value(leaf(NodeKind::literal, type.bytes, span), span);
    value.arithmetic = Arithmetic::wide;
    return value;
}

// ---- names ----

ReadValue FormulaReader::read_name() {
    while (peek().is("::")) {  // std::min
        advance();
        advance();
    }
    const Token name = token_;
    if (name.text == "static_cast") return read_named_cast();
    if (name.text.ends_with("_cast") && peek().is("<")) fail_as_c(name);
    if (name.text == "sizeof") return read_sizeof();
    if (peek().is("(") && !is_fortran_array(name.text)) return read_call();
    advance_past_operand();
    return value_of_name(name);
}

ReadValue FormulaReader::value_of_name(const Token& name) {
    const TextSpan span{name.at, name.end()};
    const auto number = [&](NodeKind kind, std::size_t value) {
        return number_value(leaf(kind, static_cast<std::int64_t>(value), span), span);
    };
    if (const NamedPart* part = find_part(name.text)) {
        ReadValue value = part->value;
        value.span = span;
        value.is_comparison = false;
        return value;
    }
    for (std::size_t k = 0; k < formula_.parameters.size(); ++k) {
        if (formula_.parameters[k] != name.text) continue;
        formula_.uses_parameter[k] = true;
        return number(NodeKind::parameter, k);
    }
    ReadValue array;
    array.kind = Kind::rows;
    array.array = name.text;
    array.span = span;
    if (const DeclaredArray* declared = find_array(name.text)) {
        array.why = std::make_shared<const UsageError>(
            error(name.at, fmt::format("'{}' is an array, and no number", shown(name.text)),
                  fmt::format("write the access: {}", access_of(*declared, "i"))));
        return array;
    }
    if (const auto variable = find_variable(name.text))
        return number(NodeKind::variable, static_cast<std::size_t>(*variable));
    if (name.text == "warpSize") return number(NodeKind::literal, warp_lanes);
    if (name.text == "true" || name.text == "false")
        return number(NodeKind::literal, name.text == "true");
    if (name.text.size() == 1 && name.text >= "x" && name.text <= "z" && !token_.is("["))
        return place_in_launch(name);
    array.why = std::make_shared<const UsageError>(
        error(name.at, fmt::format("unknown name '{}'", shown(name.text)),
              hint_for_name(name.text, own_names())));
    return array;
}

// x, y or z of the thread in the whole launch.
ReadValue FormulaReader::place_in_launch(const Token& name) const {
    const TextSpan span{name.at, name.end()};
    const auto part = [&](Variable first) {
        return leaf(NodeKind::variable, static_cast<std::int64_t>(first) + (name.text[0] - 'x'),
                    span);
    };
    const NodeTree block = part(Variable::bid_x);
    const NodeTree size = part(Variable::bdim_x);
    const NodeTree thread = part(Variable::tid_x);
    const NodeTree first = trees_.combined(NodeKind::multiply, name.at, span, {&block, &size});
    return number_value(trees_.combined(NodeKind::add, name.at, span, {&first, &thread}), span);
}

// ---- calls ----

std::vector<ReadValue> FormulaReader::read_arguments(std::size_t most, std::string_view name,
                                                     std::string_view usage) {
    advance();
    const std::size_t open = token_.at;
    expect("(", "a function is called f(a, b)");
    std::vector<ReadValue> arguments;
    while (!token_.is(")")) {
        arguments.push_back(loaded(read_whole()));
        if (!token_.is(",") || arguments.size() == most) break;
        advance();
    }
    if (token_.is(","))
        throw error(token_.at, fmt::format("too many arguments for '{}'", name),
                    fmt::format("it is written {}", usage));
    expect_closing(open);
    return arguments;
}

ReadValue FormulaReader::call(const OperatorInfo& info, const Token& name,
                              const std::vector<ReadValue>& arguments) {
    const TextSpan span{name.at, last_end_};
    const bool takes_words = info.kind == NodeKind::population ||
                             info.kind == NodeKind::leading_zeros ||
                             info.kind == NodeKind::reversed;
    std::vector<NodeTree> trees;
    for (const ReadValue& argument : arguments) {
        if (!argument.is(Kind::number)) return data_value(span, *argument.why);
        trees.push_back(takes_words ? argument.tree : whole(argument, trees_));
    }
    if (info.kind == NodeKind::hash && trees.size() == 2)
        trees.push_back(leaf(NodeKind::literal, 1, span));
    NodeTree tree = trees[0];
    if (info.kind == NodeKind::hash)
        tree = trees_.combined(info.kind, name.at, span, {&tree, &trees[1], &trees[2]});
    else if (trees.size() == 1)
        tree = trees_.combined(info.kind, name.at, span, {&tree});
    for (std::size_t k = 1; k < trees.size() && info.kind != NodeKind::hash; ++k)
        tree = trees_.combined(info.kind, name.at, span, {&tree, &trees[k]});  // min(min(a, b), c)
    ReadValue result = number_value(std::move(tree), span);
    if (info.kind == NodeKind::reversed) result.arithmetic = Arithmetic::word;
    return result;
}

// clamp(a, low, high): a min() of a max()
ReadValue FormulaReader::call_clamp(const Token& name) {
    const std::vector<ReadValue> given = read_arguments(3, name.text, "clamp(a, low, high)");
    if (given.size() < 3)
        throw error(name.at, "too few arguments for 'clamp'", "it is written clamp(a, low, high)");
    return call(*find_function("min"), name,
                {call(*find_function("max"), name, {given[0], given[1]}), given[2]});
}

ReadValue FormulaReader::read_call() {
    const Token name = token_;
    std::string_view word = name.text;
    if (word == "umin" || word == "umax") word.remove_prefix(1);
    if (const OperatorInfo* function = find_function(word)) {
        const std::vector<ReadValue> arguments =
            read_arguments(function->most_arguments, function->name, function->usage);
        if (arguments.size() < function->fewest_arguments)
            throw error(last_end_ - 1, fmt::format("too few arguments for '{}'", function->name),
                        fmt::format("it is written {}", function->usage));
        return call(*function, name, arguments);
    }
    if (word == "clamp") return call_clamp(name);
    if (const auto type = at_type() ? find_value_type(word) : std::nullopt) {  // size_t(i)
        const std::vector<ReadValue> given = read_arguments(1, word, "size_t(i)");
        if (given.empty()) throw error(name.at, "a cast has a value", "for example size_t(i)");
        return read_cast_of(*type, name.at, given.front());
    }
    const std::vector<ReadValue> arguments = read_arguments(64, word, "f(a, b)");
    ReadValue result = data_value(
        {name.at, last_end_},
        error(name.at, fmt::format("unknown function '{}'", shown(word)), hint_for_function(word)));
    if (!unknown_call_) unknown_call_ = result.why;
    return result;
}

// ---- errors ----

void FormulaReader::fail_before_operand() const {
    if (token_.text == "if")
        throw error(token_.at, "the condition stands behind the access", "write a[i*2] if i < n/2");
    if (token_.is("*") || token_.is("&") || token_.is("{") || token_.is("}")) fail_as_c(token_);
    if (token_.kind == TokenKind::end)
        throw error(
            token_.at, "expected a number, a name or '(' at the end",
            hint_at_end("the formula stops in the middle: complete or remove its last operator"));
    throw error(token_.at, fmt::format("expected a number, a name or '(', found {}", named(token_)),
                hint_for_sign(token_.text));
}

// i//2, as Python divides
std::string FormulaReader::hint_at_end(const std::string& otherwise) const {
    const std::string division = hint_for_slashes(text_);
    return token_.kind != TokenKind::end || division.empty() ? otherwise : division;
}

std::string FormulaReader::hint_to_close(const std::string& at_the_end) const {
    if (token_.kind == TokenKind::end || token_.is(")") || token_.is("]") || token_.is(";"))
        return hint_at_end(at_the_end);
    return token_.kind == TokenKind::sign && !token_.is("(") ? hint_for_sign(token_.text)
                                                             : hint_for_two_operands();
}

std::string FormulaReader::hint_for_two_operands() const {
    if (token_.text == "and" || token_.text == "or" || token_.text == "mod" ||
        token_.text == "else")
        return hint_for_name(token_.text, own_names());
    return "a product is written with *, and instructions are separated by ;";
}

}  // namespace coalprof
