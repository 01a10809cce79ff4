// What this program was built of: for `coalprof --version -v` and bug reports.
#pragma once

#include <string>

namespace coalprof {

std::string build_text();

}  // namespace coalprof
