// Text that is no result: to standard output for commands that list, to standard error for the
// rest. A reader of standard output that has left ends the program quietly.
#pragma once

#include <string_view>

namespace coalprof {

// Throws ReaderGone or Error (ExitCode::output).
void print_out(std::string_view text);
// Never throws: there is nowhere left to say it.
void print_err(std::string_view text) noexcept;

}  // namespace coalprof
