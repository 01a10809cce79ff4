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
constexpr int comparison_power = 7;  // of == and !=; < and the others bind one tighter
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
        ReadValue right = read_right_of(*info, left);
        require_parentheses(*info, sign, left, right);
        left = binary(*info, sign.at, std::move(left), std::move(right));
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
    for (const ReadValue* part : {&test, &then, &otherwise})
        if (!part->is(Kind::number))
            return data(test.begin, otherwise.end,
                        part->why ? *part->why
                                  : error(part->begin, "which array is meant depends on the thread",
                                          "write an access for each, with its condition"));
    const NodeTree trees[]{whole(test), whole(then), whole(otherwise)};
    ReadValue result = number(combined(NodeKind::conditional, at, test.begin, otherwise.end,
                                       {&trees[0], &trees[1], &trees[2]}),
                              test.begin, otherwise.end);
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
            const std::size_t middle = text().find_first_not_of("<>=!", left.sign_at);
            fixed = shown(fmt::format("{} && {} {} {}", text_between(left.begin, left.end),
                                      text_between(middle, left.end), sign.text,
                                      text_between(right.begin, right.end)));
        }
        throw error(sign.at, fmt::format("a comparison cannot be compared with '{}'", sign.text),
                    fmt::format("write {}, or put one comparison in parentheses", fixed));
    }
    std::string fixed = fmt::format("(i {} 31) == 0", sign.text);
    if (right.is_comparison)  // `lane & 3 == 0` as "(lane & 3) == 0"
        fixed = shown(fmt::format("({} {} {}) {}", text_between(left.begin, left.end), sign.text,
                                  text_between(right.begin, right.sign_at),
                                  text_between(right.sign_at, right.end)));
    throw error(sign.at, fmt::format("comparisons bind tighter than '{0}', as in C", sign.text),
                fmt::format("write {}, or put the comparison in parentheses", fixed));
}

ReadValue FormulaReader::read_operand() {
    if (token_.is("+")) {
        advance();
        return loaded(read_expression(unary_power));
    }
    if (token_.is("-") || token_.is("~") || token_.is("!") || token_.is("&") || token_.is("*"))
        return read_unary();
    return read_postfix(read_primary());
}

ReadValue FormulaReader::read_unary() {
    const Token sign = token_;
    advance();
    ReadValue operand = read_expression(unary_power);
    if (sign.is("&")) {
        if (!operand.is(Kind::place) && !(operand.is(Kind::pointer) && !operand.may_be_array))
            throw error(sign.at, "only an element of an array has an address here",
                        "write the access: a[i*2]");
        operand.kind = Kind::pointer;
        operand.begin = sign.at;
        operand.index_begin = operand.index_end = 0;
        return operand;
    }
    if (sign.is("*")) {
        operand = loaded(std::move(operand));
        if (operand.is(Kind::number))
            throw error(sign.at,
                        fmt::format("expected a number, a name or '(', found '{}'", sign.text),
                        hint_for_sign(sign.text));
        ReadValue place = pointee(operand, sign.at);
        place.begin = sign.at;
        return place;
    }
    operand = loaded(std::move(operand));
    if (!operand.is(Kind::number))
        return data(
            sign.at, operand.end,
            operand.why ? *operand.why : error(sign.at, "a pointer is no number", "write a[i*2]"));
    const OperatorInfo& info = *find_operator(sign, false);
    const NodeTree tree = info.kind == NodeKind::logical_not ? whole(operand) : operand.tree;
    ReadValue result =
        number(combined(info.kind, sign.at, sign.at, operand.end, {&tree}), sign.at, operand.end);
    if (info.kind == NodeKind::logical_not) return result;
    result.arithmetic = operand.arithmetic;
    result.wraps = operand.arithmetic == Arithmetic::word;
    return result;
}

ReadValue FormulaReader::read_primary() {
    const std::size_t at = token_.at;
    if (token_.kind == TokenKind::number) {
        ReadValue value =
            number(leaf(NodeKind::literal, token_.value, at, token_.end()), at, token_.end());
        if (token_.is_long)
            value.arithmetic = Arithmetic::wide;
        else if (token_.is_unsigned)
            value.arithmetic = Arithmetic::word;
        advance_past_operand();
        return value;
    }
    if (token_.kind == TokenKind::fraction) {
        const UsageError why = fraction_error(text(), at);
        advance_past_operand();
        return data(at, last_end_, why);
    }
    if (token_.kind == TokenKind::name && token_.text != "if") return read_name();
    if (token_.is("(")) return read_parentheses();
    fail_before_operand();
}

