// The compilers and libraries of this build, for `coalprof --version -v` and bug reports.
#pragma once

#include <string>

namespace coalprof {

std::string build_text();

}  // namespace coalprof
