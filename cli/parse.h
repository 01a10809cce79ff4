// Runs CLI11 over the command line and puts its complaints into our words: one sentence, the
// nearest word, exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// `argv` as main() got it. False: --help or --version was asked for and has been printed. Throws
// UsageError.
bool parse_command_line(CLI::App& app, const std::vector<std::string>& argv);

// Throws the UsageError for a word that names no command of `app`.
[[noreturn]] void refuse_command(const CLI::App& app, const std::string& typed);

// The command of this name; nullptr where there is none.
const CLI::App* find_command(const CLI::App& app, std::string_view name);
// The same, coalprof itself for an empty name; throws as refuse_command() does.
const CLI::App& command_or_app(const CLI::App& app, const std::string& name);

// The text of --help of coalprof itself or of one command, no line longer than 80 columns.
std::string help_of(const CLI::App& command);

}  // namespace coalprof
