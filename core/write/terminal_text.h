// Text as a terminal shows it: how wide it is, cut to a width, folded into lines. Control
// characters and bytes that are no UTF-8 never come out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/write/text_buffer.h"

namespace coalprof {

std::size_t columns_of_text(std::string_view text);

// `text` safe to print in at most `columns` columns; what is cut off is marked. With `ascii`,
// characters above 127 become '?'.
std::string cell_text(std::string_view text, std::size_t columns, bool ascii);

// The words of `text` in lines of at most `width` columns (0: one line), each ended by a newline,
// all but the first indented.
void put_folded(TextBuffer& out, std::string_view text, std::size_t width, std::size_t indent);

}  // namespace coalprof
