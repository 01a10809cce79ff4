// The source files that results of `coalprof run --lines` name, as they lie on this machine.
#pragma once

#include <string>
#include <vector>

#include "core/write/source_text.h"

namespace coalprof {

// Where it lies in one of `folders` by its last names, else where the result says that it was.
// There one that was changed after the run is not shown. A result may come from anybody and its
// page go to anybody: only files with suffixes of source code are read.
SourceText find_source(const std::vector<std::string>& folders, const ResultHead& head,
                       const std::string& file);

}  // namespace coalprof
