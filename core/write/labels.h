// Names of rows, shortened so that they still differ.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// A short form of each text, of at most `columns`. No two look the same: texts that share their
// beginning are cut in the middle, and numbered where that does not help.
using Labels = std::map<std::string, std::string, std::less<>>;
Labels distinct_labels(const std::vector<std::string>& texts, std::size_t columns, bool ascii);
// The same for names whose ends matter most, such as template arguments: the middle goes first.
Labels labels_with_ends(const std::vector<std::string>& texts, std::size_t columns, bool ascii);

// The parameters that distinguish each point, "P=1024"; its name where none does.
std::vector<std::string> names_by_what_varies(const std::vector<Point>& points);

}  // namespace coalprof
