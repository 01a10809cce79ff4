// Opens a warps file and checks it whole before its first line is answered, where that can be done.
#pragma once

#include <memory>
#include <string>

#include "core/text/warps_file.h"

namespace coalprof {

class WarpsSource {
 public:
    // "-" is standard input. Throws UsageError for the first line that does not fit.
    explicit WarpsSource(const std::string& file);
    WarpsReader& reader() { return *reader_; }

 private:
    std::unique_ptr<ByteSource> bytes_;
    std::unique_ptr<WarpsReader> reader_;
};

// One access of each memory and kind that the file has a line of; all that there are for what can
// be read only once (a pipe). Throws as WarpsSource does.
std::vector<WarpAccess> kinds_in_warps_file(const std::string& file);

}  // namespace coalprof
