// What somebody who typed a word that a command does not take may have meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// A command line as a shell takes it back: what a hint shows can be typed. `words` begin with the
// command.
std::string typed_again(const std::vector<std::string>& words);

// How to come by what an option that `command` lacks promises; empty where nothing is known.
std::string hint_for_option(const CLI::App& command, std::string_view option);

// Where the argument that `command` does not take belongs; empty where nothing is known.
std::string hint_for_argument(const CLI::App& command, const std::string& typed);

// "as a list: --machine k80,h200", where the option takes one; else empty.
std::string hint_for_repeated(const CLI::App& command, const std::string& option);

// Throws the UsageError for `coalprof run ./app ...`: `words`, from run on, in which `program`
// stands without a -- before it.
[[noreturn]] void refuse_missing_dashes(std::vector<std::string> words, const std::string& program);

}  // namespace coalprof
