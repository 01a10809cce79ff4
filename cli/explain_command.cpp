// `coalprof explain PATTERN [--at K]`: one warp of a pattern, drawn; `coalprof explain formula
// 'EXPR'`: of a formula of the user's own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "cli/formula_options.h"
#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "cli/result_head.h"
#include "cli/sweep_options.h"
#include "core/explain/drawing.h"
#include "core/explain/explanation_json.h"
#include "core/explain/formula_explanation.h"
#include "core/model/load_path.h"
#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/suggest.h"
#include "core/write/output_file.h"

namespace coalprof {
namespace {

constexpr std::string_view formula_word = "formula";

struct ExplainCommand {
    std::string pattern;
    FormulaOptions formula;
    std::string at;
    std::string warp;
    std::string machine;
    bool all_lines = false;
    bool json = false;
    bool quiet = false;
    std::string format;
    std::vector<std::string> files;
    SweepOptions sweep;
    LookOptions look;
};

// One warp of one launch is drawn: a list that a sweep would take has no meaning here.
void refuse_lists(const SweepOptions& options) {
    const auto refuse_list = [](const char* name, const std::string& text) {
        if (text.find(',') != std::string::npos)
            throw UsageError(
                fmt::format("{} {}: one warp is drawn, so one value is needed", name, shown(text)));
    };
    refuse_list("--dlcm", options.dlcm);
    refuse_list("--dscm", options.dscm);
    refuse_list("--carveout", options.carveout);
    refuse_list("--l2-fetch", options.l2_fetch);
    refuse_list("--alloc", options.alloc);
    refuse_list("--path", options.path);
}

// table or json; the drawing is what `table` means here.
bool is_json(const ExplainCommand& command) {
    constexpr std::array<std::string_view, 2> formats{"table", "json"};
    if (!command.format.empty() &&
        std::find(formats.begin(), formats.end(), command.format) == formats.end())
        throw UsageError(unknown_word("format of a drawing", command.format, formats));
    if (command.json && command.format == "table")
        throw UsageError("--json and --format table: standard output takes one of them");
    return command.json || command.format == "json";
}

// Which options of a pattern's own were given although the pattern does not take them.
void refuse_foreign_options(const CLI::App& command, const PatternInfo& pattern) {
    for (const char* name : {"--variant", "--order", "--seed", "--member", "--pitch", "--tile"})
        if (command.count(name) > 0 && pattern.options.find(name) == std::string_view::npos)
            throw UsageError(fmt::format("{}: {} does not take it", name, pattern.name));
}

Plan plan_of(const ExplainCommand& command, const PatternInfo& pattern) {
    SweepOptions options = command.sweep;
    options.range = command.at;
    options.range_option = "--at";
    Sweep sweep = options.sweep_of(pattern);
    if (!command.at.empty() && sweep.values.size() != 1)
        throw UsageError(
            fmt::format("--at {}: one warp is drawn, so one value is needed", command.at));
    sweep.values.resize(1);  // without --at: the first of the default sweep
    sweep.machines = {find_machine("h200")};
    return SweepPoints(std::move(sweep)).at(0).plan;
}

// A drawing shows sectors and lines: it is for loads of which these are known.
void require_known_loads(LoadPath path, const Machine& machine) {
    const std::string option = fmt::format("--path {}", name_of(path));
    if (path == LoadPath::tex)
        throw UsageError(option +
                         ": how a texture fetch is split is not known, so it is not drawn");
    if (const auto reason = why_loads_unknown(*machine.rules, path))
        throw UsageError(fmt::format("{}: {}", option, *reason));
}

Explanation explain_pattern(const CLI::App& app, const ExplainCommand& command,
                            const Machine& machine, std::optional<std::uint64_t> warp) {
    if (app.count("EXPR") > 0 || app.count("--var") > 0)
        throw UsageError(
            fmt::format("explain {}: {} belongs to a formula", shown(command.pattern),
                        app.count("EXPR") > 0 ? shown(command.formula.text) : "--var"),
            {}, UsageError::no_caret,
            "a pattern's parameter is given with --at; a formula with: explain formula 'i*k' "
            "--var k=3");
    const PatternInfo& pattern = find_pattern(command.pattern);
    refuse_foreign_options(app, pattern);
    const Plan plan = plan_of(command, pattern);
    require_known_loads(plan.path, machine);
    return explanation_of(plan, machine, warp);
}

Explanation explain_formula(const CLI::App& app, const ExplainCommand& command,
                            const Machine& machine, std::optional<std::uint64_t> warp) {
    if (app.count("EXPR") == 0)
        throw UsageError("explain formula: there is no formula", {}, UsageError::no_caret,
                         "for example coalprof explain formula 'i*k' --var k=3");
    for (const char* name : {"--at", "--order", "--seed", "--member", "--pitch", "--tile"})
        if (app.count(name) > 0)
            throw UsageError(fmt::format("{}: formula does not take it", name), {},
                             UsageError::no_caret,
                             "--var k=3 gives a parameter its value, --warp chooses the warp");
    const FormulaSweep sweep = sweep_of(command.formula, command.sweep);
    for (const FormulaParameter& parameter : sweep.parameters)
        if (parameter.values.size() != 1)
            throw UsageError(
                fmt::format("--var {}: one warp is drawn, so one value is needed", parameter.name),
                {}, UsageError::no_caret,
                fmt::format("for example --var {}={}", parameter.name, parameter.values.front()));
    for (const LoadPath path : sweep.settings.paths) require_known_loads(path, machine);
    return explanation_of(sweep, machine, warp);
}

ExitCode run_explain(const CLI::App& app, const ExplainCommand& command,
                     const Invocation& invocation) {
    const Machine machine = find_machine(command.machine);
    std::optional<std::uint64_t> warp;
    if (!command.warp.empty()) warp = parse_integer(command.warp, "--warp");
    const TableStyle style = command.look.style();
    const bool prints_json = is_json(command);
    refuse_lists(command.sweep);
    const Explanation explanation = command.pattern == formula_word
                                        ? explain_formula(app, command, machine, warp)
                                        : explain_pattern(app, command, machine, warp);
    ResultHead head = head_of(invocation.argv);  // once: every output tells the same time
    head.machine = describe_machines({machine});
    head.backend = "model";
    const auto document = [&] { return json_document(head, explanation); };
    const auto drawing = [&](const TableStyle& look) {
        return draw(explanation, {.width = look.width,
                                  .color = look.color,
                                  .ascii = look.ascii,
                                  .all_lines = command.all_lines});
    };
    for (const std::string& path : command.files) {
        OutputFile file(path);
        const bool as_json = prints_json || format_of_path(path, &default_format()).name == "json";
        file.write(as_json ? document() : drawing({.width = 80, .ascii = style.ascii}));
        file.commit();
        if (!command.quiet && !file.remark().empty())
            print_err(fmt::format("coalprof: {}\n", file.remark()));
    }
    print_out(prints_json ? document() : drawing(style));
    return ExitCode::done;
}

}  // namespace

void add_explain_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<ExplainCommand>();
    command->machine = "h200";
    CLI::App* sub = app.add_subcommand(
        "explain", "One warp drawn: which lane lands in which sector and line, and why");
    sub->group("Commands");
    sub->add_option("PATTERN", command->pattern,
                    "A pattern; `coalprof patterns` lists them. Or the word formula, and:")
        ->required();
    sub->add_option("EXPR", command->formula.text, "The formula, as for `coalprof formula`");
    sub->add_option("--at", command->at, "Value of the pattern's parameter (default: its first)")
        ->type_name("K");
    sub->add_option("--warp", command->warp,
                    "Which warp of the launch (default: the first full one)")
        ->type_name("N");
    sub->add_option("--machine,-m", command->machine,
                    "The GPU that the model predicts (default h200)")
        ->type_name("M");
    sub->add_flag("--all-lines", command->all_lines, "Draw every line, however many there are");
    sub->add_flag("--json", command->json, "Short for --format json");
    sub->add_option("--format", command->format, "table (the drawing) or json")
        ->type_name("FORMAT")
        ->group("Output");
    sub->add_option("--output,-o", command->files,
                    "Write it to FILE as well, as JSON where it ends in .json; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->group("Output");
    sub->add_flag("--quiet,-q", command->quiet, "No notes and hints on standard error")
        ->group("Output");
    command->formula.add_var_to(*sub);
    command->sweep.add_shape_to(*sub, nullptr);
    command->sweep.add_pattern_options_to(*sub, "--variant --order --seed --member --pitch --tile");
    command->look.add_to(*sub);
    sub->callback([&invocation, sub, command] {
        invocation.run = [&invocation, sub, command] {
            return run_explain(*sub, *command, invocation);
        };
    });
}

}  // namespace coalprof
