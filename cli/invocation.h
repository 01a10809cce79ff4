// The parsed command line: one command, ready to run. Every add_*_command() describes its command
// to CLI11 and, when the user chose it, stores here what to do.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/text/error.h"

namespace coalprof {

// True for "--op" and "--op=load" of --op.
inline bool gives_option(std::string_view word, std::string_view option) {
    return word.starts_with(option) && (word.size() == option.size() || word[option.size()] == '=');
}

struct Invocation {
    std::vector<std::string> argv;  // the words as typed, the program's name included
    // False where the option is not given, or by settings only.
    bool has_typed(std::string_view option) const {
        return std::ranges::any_of(
            argv, [&](const std::string& word) { return gives_option(word, option); });
    }
    std::vector<std::string> program;  // what `run` starts: the words after --
    std::function<ExitCode()> run;     // set by the chosen command
    // The exit code of a command that `run` has started, known once it has ended. A later failure
    // of ours replaces it only if it is 0.
    int code_of_program = 0;
};

// Adds a command whose options are kept in a `Command`; when chosen, `run` gets the command
// perhaps, the options and perhaps the invocation.
template <typename Command>
struct AddedCommand {
    CLI::App* sub;
    std::shared_ptr<Command> command;
};
template <typename Command, typename Run>
AddedCommand<Command> add_command(CLI::App& app, Invocation& invocation, const std::string& name,
                                  const std::string& help, Run run) {
    CLI::App* sub = app.add_subcommand(name, help)->group("Commands");
    auto command = std::make_shared<Command>();
    sub->callback([&invocation, sub, command, run] {
        invocation.run = [&invocation, sub, command, run] {
            static_cast<void>(invocation), static_cast<void>(sub);  // not all of them take both
            if constexpr (std::is_invocable_v<Run, Command&>)
                return run(*command);
            else if constexpr (std::is_invocable_v<Run, Command&, Invocation&>)
                return run(*command, invocation);
            else
                return run(*sub, *command, invocation);
        };
    });
    return {sub, command};
}

void add_pattern_commands(CLI::App& app, Invocation& invocation);
void add_formula_command(CLI::App& app, Invocation& invocation);
void add_layout_command(CLI::App& app, Invocation& invocation);
void add_warps_command(CLI::App& app, Invocation& invocation);
void add_kernel_command(CLI::App& app, Invocation& invocation);
void add_report_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_merge_command(CLI::App& app, Invocation& invocation);
void add_explain_command(CLI::App& app, Invocation& invocation);
void add_run_command(CLI::App& app, Invocation& invocation);
void add_verify_command(CLI::App& app, Invocation& invocation);
void add_calibrate_command(CLI::App& app, Invocation& invocation);
void add_device_commands(CLI::App& app, Invocation& invocation);
void add_occupancy_command(CLI::App& app, Invocation& invocation);
void add_list_commands(CLI::App& app, Invocation& invocation);
void add_shell_commands(CLI::App& app, Invocation& invocation);

// The whole command line. `app` must outlive the invocation's run().
void describe_command_line(CLI::App& app, Invocation& invocation);

}  // namespace coalprof
