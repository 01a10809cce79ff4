// `coalprof formula 'EXPR'`: a user's index expression, or several, swept like a pattern; `coalprof
// layout 'LAYOUT'`: the same of layouts.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "cli/formula_options.h"
#include "cli/parse.h"
#include "cli/settings.h"
#include "cli/sweep_job.h"
#include "core/result/result.h"
#include "core/text/describe.h"

namespace coalprof {
namespace {

struct FormulaCommand {
    std::vector<std::string> texts;
    std::vector<std::string> names;
    FormulaOptions formula;  // its variables
    SweepOptions sweep;
    MachineOptions machine;
    OutputOptions output;
};

void require_names(const FormulaCommand& command) {
    const std::vector<std::string>& names = command.names;
    if (names.empty()) return;
    if (names.size() != command.texts.size())
        throw UsageError(fmt::format("--name: {} name{} for {} formula{}", names.size(),
                                     names.size() == 1 ? "" : "s", command.texts.size(),
                                     command.texts.size() == 1 ? "" : "s"),
                         "name each: coalprof formula 'i' 'i*2' --name first --name second");
}

// The typed formulas, each with those of the parameters that it has.
std::vector<FormulaSweep> typed_set(const FormulaCommand& command) {
    require_names(command);
    std::vector<FormulaSweep> set;
    std::vector<bool> occurs;
    for (std::size_t k = 0; k < command.texts.size(); ++k) {
        FormulaOptions one = command.formula;
        one.text = command.texts[k];
        if (command.texts.size() > 1 && one.text.find_first_not_of("0123456789") == one.text.npos)
            throw UsageError(
                fmt::format("formula: {} alone is no formula beside others", shown(one.text)),
                fmt::format("a size is in brackets: --array x=f32[{}]", one.text));
        FormulaSweep sweep = sweep_of(one, command.sweep);
        if (!command.names.empty())
            sweep.name = command.names[k];
        else if (command.texts.size() > 1 || one.is_layout)
            sweep.name = one.text;
        for (const FormulaSweep& other : set)
            if (other.name == sweep.name)
                throw UsageError(fmt::format("{}: given twice", shown(sweep.name)),
                                 "each of a table has its own name");
        if (command.texts.size() > 1) {
            occurs.resize(sweep.parameters.size());
            keep_occurring(sweep, occurs);
        }
        set.push_back(std::move(sweep));
    }
    for (std::size_t k = 0; k < occurs.size(); ++k)
        if (!occurs[k])
            throw UsageError(
                fmt::format("--var {}: no formula has it", shown(command.formula.variables[k])),
                "leave it out");
    return set;
}

auto points_of(std::vector<FormulaSweep> set) {
    return [set = std::move(set), programs = std::make_shared<FormulaPrograms>()](
               const std::vector<Machine>& machines, KernelLauncher*) mutable {
        for (FormulaSweep& sweep : set) sweep.settings.machines = machines;
        return std::make_unique<FormulaPoints>(set, programs);
    };
}

ExitCode run_formula(const CLI::App& app, const FormulaCommand& command,
                     const Invocation& invocation) {
    const bool is_layout = command.formula.is_layout;
    if (command.texts.empty())
        throw UsageError(fmt::format("{0}: there is no {0}", app.get_name()),
                         is_layout ? "for example coalprof layout '(8,4):(4,1)'"
                                   : "for example coalprof formula 'i*k' --var k=1..32");
    const std::vector<FormulaSweep> set = typed_set(command);
    if (!is_layout && set.size() == 1 && is_among(*app.get_option("--type"), invocation.argv)) {
        FormulaSweep other = set.front();  // the same as if another type were given
        ElementType& type = other.settings.launch.type;
        type = type == ElementType::f32 ? ElementType::f64 : ElementType::f32;
        if (types_of(other) == types_of(set.front()))
            throw UsageError(
                "--type: the formula and its arrays say themselves of which type they are",
                "leave it out");
    }
    for (const FormulaSweep& sweep : set)
        if (!sweep.note.empty()) command.output.note(sweep.note);
    const SweepFacts facts = set.size() == 1 ? describe_sweep(set.front()) : describe_sweep(set);
    return run_sweep_job({points_of(set), facts, command.sweep}, command.machine, command.output,
                         invocation);
}

CLI::App& add_formulas(CLI::App& app, Invocation& invocation, bool are_layouts, const char* help,
                       const char* of_texts) {
    const auto [sub, command] = add_command<FormulaCommand>(
        app, invocation, are_layouts ? "layout" : "formula", help, run_formula);
    sub->add_option(are_layouts ? "LAYOUT" : "EXPR", command->texts, of_texts);
    add_repeated(*sub, "--name", command->names,
                 "What each is called in the result, in their order (default: its text)", "NAME");
    command->formula.is_layout = are_layouts;
    are_layouts ? command->formula.add_layout_to(*sub) : command->formula.add_to(*sub);
    command->sweep.add_shape_to(*sub, nullptr);
    command->machine.add_to(*sub);
    command->output.add_to(*sub);
    command->output.view.add_to(*sub);
    return *sub;
}

}  // namespace

void add_formula_command(CLI::App& app, Invocation& invocation) {
    CLI::App& command = add_formulas(app, invocation, false,
                                     "An index expression of your own, e.g. 'i*k' --var k=1..32",
                                     "The index of each thread's element; several instructions: "
                                     "'load: a[i*3]; store: b[i]'. Several formulas are one table");
    command.footer(
        "A formula: KIND: ARRAY[INDEX] if CONDITION; all but INDEX may be left out.\n"
        "  KIND    load store atomic reduce; shared.load shared.store shared.atomic\n"
        "          shared.reduce; load.u64: an array of another type\n"
        "  INDEX   C's integer operators, ^ among them; min max abs; hash(x, 256):\n"
        "          random, below 256\n"
        "  names   i: the thread in the launch; tid bid bdim gdim, tid.x bid.y ... or\n"
        "          CUDA's threadIdx.x, blockIdx.y, ...; lane warp; n: all threads\n"
        "Several are separated by ;. A part can have a name: row = i/64; a[row*65].\n"
        "An assignment loads and stores: c[i] = a[2*i] + b[i] if i < 1000. Loops and\n"
        "declarations are C, which `coalprof kernel --code` takes.\n"
        "\n"
        "Examples:\n"
        "  coalprof formula 'i*k' --var k=1..32\n"
        "  coalprof formula 'A[blockIdx.y*1001 + threadIdx.x]' --block 32 --grid 1x64\n"
        "  coalprof formula 'shared.load: tile[tid.x*33 + tid.y]' --block 32x32\n"
        "  coalprof formula 'i*3' 'i' --name near --name far --best load_sectors\n"
        "  coalprof formula 'load: a[i]; store: b[i*2]' --block 64..256*2\n"
        "  coalprof formula 'a[i] + a[i*2]' --budget 'excess <= 5% if index=i*2'\n");
}

void add_layout_command(CLI::App& app, Invocation& invocation) {
    CLI::App& command = add_formulas(
        app, invocation, true, "A layout of CuTe or Triton, e.g. '(8,4):(4,1)' --space shared",
        "Shapes and strides, with swizzles and compositions; several are one table");
    for (const char* option : {"--size", "--grid", "--per-thread"})
        command.remove_option(command.get_option(option));
    command.footer(
        "A layout: SHAPE:STRIDES in elements, as CuTe prints it; before it may stand\n"
        "'Sw<B,M,S> o ' or another and ' o '. Or of Triton, behind that of its tensor:\n"
        "#ttg.blocked<{...}> or BlockedLayout(...).\n"
        "\n"
        "Examples:\n"
        "  coalprof layout 'Sw<3,3,3> o (64,64):(64,1)' --type f16 --vector 8\n"
        "  coalprof layout '((4,8),(2,2)):((32,1),(16,8))' --tv --space shared\n"
        "  coalprof layout '(64,64):(64,1) o BlockedLayout([1,8], [4,8], [4,1], [1,0])'\n");
}

}  // namespace coalprof
