// The place of something in a program's source, or in a file of formulas, and the path by which
// services know that file.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/result/result.h"

namespace coalprof {

struct GatePlace {
    std::string file = {};   // as the compiler wrote it down; empty: unknown
    std::uint64_t line = 0;  // 0: unknown
};
// For a line of a kernel.
GatePlace place_of(const Point& point);

// The lines of a file of formulas by their names; empty where it cannot be read any more.
std::map<std::string, std::uint64_t> lines_of_formulas(const std::string& file);

// From the root of the repository: GITHUB_WORKSPACE, else the nearest folder upwards that holds
// .git, else the current folder. A file outside keeps its path.
std::string path_in_repository(const std::string& file);

}  // namespace coalprof
