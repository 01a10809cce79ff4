// Text from unknown sources, without control characters and bytes that are no UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/write/text_buffer.h"

namespace coalprof {

std::string xml_text(std::string_view text);

// `text` safe to print in at most `columns` columns; a cut is marked. With `ascii`, characters
// above 127 become '?'.
std::string cell_text(std::string_view text, std::size_t columns, bool ascii);

// A field of CSV, as RFC 4180 says.
void put_csv_text(TextBuffer& out, std::string_view text);
// Digits that read back as the same number, true, false, a text by `put_text`; `none` where there
// is no value, or no finite number.
void put_value(TextBuffer& out, const Value& value, std::string_view none,
               void (*put_text)(TextBuffer& out, std::string_view text));
// Escapes marks, so that a name does not end its cell either.
std::string markdown_text(std::string_view text);

}  // namespace coalprof
