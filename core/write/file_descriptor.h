// For output files and standard output: a descriptor that its owner closes, and a write that ends
// only when all of the text is written.
#pragma once

#include <string>
#include <string_view>

namespace coalprof {

// Writes all of `bytes`; 0, or the errno of the failure. Continues after interruptions, and waits
// for a non-blocking descriptor.
int write_all(int fd, std::string_view bytes);

// Writes all that can be read from `from` to `to`; returns like write_all().
int copy_all(int from, int to);

// Moves a descriptor out of the range of the three standard ones, which are free when the program
// was started with them closed: a file must not become another program's standard output. -1 and
// errno as from open(); -1 stays -1.
int above_standard(int fd);

bool is_regular_file(int fd);
// A pipe, a socket or a terminal: a reader may look at each line as it comes. Output to a file or a
// device like /dev/null is written in large pieces.
bool is_read_along(int fd);

}  // namespace coalprof
