// Style and scripts of every page of `html`: core/write/page/report.css and the scripts beside it,
// built into the program.
#pragma once

#include <string_view>

namespace coalprof {

std::string_view page_style();
std::string_view page_script();

}  // namespace coalprof