ReadValue FormulaReader::read_postfix(ReadValue value) {
    for (;;) {
        const std::size_t begin = value.begin;
        if (token_.is("[")) {
            const std::size_t open = token_.at;
            if (value.is(Kind::place) && types_.at(value.type).kind != CType::Kind::pointer)
                throw error(
                    open, "an array has one index",
                    fmt::format("say how long its rows are, float {0}[1024][1024]; before it "
                                "or --array {0}=f32[1024][1024], or flatten it: "
                                "{0}[row*1024 + column]",
                                shown(value.array)));
            value = loaded(std::move(value));
            require_address(value, open);
            advance();
            ReadValue index = loaded(read_whole());
            if (!token_.is("]"))
                throw error(token_.at,
                            fmt::format("expected ']' for the '[' in column {}, found {}", open + 1,
                                        named(token_)),
                            hint_to_close(
                                fmt::format("add ]: {}]", shown(text_between(begin, last_end_)))));
            advance_past_operand();
            value = element(std::move(value), std::move(index), open);
            value.end = last_end_;
        } else if (token_.is(".") || token_.is("->")) {
            const Token sign = token_;
            if (sign.is("->")) value = pointee(loaded(std::move(value)), sign.at);
            advance();
            Token name = token_;
            name.text = name.text.substr(0, name.text.find('.'));
            if (name.kind != TokenKind::name)
                throw error(name.at, fmt::format("expected a member, found {}", named(name)), "");
            value = member(std::move(value), name);
            last_end_ = name.end();
            seek(last_end_);
        } else if (token_.is("++") || token_.is("--")) {
            if (value.is(Kind::data) || loops_ > 0 || value.is(Kind::place)) return value;
            throw error(token_.at,
                        fmt::format("expected an operator or ';', found {}", named(token_)),
                        "a formula changes nothing within an expression: write i + 1, or i++; as a "
                        "statement of its own; for *ptr++ write *(ptr + k) in a loop over k");
        } else {
            return value;
        }
    }
}

bool FormulaReader::at_cast() const {
    const Token first = peek();
    if (first.kind != TokenKind::name || find_variable_of_text(first.text) != nullptr ||
        is_known(first.text) || !types_.begins_type(first.text))
        return false;
    const Token after = next_token(text(), first.end());
    return after.is(")") || after.is("*") || after.is("**") || after.kind == TokenKind::name;
}

ReadValue FormulaReader::read_parentheses() {
    const std::size_t open = token_.at;
    if (at_cast()) {
        advance();
        const CTypeId type = read_type();
        expect_closing(open);
        ReadValue value = cast(read_expression(unary_power), type, open);
        value.begin = open;
        return value;
    }
    advance();
    ReadValue inside = read_whole();
    expect_closing(open);
    inside.begin = open;
    inside.end = last_end_;
    inside.is_comparison = false;
    return inside;
}

void FormulaReader::expect_closing(std::size_t open) {
    if (!token_.is(")"))
        throw error(
            token_.at,
            fmt::format("expected ')' for the '(' in column {}, found {}", open + 1, named(token_)),
            hint_to_close("every '(' needs its ')'"));
    advance_past_operand();
}

// static_cast<T>(x), reinterpret_cast<T*>(p)
ReadValue FormulaReader::read_named_cast() {
    const std::size_t begin = token_.at;
    advance();
    expect("<", "a cast is written static_cast<size_t>(i)");
    const CTypeId type = read_type();
    expect(">", "a cast is written static_cast<size_t>(i)");
    const std::size_t open = token_.at;
    expect("(", "a cast is written static_cast<size_t>(i)");
    ReadValue value = cast(read_whole(), type, begin);
    expect_closing(open);
    value.begin = begin;
    value.end = last_end_;
    return value;
}

ReadValue FormulaReader::read_sizeof() {
    const std::size_t begin = token_.at;
    advance();
    const std::size_t open = token_.at;
    std::uint64_t size = 0;
    if (token_.is("(") && at_cast()) {
        advance();
        size = types_.at(read_type()).size_bytes;
    } else {
        expect("(", "sizeof(float4)");
        ++dead_;
        const ReadValue value = read_whole();
        --dead_;
        size = types_.at(value.type).size_bytes;
        if (value.type == CTypes::usual) formula_.is_settled = false;
    }
    expect_closing(open);
    ReadValue value =
        number(leaf(NodeKind::literal, static_cast<std::int64_t>(size), begin, last_end_), begin,
               last_end_);
    value.arithmetic = Arithmetic::wide;
    return value;
}

ReadValue FormulaReader::read_name() {
    const Token first = token_;
    while (peek().is("::")) {  // std::min
        advance();
        advance();
    }
    Token name = token_;
    const std::string_view word = name.text;
    if (word.ends_with("_cast") && peek().is("<")) return read_named_cast();
    if (word == "tiled_partition" && peek().is("<")) return read_tile();
    if (name.at != first.at && peek().is("<")) {  // cg::plus<float>{}
        advance();
        skip_template_arguments();
        return data(name.at, last_end_, error(name.at, "an object is no index", ""));
    }
    if (word == "sizeof") return read_sizeof();
    if (peek().is("(")) return read_call();
    // `v.x` of a variable; "tid.x" is one name.
    const std::size_t dot = word.find('.');
    if (dot != word.npos && !find_variable(word)) {
        const std::string_view base = word.substr(0, dot);
        if (find_variable_of_text(base) != nullptr || find_array(base) != nullptr) {
            name.text = base;
            last_end_ = name.end();
            seek(last_end_);
            return value_of_name(name);
        }
    }
    advance_past_operand();
    return value_of_name(name);
}

