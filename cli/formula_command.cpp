// `coalprof formula 'EXPR'`: an index expression of the user's own, swept like a pattern; with
// --file a saved set of them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cli/formula_options.h"
#include "cli/sweep_job.h"
#include "core/result/exit_code.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct FormulaCommand {
    FormulaOptions formula;
    std::string file;
    SweepOptions sweep;
    MachineOptions machine;
    OutputOptions output;
};

// A --var that no formula has would change nothing, and nobody would see it.
void require_that_all_occur(const std::vector<FormulaParameter>& typed,
                            const std::vector<SavedFormula>& formulas, const std::string& file) {
    for (const FormulaParameter& parameter : typed) {
        const auto has_it = [&](const SavedFormula& formula) {
            return std::any_of(formula.vars.begin(), formula.vars.end(),
                               [&](const auto& var) { return var.first == parameter.name; });
        };
        if (std::none_of(formulas.begin(), formulas.end(), has_it))
            throw UsageError(fmt::format("--var {}: no formula of {} has it in its vars",
                                         parameter.name, shown(file)),
                             {}, UsageError::no_caret,
                             "--var gives other values to a var that the file names");
    }
}

auto points_of(std::vector<FormulaSweep> set) {
    return [set = std::move(set), programs = std::make_shared<FormulaPrograms>()](
               const std::vector<Machine>& machines, KernelLauncher*,
               std::optional<int> device) mutable {
        for (FormulaSweep& sweep : set) {
            sweep.settings.machines = machines;
            sweep.settings.device = device;
        }
        return std::make_unique<FormulaPoints>(set, programs);
    };
}

ExitCode run_saved(const CLI::App& app, const FormulaCommand& command,
                   const Invocation& invocation) {
    const std::vector<SavedFormula> formulas =
        read_formula_file(command.file, [] { return stop_signal() != 0; });
    if (formulas.empty()) return exit_code_of(Status::interrupted);
    const std::vector<FormulaParameter> typed = command.formula.parameters();
    require_that_all_occur(typed, formulas, command.file);
    std::vector<FormulaSweep> set;
    for (const SavedFormula& formula : formulas)
        set.push_back(sweep_of(formula, typed, command.sweep, app));
    return run_sweep_job({points_of(set), describe_sweep(set, command.file), {command.file}},
                         command.machine, command.output, invocation);
}

ExitCode run_typed(const FormulaCommand& command, const Invocation& invocation) {
    const FormulaSweep sweep = sweep_of(command.formula, command.sweep);
    return run_sweep_job({points_of({sweep}), describe_sweep(sweep)}, command.machine,
                         command.output, invocation);
}

ExitCode run_formula(const CLI::App& app, const FormulaCommand& command,
                     const Invocation& invocation) {
    const bool is_typed = app.count("EXPR") > 0;
    const bool is_saved = app.count("--file") > 0;
    if (is_typed && is_saved)
        throw UsageError("formula: a formula was typed and --file names saved ones", {},
                         UsageError::no_caret, "give one of the two");
    if (!is_typed && !is_saved)
        throw UsageError("formula: there is no formula", {}, UsageError::no_caret,
                         "for example coalprof formula 'i*k' --var k=1..32, or --file set.json");
    return is_saved ? run_saved(app, command, invocation) : run_typed(command, invocation);
}

}  // namespace

void add_formula_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<FormulaCommand>();
    CLI::App* sub =
        app.add_subcommand("formula", "An index expression of your own, e.g. 'i*k' --var k=1..32");
    sub->group("Commands");
    sub->add_option("EXPR", command->formula.text,
                    "The index of each thread's element; several instructions: "
                    "'load: a[i*3]; store: b[i]'");
    sub->add_option("--file", command->file,
                    "Saved formulas (JSON) as one sweep; - reads standard input")
        ->type_name("FILE");
    command->formula.add_var_to(*sub);
    command->sweep.add_shape_to(*sub, nullptr);
    command->machine.add_to(*sub);
    command->output.add_to(*sub);
    sub->callback([&invocation, sub, command] {
        invocation.run = [&invocation, sub, command] {
            return run_formula(*sub, *command, invocation);
        };
    });
}

}  // namespace coalprof
