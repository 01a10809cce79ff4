#include "core/formula/lexer.h"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <string>

#include "core/formula/complaint.h"
#include "core/text/number.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Longest first. Some are no part of the language: they are read whole, so that the parser can name
// what was meant.
constexpr std::array<std::string_view, 47> signs{
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "**", "//",
    "->",  "+=",  "-=", "=<", "=>", "<>", "^^", "*=", "/=", "%=", "&=", "|=",
    "^=",  "++",  "+",  "-",  "*",  "/",  "%",  "<",  ">",  "&",  "|",  "^",
    "~",   "!",   "?",  ":",  "(",  ")",  "[",  "]",  ",",  ";",  "="};

struct NumberText {
    std::string_view text;  // all of it, letters behind it included
    std::size_t prefix = 0;
    std::uint32_t base = 10;
};

NumberText number_at(std::string_view formula, std::size_t at) {
    std::size_t end = at;
    while (end < formula.size() && (is_digit(formula[end]) || is_letter(formula[end]) ||
                                    formula[end] == '.' || formula[end] == '\''))
        ++end;
    NumberText number{formula.substr(at, end - at)};
    const std::string_view start = number.text.substr(0, 2);
    if (start == "0x" || start == "0X") return {number.text, 2, 16};
    if (start == "0b" || start == "0B") return {number.text, 2, 2};
    return number;
}

std::string hint_for_digits(const NumberText& number) {
    if (number.text.find('.') != std::string_view::npos)
        return "indices are whole numbers: write a fraction as a division, e.g. i*3/2";
    if (number.text.find('\'') != std::string_view::npos) return "write the digits without '";
    if (number.base == 16) return "hexadecimal digits are 0-9 and a-f, e.g. 0x1F";
    if (number.base == 2) return "binary digits are 0 and 1, e.g. 0b101";
    return "numbers are decimal, 0x1F or 0b101, without suffix or exponent; a product has a sign: "
           "2*i";
}

Token read_number(std::string_view formula, std::size_t at) {
    const NumberText number = number_at(formula, at);
    const auto fail = [&](std::size_t where, const std::string& sentence, const std::string& hint) {
        return formula_error(formula, where, sentence, hint);
    };
    if (number.text.size() == number.prefix)
        throw fail(at + number.prefix, fmt::format("expected digits after '{}'", number.text),
                   hint_for_digits(number));
    std::int64_t value = 0;
    for (std::size_t k = number.prefix; k < number.text.size(); ++k) {
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
    if (number.base == 10 && number.text.size() > 1 && number.text[0] == '0')
        throw fail(at,
                   fmt::format("'{}' starts with 0, which would be octal in C", shown(number.text)),
                   fmt::format("write {} for the decimal number, or 0x for hexadecimal", value));
    return {TokenKind::number, number.text, at, value};
}

std::string hint_for_character(char c) {
    switch (c) {
        case '"':
        case '\'':
            return "there are no strings: an index is made of numbers and names";
        case '#':
            return "there are no comments in a formula";
        case '@':
        case '$':
            return "names are letters, digits and _; a parameter is written without a sign";
        case '}':
        case '{':
            return "an index stands in [ ], and instructions are separated by ;";
        case '.':
            return "one member of a structure has an index of its own, e.g. i*3 + 1; names with a "
                   "dot are tid.x, tid.y, bid.x, bid.y and load.u64";
        default:
            return "a formula is made of ASCII letters, digits and C's operators";
    }
}

}  // namespace

Token next_token(std::string_view formula, std::size_t from) {
    while (from < formula.size() && is_space(formula[from])) ++from;
    if (from == formula.size()) return {TokenKind::end, {}, from, 0};
    const char first = formula[from];
    if (is_digit(first)) return read_number(formula, from);
    if (is_letter(first)) {
        std::size_t end = from;
        while (end < formula.size() &&
               (is_letter(formula[end]) || is_digit(formula[end]) || formula[end] == '.'))
            ++end;
        return {TokenKind::name, formula.substr(from, end - from), from, 0};
    }
    const std::string_view rest = formula.substr(from);
    for (const std::string_view sign : signs)
        if (rest.starts_with(sign)) return {TokenKind::sign, rest.substr(0, sign.size()), from, 0};
    const std::string_view character = rest.substr(0, first_utf8_char(rest).bytes);
    throw formula_error(formula, from, fmt::format("unexpected '{}'", shown(character)),
                        hint_for_character(first));
}

}  // namespace coalprof
