// Options that are set permanently: in a file of the user's, in one of the project's, in variables.
// Typed options override variables, those the project's file, and that the user's.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace coalprof {

struct Setting {
    std::string words;  // "--machine=v100"
    std::string from;   // "COALPROF_MACHINE", "/home/me/.config/coalprof/config.toml"
};

// The settings of the command in `words`, without those that are typed. A file of another user is
// not read; standard error says so. Throws UsageError where a file sets an unknown option.
std::vector<Setting> settings_for(const CLI::App& app, const std::vector<std::string>& words);

// True where one of `words` is the option.
bool is_among(const CLI::Option& option, const std::vector<std::string>& words);

}  // namespace coalprof
