// The target of a format's bytes: a file, standard output.
#pragma once

#include <string_view>

namespace coalprof {

class ByteSink {
 public:
    virtual ~ByteSink() = default;
    // Writes all of the bytes, or throws Error (ExitCode::output) naming the target.
    virtual void write(std::string_view bytes) = 0;
    // True where a reader may follow along (a terminal, a pipe). Formats that promise it then hand
    // over each point as it is finished.
    virtual bool is_live() const { return false; }
};

}  // namespace coalprof
