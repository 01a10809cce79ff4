// Prose broken into lines of a width, for lists and explanations.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// Words of `text` filled into lines of at most `width` columns (bytes: the text is ASCII), each
// after `indent` blanks and ended by a newline. A word longer than a line stands alone.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace coalprof
