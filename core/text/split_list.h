// Lists as options take them: "a,b,c".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// Its parts, each once. Throws UsageError naming `option` where one is empty.
std::vector<std::string> split_list(std::string_view text, std::string_view option);

}  // namespace coalprof
