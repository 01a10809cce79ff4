#include "core/formula/lexer.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Longest first. Some are no part of the language: they are read whole, so that an error can name
// them.
constexpr std::array<std::string_view, 51> signs{
    "::", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "**", "->",
    "+=", "-=",  "=<",  "=>", "<>", "^^", "*=", "/=", "%=", "&=", "|=", "^=", "++",
    "--", "+",   "-",   "*",  "/",  "%",  "<",  ">",  "&",  "|",  "^",  "~",  "!",
    "?",  ":",   "(",   ")",  "[",  "]",  "{",  "}",  ",",  ";",  "=",  "."};

struct NumberText {
    std::string_view text;  // all of it, with letters after it
    std::size_t prefix = 0;
    std::uint32_t base = 10;
    std::string_view digits = {};  // the number without C's suffix
};

// 3u, 4ULL, 5uz
std::string_view without_suffix(std::string_view text) {
    while (!text.empty() && std::string_view("uUlLzZ").find(text.back()) != text.npos)
        text.remove_suffix(1);
    return text;
}

NumberText number_at(std::string_view formula, std::size_t at) {
    std::size_t end = at;
    const auto is_exponent = [&] {  // 1.5e-3
        return end > at && (formula[end - 1] == 'e' || formula[end - 1] == 'E') &&
               (formula[end] == '-' || formula[end] == '+') && end + 1 < formula.size() &&
               is_digit(formula[end + 1]) && formula[at + 1] != 'x' && formula[at + 1] != 'X';
    };
    while (end < formula.size() && (is_digit(formula[end]) || is_letter(formula[end]) ||
                                    formula[end] == '.' || formula[end] == '\'' || is_exponent()))
        ++end;
    NumberText number{formula.substr(at, end - at)};
    const std::string_view start = number.text.substr(0, 2);
    if (start == "0x" || start == "0X") number = {number.text, 2, 16};
    if (start == "0b" || start == "0B") number = {number.text, 2, 2};
    number.digits = without_suffix(number.text);
    return number;
}

// 2.0f, 1e-3, 3.f
bool is_fraction(const NumberText& number) {
    if (number.base != 10) return false;
    const std::string_view text = number.text;
    const bool has_digits_only = text.find_first_not_of("0123456789.eE+-fFlL'") == text.npos;
    return has_digits_only && text.find_first_of(".eEfF") != text.npos;
}

std::string hint_for_digits(const NumberText& number) {
    if (number.text.find('.') != std::string_view::npos)
        return "indices are whole numbers: i*3/2 is i*1.5";
    if (number.base == 16) return "hexadecimal digits are 0-9 and a-f, e.g. 0x1F";
    if (number.base == 2) return "binary digits are 0 and 1, e.g. 0b101";
    return "whole numbers are decimal, 0x1F or 0b101, with C's suffixes; a product has a sign: 2*i";
}

Token read_number(std::string_view formula, std::size_t at) {
    const NumberText number = number_at(formula, at);
    const auto fail = [&](std::size_t where, const std::string& sentence, const std::string& hint) {
        return formula_error(formula, where, sentence, hint);
    };
    if (is_fraction(number)) return {TokenKind::fraction, number.text, at, 0};
    if (number.digits.size() <= number.prefix)
        throw fail(at + number.prefix, fmt::format("expected digits after '{}'", number.text),
                   hint_for_digits(number));
    std::int64_t value = 0;
    for (std::size_t k = number.prefix; k < number.digits.size(); ++k) {
        if (number.digits[k] == '\'') continue;  // 1'000'000
        const std::uint32_t digit = hex_digit(number.text[k]);
        if (digit >= number.base)
            throw fail(at + k, fmt::format("'{}' is not an integer", shown(number.text)),
                       hint_for_digits(number));
        if (__builtin_mul_overflow(value, std::int64_t{number.base}, &value) ||
            __builtin_add_overflow(value, std::int64_t{digit}, &value))
            throw fail(
                at, fmt::format("{} does not fit 64 signed bits", shown(number.text)),
                fmt::format("the largest number is {}", std::numeric_limits<std::int64_t>::max()));
    }
    if (number.base == 10 && number.digits.size() > 1 && number.text[0] == '0')
        throw fail(at,
                   fmt::format("'{}' starts with 0, which would be octal in C", shown(number.text)),
                   fmt::format("write {} for the decimal number, or 0x for hexadecimal", value));
    const std::string_view suffix = number.text.substr(number.digits.size());
    return {TokenKind::number,
            number.text,
            at,
            value,
            suffix.find_first_of("uU") != suffix.npos,
            suffix.find_first_of("lLzZ") != suffix.npos};
}

