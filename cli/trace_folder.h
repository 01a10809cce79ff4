// Where the library in a program leaves its traces until they are read.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace coalprof {

// A new one, gone with this object. Throws Error where it cannot be made, or a trace be read.
class TraceFolder {
 public:
    TraceFolder();
    ~TraceFolder();
    TraceFolder(const TraceFolder&) = delete;
    TraceFolder& operator=(const TraceFolder&) = delete;
    const std::string& path() const { return path_; }

    // Of all processes, in the order of their numbers.
    std::vector<Trace> traces() const;

 private:
    std::string path_;
};

}  // namespace coalprof
