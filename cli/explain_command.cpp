// `coalprof explain PATTERN [--at K]`: one warp of a pattern, drawn.
#include <fmt/format.h>

#include <memory>

#include "cli/invocation.h"
#include "cli/output_options.h"
#include "cli/print.h"
#include "cli/result_head.h"
#include "cli/sweep_options.h"
#include "core/explain/drawing.h"
#include "core/model/load_path.h"
#include "core/text/number.h"
#include "core/write/explanation_json.h"

namespace coalprof {
namespace {

struct ExplainCommand {
    std::string pattern;
    std::string at;
    std::string warp;
    std::string machine;
    bool all_lines = false;
    bool json = false;
    SweepOptions sweep;
    LookOptions look;
};

// Which options of a pattern's own were given although the pattern does not take them.
void refuse_foreign_options(const CLI::App& command, const PatternInfo& pattern) {
    for (const char* name : {"--order", "--seed", "--member", "--pitch", "--tile"})
        if (command.count(name) > 0 && pattern.options.find(name) == std::string_view::npos)
            throw UsageError(fmt::format("{}: {} does not take it", name, pattern.name));
}

Plan plan_of(const ExplainCommand& command, const PatternInfo& pattern) {
    SweepOptions options = command.sweep;
    options.range = command.at;
    Sweep sweep = options.sweep_of(pattern);
    if (!command.at.empty() && sweep.values.size() != 1)
        throw UsageError(
            fmt::format("--at {}: one warp is drawn, so one value is needed", command.at));
    sweep.values.resize(1);  // without --at: the first of the default sweep
    sweep.machines = {find_machine("h200")};
    return expand(sweep).front().plan;
}

// A drawing shows sectors and lines: it is for loads of which these are known.
void require_known_loads(const Plan& plan, const Machine& machine) {
    const std::string option = fmt::format("--path {}", name_of(plan.path));
    if (plan.path == LoadPath::tex)
        throw UsageError(option +
                         ": how a texture fetch is split is not known, so it is not drawn");
    if (const auto reason = why_loads_unknown(*machine.rules, plan.path))
        throw UsageError(fmt::format("{}: {}", option, *reason));
}

ExitCode run_explain(const CLI::App& app, const ExplainCommand& command,
                     const Invocation& invocation) {
    const PatternInfo& pattern = find_pattern(command.pattern);
    refuse_foreign_options(app, pattern);
    const Plan plan = plan_of(command, pattern);
    const Machine machine = find_machine(command.machine);
    require_known_loads(plan, machine);
    std::optional<std::uint64_t> warp;
    if (!command.warp.empty()) warp = parse_integer(command.warp, "--warp");
    const TableStyle style = command.look.style();
    if (command.json) {
        ResultHead head = head_of(invocation.argv);
        head.machine = describe_machines({machine});
        head.backend = "model";
        print_out(json_document(head, explanation_of(plan, machine, warp)));
        return ExitCode::done;
    }
    print_out(explain(plan, machine,
                      {.width = style.width,
                       .color = style.color,
                       .ascii = style.ascii,
                       .all_lines = command.all_lines},
                      warp));
    return ExitCode::done;
}

}  // namespace

void add_explain_command(CLI::App& app, Invocation& invocation) {
    auto command = std::make_shared<ExplainCommand>();
    command->machine = "h200";
    CLI::App* sub = app.add_subcommand(
        "explain", "One warp drawn: which lane lands in which sector and line, and why");
    sub->group("Commands");
    sub->add_option("PATTERN", command->pattern, "A pattern; `coalprof patterns` lists them")
        ->required();
    sub->add_option("--at", command->at, "Value of the pattern's parameter (default: its first)")
        ->type_name("K");
    sub->add_option("--warp", command->warp,
                    "Which warp of the launch (default: the first full one)")
        ->type_name("N");
    sub->add_option("--machine,-m", command->machine,
                    "The GPU that the model predicts (default h200)")
        ->type_name("M");
    sub->add_flag("--all-lines", command->all_lines, "Draw every line, however many there are");
    sub->add_flag("--json", command->json, "As one JSON document");
    command->sweep.add_shape_to(*sub, nullptr);
    command->sweep.add_pattern_options_to(*sub, "--order --seed --member --pitch --tile");
    command->look.add_to(*sub);
    sub->callback([&invocation, sub, command] {
        invocation.run = [&invocation, sub, command] {
            return run_explain(*sub, *command, invocation);
        };
    });
}

}  // namespace coalprof
