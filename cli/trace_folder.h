// The traces that the library in a program leaves until they are read.
#pragma once

#include <string>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

// One for each process, in the order of their numbers; an unreadable one has that as its problem.
std::vector<Trace> traces_in(const std::string& folder_path);

}  // namespace coalprof
