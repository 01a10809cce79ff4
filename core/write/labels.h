// Names of rows that stand below each other, short and yet told apart.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// A short form of each text, of at most so many columns. No two look the same: texts that share
// their beginning are cut in the middle, and numbered where that does not help.
using Labels = std::map<std::string, std::string, std::less<>>;
Labels distinct_labels(const std::vector<std::string>& texts, std::size_t columns, bool ascii);
// The same of names whose ends tell most, such as template arguments: the middle goes first.
Labels labels_with_ends(const std::vector<std::string>& texts, std::size_t columns, bool ascii);

// The parameters that tell each point from the others, "P=1024"; its name where none does.
std::vector<std::string> names_by_what_varies(const std::vector<Point>& points);

}  // namespace coalprof
