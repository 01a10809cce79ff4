// Runs CLI11 over the command line and puts its complaints into our words: one sentence, the
// nearest word, exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace coalprof {

// False: --help or --version was asked for and has been printed. Throws UsageError.
bool parse_command_line(CLI::App& app, int argc, const char* const* argv);

// The text of --help, no line longer than 80 columns.
std::string help_of(const CLI::App& app);

}  // namespace coalprof
