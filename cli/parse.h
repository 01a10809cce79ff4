// Runs CLI11 over the command line and puts its complaints into our words: one sentence, the
// nearest word, exit code 2.
#pragma once

#include <CLI/CLI.hpp>

namespace coalprof {

// False: --help or --version was asked for and has been printed. Throws UsageError.
bool parse_command_line(CLI::App& app, int argc, const char* const* argv);

}  // namespace coalprof
