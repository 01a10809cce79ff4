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

// With their dashes, long ones first.
std::vector<std::string> option_names(const CLI::Option& option);

// The command of this name; nullptr: not found.
const CLI::App* find_command(const CLI::App& app, std::string_view name);
// The same; coalprof itself for an empty name. Throws UsageError for a word that names none.
const CLI::App& command_or_app(const CLI::App& app, const std::string& name);

// --threads, of every command that predicts: sets thread_count() when it is parsed.
CLI::Option* add_threads_to(CLI::App& command);

// Throws the UsageError for `coalprof run ./app ...`: `words`, from run on, with `program` without
// a -- before it.
[[noreturn]] void refuse_missing_dashes(std::vector<std::string> words, const std::string& program);

// An option with a value, which --help calls `type`: R, L and "N,..." are ranges and lists, which
// may be given in parts (--type f32 --type f64).
CLI::Option* add_value(CLI::App& command, const std::string& name, std::string& value,
                       const std::string& help, const std::string& type,
                       const std::string& group = "");
// The same where it may be given several times, with one value each.
CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& help,
                          const std::string& type, const std::string& group = "");

}  // namespace coalprof