std::string hint_for_character(char c) {
    switch (c) {
        case '"':
        case '\'': return "there are no strings: an index is made of numbers and names";
        case '@':
        case '$': return "names are letters, digits and _; a parameter is written without a sign";
        case '#': return c_hint;
        default: return "a formula is made of ASCII letters, digits and C's operators";
    }
}

// After blanks and comments.
std::size_t skip_blanks(std::string_view formula, std::size_t at) {
    while (at < formula.size()) {
        const std::string_view rest = formula.substr(at);
        if (is_space(rest.front())) {
            ++at;
        } else if (rest.starts_with("//")) {
            at = std::min(formula.find('\n', at), formula.size());
        } else if (rest.starts_with("/*")) {
            const std::size_t end = formula.find("*/", at + 2);
            if (end == formula.npos)
                throw formula_error(formula, at, "a comment has no end", "close it with */");
            at = end + 2;
        } else {
            break;
        }
    }
    return at;
}

Token read_name(std::string_view formula, std::size_t at) {
    std::size_t end = at;
    while (end < formula.size() &&
           (is_letter(formula[end]) || is_digit(formula[end]) || formula[end] == '.'))
        ++end;
    return {TokenKind::name, formula.substr(at, end - at), at, 0};
}

}  // namespace

bool is_name_char(char c) { return is_letter(c) || is_digit(c); }

UsageError fraction_error(std::string_view formula, std::size_t at) {
    constexpr double most_below = 1000;
    const std::string_view text = number_at(formula, at).text;
    double number = 0, below = 1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    const auto is_whole = [](double value) { return std::abs(value - std::round(value)) < 1e-9; };
    while (below < most_below && !is_whole(number * below)) ++below;
    const bool is_known = is_whole(number * below) && number < 1e12 && text.find('\'') == text.npos;
    const std::string fraction = below == 1 ? fmt::format("{:.0f}", number)
                                            : fmt::format("{:.0f}/{}", number * below, below);
    // 5/2*i is 2*i, and i*5/2 is not.
    const std::string_view before = formula.substr(0, at);
    const std::size_t last = before.find_last_not_of(' ');
    std::string hint = "indices are whole numbers: i*3/2 is i*1.5";
    if (is_known && (below == 1 || (last != before.npos && before[last] == '*')))
        hint = fmt::format("write {}{}{}", before, fraction, formula.substr(at + text.size()));
    else if (is_known)
        hint = fmt::format("indices are whole numbers: i*{} is i*{}", fraction, shown(text));
    return formula_error(formula, at + std::min(text.find_first_not_of("0123456789'"), text.size()),
                         fmt::format("'{}' is not an integer", shown(text)), hint);
}

Token next_token(std::string_view formula, std::size_t from) {
    from = skip_blanks(formula, from);
    if (from == formula.size()) return {TokenKind::end, {}, from, 0};
    const char first = formula[from];
    const bool is_point = first == '.' && from + 1 < formula.size() && is_digit(formula[from + 1]);
    if (is_digit(first) || is_point) return read_number(formula, from);
    if (is_letter(first)) return read_name(formula, from);
    const std::string_view rest = formula.substr(from);
    for (const std::string_view sign : signs)
        if (rest.starts_with(sign)) return {TokenKind::sign, rest.substr(0, sign.size()), from, 0};
    const std::string_view character = rest.substr(0, first_utf8_char(rest).bytes);
    throw formula_error(formula, from, fmt::format("unexpected '{}'", shown(character)),
                        hint_for_character(first));
}

}  // namespace coalprof
