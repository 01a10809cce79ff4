// Text other than results: to standard output for commands that list, to standard error for the
// rest.
#pragma once

#include <cstddef>
#include <string_view>

namespace coalprof {

// Throws Error (ExitCode::output). A reader that stopped reading is no error: the command
// continues, and its exit code is that of its work.
void print_out(std::string_view text);
// The same of sentences, folded on a terminal as those of print_err().
void print_out_folded(std::string_view text);
// Columns of the terminal on this descriptor: from COLUMNS, else the terminal, else 80.
std::size_t terminal_width(int descriptor);

// Never throws, since a failure could not be reported. Replaces the status. On a terminal, wider
// sentences are folded; lines that begin with a blank are examples and stay.
void print_err(std::string_view text) noexcept;

// Shows one line on standard error, a terminal, until other text or another status replaces it; an
// empty one removes it. Call it from any thread.
void show_status(std::string_view line) noexcept;

}  // namespace coalprof
