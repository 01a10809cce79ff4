// For output files and standard output: a descriptor that its owner closes, and a write that ends
// only when all of the text is written.
#pragma once

#include <string_view>

#include "core/text/files_in_use.h"
#include "core/write/byte_sink.h"

namespace coalprof {

// Writes all of `bytes`; 0, or the errno of the failure. Continues after interruptions, and waits
// for a non-blocking descriptor.
int write_all(int fd, std::string_view bytes);

// Moves a descriptor out of the range of the three standard ones, which are free when the program
// was started with them closed: a file must not become another program's standard output. -1 and
// errno as from open(); -1 stays -1.
int above_standard(int fd);

bool is_regular_file(int fd);
// A pipe, a socket or a terminal: a reader may look at each line as it comes. Output to a file or a
// device like /dev/null is written in large pieces.
bool is_read_along(int fd);

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
