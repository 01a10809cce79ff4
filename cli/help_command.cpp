// `coalprof help COMMAND`: what `coalprof COMMAND --help` prints.
#include <algorithm>
#include <memory>

#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"

namespace coalprof {
namespace {

ExitCode run_help(const CLI::App& app, const std::string& name) {
    print_out(help_of(command_or_app(app, name)));
    return ExitCode::done;
}

}  // namespace

void add_help_command(CLI::App& app, Invocation& invocation) {
    auto name = std::make_shared<std::string>();
    CLI::App* sub = app.add_subcommand("help", "The options of one command or pattern");
    sub->group("Lists");
    sub->add_option("COMMAND", *name, "A command or pattern (default: coalprof itself)");
    sub->footer(
        "Examples:\n"
        "  coalprof help formula\n"
        "  coalprof help offset\n");
    sub->callback([&invocation, &app, name] {
        invocation.run = [&app, name] { return run_help(app, *name); };
    });
}

}  // namespace coalprof
