// `coalprof formula 'EXPR'`: an index expression of the user's own, swept like a pattern.
#include <fmt/format.h>

#include <memory>

#include "cli/sweep_job.h"
#include "core/formula/tree.h"
#include "core/run/formula_sweep.h"
#include "core/text/describe.h"
#include "core/text/range.h"

namespace coalprof {
namespace {

struct FormulaCommand {
    std::string text;
    std::vector<std::string> variables;
    SweepOptions sweep;
    MachineOptions machine;
    OutputOptions output;
};

// "k=0..32"
FormulaParameter read_parameter(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw UsageError(fmt::format("--var {}: expected a name, '=' and its values", shown(text)),
                         text, std::min(equals, text.size()), "for example --var k=0..32");
    FormulaParameter parameter{text.substr(0, equals), {}};
    require_parameter_name(parameter.name);
    parameter.values =
        parse_range(std::string_view(text).substr(equals + 1), "--var " + parameter.name + "=")
            .values();
    return parameter;
}

ExitCode run_formula(const FormulaCommand& command, const Invocation& invocation) {
    FormulaSweep sweep;
    sweep.text = command.text;
    for (const std::string& text : command.variables)
        sweep.parameters.push_back(read_parameter(text));
    SweepOptions options = command.sweep;
    const BlockShape block = parse_block(options.block);
    options.block = fmt::to_string(block.threads);
    if (block.width != block.threads) sweep.block_x = block.width;
    sweep.settings = options.settings();
    const auto plan = [&sweep](const std::vector<Machine>& machines, KernelLauncher*) {
        FormulaSweep concrete = sweep;
        concrete.settings.machines = machines;
        return expand(concrete);
    };
    const std::string parameter =
        sweep.parameters.empty() ? "formula" : sweep.parameters.back().name;
    return run_sweep_job({plan, describe_sweep(sweep), parameter}, command.machine, command.output,
                         invocation);
}

}  // namespace

void add_formula_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<FormulaCommand>();
    CLI::App* sub =
        app.add_subcommand("formula", "An index expression of your own, e.g. 'i*k' --var k=1..32");
    sub->group("Commands");
    sub->add_option("EXPR", command->text,
                    "The index of each thread's element; several instructions: "
                    "'load: a[i*3]; store: b[i]'")
        ->required();
    sub->add_option("--var", command->variables, "A parameter and its values: k=0..32; repeatable")
        ->type_name("K=R")
        ->allow_extra_args(false);
    command->sweep.add_shape_to(*sub, nullptr);
    command->machine.add_to(*sub);
    command->output.add_to(*sub);
    sub->callback([&invocation, command] {
        invocation.run = [&invocation, command] { return run_formula(*command, invocation); };
    });
}

}  // namespace coalprof
