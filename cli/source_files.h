// The source files that results of `coalprof run --lines` name, as they lie on this machine.
#pragma once

#include <string>
#include <vector>

#include "core/write/source_text.h"

namespace coalprof {

// The text of the file that lies below one of `folders` by its last names. A result may come from
// anybody and its page go to anybody: nothing else is read, nor what has no suffix of source code.
SourceText find_source(const std::vector<std::string>& folders, const std::string& file);

}  // namespace coalprof
