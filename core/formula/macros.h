// `#define` in pasted C.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// The text without its preprocessor lines, with macros replaced. Texts without such lines come back
// unchanged. Throws UsageError: a line other than #define and #pragma, a macro without its
// arguments, a text that grows beyond `most_bytes`.
std::string without_macros(std::string_view text, std::size_t most_bytes);

}  // namespace coalprof
