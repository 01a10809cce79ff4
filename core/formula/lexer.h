// Formula text as words: numbers, names and signs, each with its place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/formula/tree.h"
#include "core/text/describe.h"
#include "core/text/error.h"

namespace coalprof {

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
    std::int64_t value = 0;    // of a number
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

// Pasted C without its preprocessor lines, with macros replaced. Texts without such lines come back
// unchanged. Throws UsageError: a line other than #define and #pragma, a macro without its
// arguments, a text that grows beyond `most_bytes`.
std::string without_macros(std::string_view text, std::size_t most_bytes);

// Pasted kernels of Numba, translated to C: `a[x, y]` becomes `a[x][y]`. A text that speaks of
// Numba's `cuda` is Python: a line is a statement, indented ones belong to the `if` or `for` above
// them, and `x, y = cuda.grid(2)` are two numbers, `a.shape[0]` those of `arrays`. Other texts come
// back as they are.
std::string c_of_python(std::string_view text, const std::vector<DeclaredArray>& arrays);

}  // namespace coalprof
