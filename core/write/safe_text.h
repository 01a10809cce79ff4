// Text from unknown sources, without control characters and bytes that are no UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coalprof {

std::string xml_text(std::string_view text);

// `text` safe to print in at most `columns` columns; a cut is marked. With `ascii`, characters
// above 127 become '?'.
std::string cell_text(std::string_view text, std::size_t columns, bool ascii);

}  // namespace coalprof
