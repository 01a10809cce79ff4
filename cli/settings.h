// Options that are set once for all: in a file of the user's, in one of the project's, in
// variables. What is typed wins over variables, those over the project's file, and that over the
// user's.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace coalprof {

struct Setting {
    std::string words;  // "--machine=v100"
    std::string from;   // "COALPROF_MACHINE", "/home/me/.config/coalprof/config.toml"
};

// What is set for the command that `words` choose and is not typed among them. A file that was
// found and is not to be believed is told of on standard error and not read. Throws UsageError for
// a file that sets what no command has.
std::vector<Setting> settings_for(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace coalprof
