// The text of --help: what most people want of a command, and with --all everything.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace coalprof {

// Of coalprof itself or of one command, no line longer than 80 columns.
std::string help_of(const CLI::App& command, bool in_full);

}  // namespace coalprof
