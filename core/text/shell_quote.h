// Text that a shell is to take as it is.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// `text` as it stands between single quotes.
std::string within_single_quotes(std::string_view text);

}  // namespace coalprof
