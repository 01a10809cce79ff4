// Formula text as words: numbers, names and signs, each with its place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/formula/tree.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

// For what only a compiler understands.
inline constexpr const char* c_hint =
    "`coalprof kernel --code '...'` gives C to a compiler, and counts what it accesses";

// `at` is a position in `formula`; its size means "at the end".
inline UsageError formula_error(std::string_view formula, std::size_t at,
                                const std::string& sentence, const std::string& hint) {
    return UsageError("formula: " + sentence, std::string(formula), std::min(at, formula.size()),
                      hint);
}

enum class TokenKind : std::uint8_t { end, number, fraction, name, sign };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;     // empty at the end
    std::size_t at = 0;        // its place in the formula
    std::int64_t value = 0;    // value of a number
    bool is_unsigned = false;  // 3u
    bool is_long = false;      // 3LL, 3uz
    std::size_t end() const { return at + text.size(); }
    bool is(std::string_view sign) const { return kind == TokenKind::sign && text == sign; }
};

// The token that starts at or after `from`; comments are blanks. A name may hold dots (tid.x,
// load.u64). Throws UsageError for characters and numbers that the language does not have.
Token next_token(std::string_view formula, std::size_t from);

// Letters, digits and '_'.
bool is_name_char(char c);

// The error for a fraction where a whole number is wanted.
UsageError fraction_error(std::string_view formula, std::size_t at);

}  // namespace coalprof
