// Where the library in a program leaves its traces until they are read.
#pragma once

#include <string>
#include <vector>

#include "core/program/trace.h"

namespace coalprof {

// A new one, gone with this object, or when the process is ended at once. Throws Error where none
// can be made.
class TraceFolder {
 public:
    TraceFolder();
    ~TraceFolder();
    TraceFolder(const TraceFolder&) = delete;
    TraceFolder& operator=(const TraceFolder&) = delete;
    const std::string& path() const { return path_; }

    // One for each process, in the order of their numbers; one that cannot be read says so itself.
    std::vector<Trace> traces() const;

 private:
    std::string path_;
};

}  // namespace coalprof
