// What every page of `html` is made of: core/write/page/report.css and the scripts beside it,
// which travel in the program.
#pragma once

#include <string_view>

namespace coalprof {

std::string_view page_style();
std::string_view page_script();

}  // namespace coalprof
