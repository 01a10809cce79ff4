// Text within XML and HTML: marks become entities, control characters and bytes that are no UTF-8
// are shown as on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

std::string xml_text(std::string_view text);

}  // namespace coalprof