ReadValue FormulaReader::value_of_name(const Token& name) {
    const auto with_text = [&](ReadValue value) {
        value.begin = name.at;
        value.end = name.end();
        value.is_comparison = false;
        return value;
    };
    const auto literal = [&](std::int64_t value) {
        return number(leaf(NodeKind::literal, value, name.at, name.end()), name.at, name.end());
    };
    if (const ReadVariable* own = find_variable_of_text(name.text)) {
        ReadValue value = with_text(own->value);
        if (value.is(Kind::data) && own->type != CTypes::none) value.type = own->type;
        return value;
    }
    for (std::size_t k = 0; k < formula_.parameters.size(); ++k) {
        if (formula_.parameters[k] != name.text) continue;
        formula_.uses_parameter[k] = true;
        if (launch_.scope) return literal(launch_.scope->values[k]);
        return number(leaf(NodeKind::parameter, static_cast<std::int64_t>(k), name.at, name.end()),
                      name.at, name.end());
    }
    ReadValue pointer;
    pointer.kind = Kind::pointer;
    pointer.array = name.text;
    if (const ReadArray* array = find_array(name.text)) {
        pointer.array = array->name;
        pointer.type = array->type;
        CTypeId whole_type = array->type;
        while (types_.at(whole_type).kind == CType::Kind::array)
            whole_type = types_.at(whole_type).inner;
        if (whole_type != CTypes::usual) pointer.unit_bytes = types_.at(whole_type).size_bytes;
        return with_text(pointer);
    }
    if (const auto variable = find_variable(name.text)) {
        if (launch_.scope && range_of(*variable, *launch_.scope).is_single())
            return literal(range_of(*variable, *launch_.scope).low);
        return number(
            leaf(NodeKind::variable, static_cast<std::int64_t>(*variable), name.at, name.end()),
            name.at, name.end());
    }
    if (name.text == "warpSize") return literal(warp_lanes);
    if (name.text == "true" || name.text == "false") return literal(name.text == "true");
    if (name.text == "NULL" || name.text == "nullptr") return literal(0);
    const bool is_place = name.text == "x" || name.text == "y" || name.text == "z";
    if (is_place && !token_.is("[")) {  // the thread's place in the whole launch
        const std::size_t axis = static_cast<std::size_t>(name.text[0] - 'x');
        const auto part = [&](Variable first) {
            const auto variable =
                static_cast<std::int64_t>(first) + static_cast<std::int64_t>(axis);
            return leaf(NodeKind::variable, variable, name.at, name.end());
        };
        const NodeTree block = part(Variable::bid_x);
        const NodeTree size = part(Variable::bdim_x);
        const NodeTree thread = part(Variable::tid_x);
        const NodeTree first =
            combined(NodeKind::multiply, name.at, name.at, name.end(), {&block, &size});
        ReadValue value =
            number(combined(NodeKind::add, name.at, name.at, name.end(), {&first, &thread}),
                   name.at, name.end());
        value.may_be_array = true;
        return value;
    }
    pointer.may_be_array = true;
    pointer.why = std::make_shared<const UsageError>(
        error(name.at, fmt::format("unknown name '{}'", shown(name.text)),
              hint_for_name(name.text, own_names())));
    return with_text(pointer);
}

void FormulaReader::fail_before_operand() const {
    if (token_.text == "if")
        throw error(token_.at, "the condition stands behind the access", "write a[i*2] if i < n/2");
    if (token_.kind == TokenKind::end)
        throw error(token_.at, "expected a number, a name or '(' at the end",
                    "the formula stops in the middle: complete or remove its last operator");
    throw error(token_.at, fmt::format("expected a number, a name or '(', found {}", named(token_)),
                hint_for_sign(token_.text));
}

std::string FormulaReader::hint_to_close(const std::string& at_the_end) const {
    if (token_.kind == TokenKind::end || token_.is(")") || token_.is("]") || token_.is(";"))
        return at_the_end;
    return token_.kind == TokenKind::sign && !token_.is("(") ? hint_for_sign(token_.text)
                                                             : hint_for_two_operands();
}

std::string FormulaReader::hint_for_two_operands() const {
    if (token_.text == "and" || token_.text == "or" || token_.text == "mod")
        return hint_for_name(token_.text, own_names());
    return "a product is written with *, and instructions are separated by ;";
}

}  // namespace coalprof
