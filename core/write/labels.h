// Names of rows that stand below each other, short and yet told apart.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// What each of these texts is shown as in so many columns. No two of them look the same: those that
// share their beginning are cut in the middle, and are numbered where that does not help.
using Labels = std::map<std::string, std::string, std::less<>>;
Labels distinct_labels(const std::vector<std::string>& texts, std::size_t columns, bool ascii);
// The same of names whose ends tell most, such as template arguments: the middle goes first.
Labels labels_with_ends(const std::vector<std::string>& texts, std::size_t columns, bool ascii);

// What of its parameters tells each point from the others, "P=1024"; its name where nothing does.
std::vector<std::string> names_by_what_varies(const std::vector<Point>& points);

}  // namespace coalprof
