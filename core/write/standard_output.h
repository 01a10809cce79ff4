// Standard output as a ByteSink.
#pragma once

#include "core/text/files_in_use.h"
#include "core/write/byte_sink.h"

namespace coalprof {

class StandardOutput : public ByteSink {
 public:
    // Throws Error (ExitCode::output) when the program was started with it closed, UsageError when
    // it is an input or another output (files_in_use.h).
    StandardOutput();
    // Throws ReaderGone when its reader has left (SIGPIPE must be ignored), Error when the bytes
    // cannot be written.
    void write(std::string_view bytes) override;
    // A reader may follow anything but a regular file.
    bool is_live() const override { return is_live_; }

 private:
    OutputClaim claim_;
    bool is_live_;
};

}  // namespace coalprof
