// `coalprof explain PATTERN [--at K]`: one warp of a pattern, drawn; `coalprof explain formula
// 'EXPR'`, `layout 'LAYOUT'`: of a user's; `coalprof explain kernel FILE --line N`: of a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>

#include "cli/formula_options.h"
#include "cli/invocation.h"
#include "cli/kernel_options.h"
#include "cli/kernel_sources.h"
#include "cli/list_output.h"
#include "cli/output_options.h"
#include "cli/parse.h"
#include "cli/progress.h"
#include "cli/ptx_source.h"
#include "cli/saved_result.h"
#include "cli/settings.h"
#include "cli/sweep_options.h"
#include "core/count/load_path.h"
#include "core/count/predict.h"
#include "core/explain/drawing.h"
#include "core/explain/explanation.h"
#include "core/explain/explanation_json.h"
#include "core/explain/launch_sample.h"
#include "core/kernel/kernel_explanation.h"
#include "core/machine/machine_file.h"
#include "core/runtime/parallel.h"
#include "core/sweep/warps_source.h"
#include "core/text/describe.h"
#include "core/text/file_kind.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/number.h"

namespace coalprof {
namespace {

constexpr std::string_view formula_word = "formula";
constexpr std::string_view layout_word = "layout";
constexpr std::string_view warps_word = "warps";
constexpr std::string_view kernel_word = "kernel";

struct ExplainCommand {
    std::string pattern;
    FormulaOptions formula;
    KernelOptions kernel;
    std::string kernel_name;
    std::string line;
    std::string at;
    std::string warp;
    std::string machine;
    bool all_lines = false;
    bool is_brief = false;
    SweepOptions sweep;
    OutputOptions output;
};

// One warp of one launch is drawn: lists of a sweep have no meaning here.
void refuse_axes(const Sweep& sweep) {
    for (const std::vector<Axis>* axes : {&sweep.axes, &sweep.memory_axes})
        for (const Axis& axis : *axes)
            throw UsageError(
                fmt::format("{} was given {} values: one warp is drawn, so one value is needed",
                            find_launch_option(axis.key)->name(), axis.values.size()));
}

// `table` means the drawing here; svg and html are pictures of it.
void refuse_format(const Format& format) {
    for (const std::string_view name : {"table", "json", "svg", "html"})
        if (format.name == name) return;
    throw UsageError(fmt::format("explain: a drawing is not written as {}", format.name),
                     "--format takes table, which is the drawing, json, svg and html");
}

// What a drawing of a subject takes, beside the options of every drawing. Patterns have no word.
struct Subject {
    std::string_view word;
    bool is_swept;  // takes the options of a launch
    std::string_view options;
    std::string_view hint;
};
constexpr std::array subjects{
    Subject{layout_word, true, " --vector --space --tv --warp ",
            "--vector and --space say how it is accessed, --warp chooses the warp"},
    Subject{kernel_word, false,
            " --line --op --array --grid --block --arg --launch --shared --nvcc-args -I -D --code "
            "--type --time-limit --memory-limit ",
            "--line, --op and --array choose the access; --grid, --block and --arg the launch"},
    Subject{warps_word, false, " --at --type --op ", "--at chooses the line, --machine the GPU"},
    Subject{formula_word, true, " --var --array --warp ",
            "--var k=3 gives a parameter its value, --warp chooses the warp"},
    Subject{"", true, " --at --warp ",
            "a pattern's parameter is given with --at; a formula with: explain formula 'i*k' "
            "--var k=3"}};

// Throws for options of another subject. `pattern`: null where the subject is none.
void refuse_foreign_options(const CLI::App& command, const Invocation& invocation,
                            std::string_view typed, const PatternInfo* pattern) {
    const Subject& subject = *std::ranges::find_if(
        subjects, [&](const Subject& one) { return one.word == typed || one.word.empty(); });
    for (const CLI::Option* option : command.get_options()) {
        if (!option->nonpositional() || !is_among(*option, invocation.argv)) continue;
        const std::string name = option->get_name();
        const auto launch = std::ranges::find(launch_options(), name, &LaunchOption::name);
        const bool is_of_launch = launch != launch_options().end();
        const bool is_of_some =
            is_of_launch || std::ranges::any_of(subjects, [&](const Subject& one) {
                return has_word(one.options, name);
            });
        const bool is_swept =
            subject.is_swept && is_of_launch &&
            (launch->group != OptionGroup::pattern || (pattern && pattern->takes(name)));
        if (is_of_some && !is_swept && !has_word(subject.options, name))
            throw UsageError(fmt::format("{}: explain {} does not take it", name, typed),
                             std::string(subject.hint));
    }
}

struct ChosenPlan {
    Plan plan;
    std::string why;  // this value; empty: it was given, or all cost the same
};

// The value of the sweep that costs most, the first of several: it shows the pattern best.
ChosenPlan costliest(const SweepPoints& points, const PatternInfo& pattern,
                     const Machine& machine) {
    const Predictor predictor(machine);
    std::uint64_t worst = 0;
    std::array<std::int64_t, 2> most{-1, -1};
    bool differs = false;
    std::uint64_t equals = 0;
    for (std::uint64_t i = 0; i < points.count(); ++i) {
        try {
            Plan plan = points.at(i).plan;
            plan.program = first_part(plan.program, most_warps_looked_at);
            const auto cost = request_cost(predictor.predict_launch(plan, {}));
            differs |= most[0] >= 0 && cost != most;
            if (cost > most) {
                most = cost;
                worst = i;
                equals = 0;
            }
            equals += cost == most ? 1 : 0;
        } catch (const UsageError&) {  // a value that does not fit these options is not chosen
        }
    }
    PlannedPoint point = points.at(worst);
    const std::string why =
        fmt::format("{}={} is {}the worst of {}, the values that are swept; --at chooses another",
                    pattern.parameter, point.plan.value, equals > 1 ? "one of " : "",
                    pattern.default_range(bytes_of(point.plan.type)));
    return {std::move(point.plan), differs ? why : std::string()};
}

ChosenPlan plan_of(const ExplainCommand& command, const PatternInfo& pattern,
                   const Machine& machine) {
    SweepOptions options = command.sweep;
    options.range = command.at;
    options.range_option = "--at";
    Sweep sweep = options.sweep_of(pattern);
    refuse_axes(sweep);
    if (!command.at.empty() && sweep.values.size() != 1)
        throw UsageError(
            fmt::format("--at {}: one warp is drawn, so one value is needed", command.at));
    sweep.machines = {machine};
    const SweepPoints points(std::move(sweep));
    if (command.at.empty()) return costliest(points, pattern, machine);
    return {points.at(0).plan, {}};
}

// A drawing shows sectors and lines, so it needs loads with known ones.
void require_known_loads(LoadPath path, const Machine& machine) {
    const std::string option = fmt::format("--path {}", name_of(path));
    if (path == LoadPath::tex)
        throw UsageError(option +
                         ": how a texture fetch is split is not known, so it is not drawn");
    if (const auto reason = why_loads_unknown(*machine.rules, path))
        throw UsageError(fmt::format("{}: {}", option, *reason));
}

template <typename Explain>
DrawnWarps drawn_warps(const Program& program, const Machine& machine,
                       std::optional<std::uint64_t> warp, Explain explain) {
    if (warp) return {explain(*warp)};
    const WarpSample sample = sample_of(program, machine);
    DrawnWarps drawn{explain(sample.common)};
    if (sample.worst) drawn.worst = explain(*sample.worst);
    return drawn;
}

// A line of a warps file, by its name or by its number from 1.
DrawnWarps explain_line_of_file(const CLI::App& app, const Invocation& invocation,
                                const ExplainCommand& command, const Machine& machine) {
    if (app.count("EXPR") == 0)
        throw UsageError("explain warps: there is no file",
                         "for example coalprof explain warps FILE --at NAME");
    refuse_foreign_options(app, invocation, warps_word, nullptr);
    WarpsSource source(command.formula.text, machine,
                       npy_warps(command.sweep.text_of("op"), command.sweep.text_of("type")));
    source.open();
    PlannedPoint point;
    const bool is_number =
        command.at.find_first_not_of("0123456789") == std::string::npos && !command.at.empty();
    const std::uint64_t wanted = is_number ? parse_integer(command.at, "--at") : 0;
    while (source.next(point)) {
        const bool is_wanted = command.at.empty() || point.name == command.at ||
                               (is_number && point.number + 1 == wanted);
        if (is_wanted) return {explanation_of(point.name, *point.warp, machine)};
    }
    throw UsageError(fmt::format("explain warps: {} has no line {}", shown(command.formula.text),
                                 shown(command.at)),
                     "--at takes the NAME of a line, or its number from 1");
}

DrawnWarps explain_kernel(const CLI::App& app, const Invocation& invocation, ExplainCommand command,
                          const Machine& machine, const LimitsHeld& limits) {
    if (app.count("EXPR") == 0 && app.count("--code") == 0)
        throw UsageError(
            "explain kernel: there is neither a file nor --code",
            "for example coalprof explain kernel FILE --line 42 --grid 64 --block 256");
    refuse_foreign_options(app, invocation, kernel_word, nullptr);
    command.kernel.file = command.formula.text;
    if (app.count("--type") > 0 && app.count("--code") == 0)
        throw UsageError("--type: a file says its types",
                         "it is the type of arrays in --code that nothing else tells");
    if (app.count("--type") > 0) command.kernel.code.type = command.sweep.text_of("type");
    std::vector<std::string> grids, blocks, words;
    if (app.count("--grid") > 0) grids.push_back(command.sweep.text_of("grid"));
    if (app.count("--block") > 0) blocks.push_back(command.sweep.text_of("block"));
    command.kernel.take_launches(grids, blocks, words);
    std::deque<KernelFiles> all_files;
    KernelFiles& files = all_files.emplace_back(command.kernel);
    KernelFile::Kernel kernel = files.of(machine).kernel(command.kernel_name);
    const std::vector<std::string> names{kernel.code.kernel};
    const bool is_of_source = grids.empty() && blocks.empty() && app.count("--code") == 0;
    LaunchedKernels launched =
        is_of_source ? launches_of_source(all_files, names, machine, limits)
                     : launches_of_options(all_files, names, false, grids, blocks, machine);
    std::vector<KernelChoice> choices = launched.kernels.front().choices;
    std::vector<Warning> notes = launched.kernels.front().notes;
    if (is_of_source) {
        choices.resize(1);
        notes.resize(1);
    }
    if (choices.size() != 1)
        throw UsageError("explain kernel: one warp is drawn, so one launch is needed",
                         "give --grid, --block and --arg one value each");
    require_possible(kernel.code, choices.front(), machine);
    const KernelResult result =
        predict_choice(kernel.code, choices.front(), machine,
                       {.threads = thread_count(), .prices_findings = true});
    const std::vector<std::string>& arrays = command.formula.arrays;
    DrawnWarps drawn = explain_line(result, kernel.code,
                                    {.line = command.line,
                                     .op = command.sweep.text_of("op"),
                                     .array = arrays.empty() ? std::string() : arrays.front()},
                                    machine);
    std::ranges::move(notes, std::back_inserter(drawn.first.warnings));
    return drawn;
}

DrawnWarps with_time(DrawnWarps drawn, const Plan& plan, const Machine& machine) {
    const TimedLaunch launch = timed(plan, machine);
    drawn.first.time = launch.time;
    if (launch.omitted) drawn.first.warnings.push_back(*launch.omitted);
    return drawn;
}

DrawnWarps explain_pattern(const CLI::App& app, const Invocation& invocation,
                           const ExplainCommand& command, const Machine& machine,
                           std::optional<std::uint64_t> warp) {
    refuse_line(command.pattern);
    refuse_file(
        command.pattern, "a pattern",
        fmt::format("a file follows its kind: coalprof explain kernel {0} NAME --line N, or "
                    "coalprof explain warps {0}",
                    shown(command.pattern)));
    const std::size_t equals = command.pattern.find('=');
    if (equals != std::string::npos && known_pattern(command.pattern.substr(0, equals)))
        throw UsageError(
            fmt::format("unknown pattern '{}'", shown(command.pattern)),
            fmt::format("coalprof explain {} --at {}", command.pattern.substr(0, equals),
                        shown(command.pattern.substr(equals + 1))));
    const PatternInfo& pattern = find_pattern(command.pattern);
    refuse_foreign_options(app, invocation, pattern.name, &pattern);
    if (app.count("EXPR") > 0)
        throw UsageError(fmt::format("explain {}: a pattern has no second argument, '{}'",
                                     pattern.name, shown(command.formula.text)),
                         command.formula.text.find_first_not_of("0123456789") == std::string::npos
                             ? fmt::format("its value: coalprof explain {} --at {}", pattern.name,
                                           command.formula.text)
                             : std::string(subjects.back().hint));
    const ChosenPlan chosen = plan_of(command, pattern, machine);
    const Plan& plan = chosen.plan;
    command.sweep.require_effects(accesses_of(plan.program), plan.pattern, invocation);
    require_known_loads(plan.path, machine);
    DrawnWarps drawn = drawn_warps(plan.program, machine, warp, [&](std::uint64_t chosen) {
        return explanation_of(plan, machine, chosen);
    });
    drawn.first.choice = chosen.why;
    return with_time(std::move(drawn), plan, machine);
}

DrawnWarps explain_formula(const CLI::App& app, const Invocation& invocation,
                           const ExplainCommand& command, const Machine& machine,
                           std::optional<std::uint64_t> warp) {
    const bool is_layout = command.formula.is_layout;
    if (app.count("EXPR") == 0)
        throw UsageError(fmt::format("explain {0}: there is no {0}", command.pattern),
                         is_layout ? "for example coalprof explain layout '(8,4):(4,1)'"
                                   : "for example coalprof explain formula 'i*k' --var k=3");
    refuse_foreign_options(app, invocation, command.pattern, nullptr);
    FormulaSweep sweep = sweep_of(command.formula, command.sweep);
    refuse_axes(sweep.settings);
    for (const FormulaParameter& parameter : sweep.parameters)
        if (parameter.values.size() != 1)
            throw UsageError(
                fmt::format("--var {}: one warp is drawn, so one value is needed", parameter.name),
                fmt::format("for example --var {}={}", parameter.name, parameter.values.front()));
    require_known_loads(sweep.settings.launch.path, machine);
    sweep.settings.machines = {machine};
    const PlannedPoint point = FormulaPoints({sweep}).at(0);
    const Plan& plan = point.plan;
    command.sweep.require_effects(accesses_of(plan.program), plan.pattern, invocation);
    DrawnWarps drawn = drawn_warps(plan.program, machine, warp, [&](std::uint64_t chosen) {
        Explanation explanation = explanation_of(sweep, point, machine, chosen);
        if (is_layout) explanation.name = fmt::format("layout {}", shown(command.formula.text));
        return explanation;
    });
    return with_time(std::move(drawn), plan, machine);
}

ExitCode run_explain(const CLI::App& app, ExplainCommand command, const Invocation& invocation) {
    command.formula.is_layout = command.pattern == layout_word;
    if (command.machine.find(',') != std::string::npos)
        throw UsageError(fmt::format("--machine {}: one warp is drawn, so one value is needed",
                                     shown(command.machine)));
    const Machine machine = machine_named(command.machine);
    std::optional<std::uint64_t> warp;
    if (!command.warp.empty()) warp = parse_integer(command.warp, "--warp");
    const std::vector<OutputTarget> targets = command.output.targets();
    for (const OutputTarget& target : targets) refuse_format(*target.format);
    TextOutputs outputs(targets, command.output);
    const bool of_kernel = command.pattern == kernel_word;
    const bool of_formula = command.pattern == formula_word || command.formula.is_layout;
    const bool is_pair = of_formula && !command.kernel_name.empty();
    if (!command.kernel_name.empty() && !of_kernel && !is_pair)
        throw UsageError(
            fmt::format("explain {}: one warp is drawn, and there is a second argument, '{}'",
                        shown(command.pattern), shown(command.kernel_name)),
            "leave it out");
    for (const OutputTarget& target : targets)
        if (is_pair && target.format->name == "json")
            throw UsageError("explain: a document holds one drawing, and two are asked for",
                             "draw both as svg, html or text, or explain one after the other");
    StatusLine counting(wants_progress(command.output), [of_kernel](double seconds) {
        return of_kernel ? progress_of_work(seconds)
                         : fmt::format("counting the launch's warps, {:.0f} s", seconds);
    });
    DrawnWarps drawn;
    if (of_kernel)
        do_within(command.kernel.limits.limits(), [&](LimitsHeld& limits) {
            drawn = explain_kernel(app, invocation, command, machine, limits);
        });
    else
        drawn = of_formula ? explain_formula(app, invocation, command, machine, warp)
                : command.pattern == warps_word
                    ? explain_line_of_file(app, invocation, command, machine)
                    : explain_pattern(app, invocation, command, machine, warp);
    std::optional<DrawnWarps> second;
    if (is_pair) {
        ExplainCommand other = command;
        other.formula.text = command.kernel_name;
        second = explain_formula(app, invocation, other, machine, warp);
    }
    counting.stop();
    ResultHead head = head_of(invocation.argv);  // once: every output has the same time
    head.machine = describe_machines({machine});
    head.backend = "model";
    const auto document = [&] {
        return json_document(head, drawn.first, drawn.worst ? &*drawn.worst : nullptr,
                             drawn.status);
    };
    const auto drawing = [&](const DrawnWarps& one, const TableStyle& look) {
        const ExplainStyle style{.width = look.width,
                                 .color = look.color,
                                 .ascii = look.ascii,
                                 .all_lines = command.all_lines,
                                 .is_brief = command.is_brief};
        std::vector<StyledLine> all = lines_of(one.first, style);
        if (!one.worst) return all;
        StyledLine heading;
        heading.add("The warp that costs most:");
        all.insert(all.end(), {StyledLine(), heading, StyledLine()});
        std::ranges::copy(lines_of(*one.worst, style), std::back_inserter(all));
        return all;
    };
    // Two drawings are beside each other in pictures, and where the terminal is wide enough.
    const auto lines = [&](TableStyle look, bool is_picture) {
        if (!second) return drawing(drawn, look);
        constexpr std::size_t wide = 2 * 60 + 4;
        const bool fits = is_picture || look.width >= wide;
        if (fits && !is_picture) look.width = look.width / 2 - 2;
        std::vector<StyledLine> all = drawing(drawn, look);
        const std::vector<StyledLine> other = drawing(*second, look);
        if (fits) return beside(std::move(all), other);
        all.emplace_back();
        std::ranges::copy(other, std::back_inserter(all));
        return all;
    };
    const std::string title =
        second ? fmt::format("{} and {}", drawn.first.formula, second->first.formula)
               : drawn.first.name;
    outputs.write([&](const OutputTarget& target) {
        if (target.format->name == "json") return document();
        const TableStyle look = is_standard_output(target.path)
                                    ? target.style
                                    : TableStyle{.width = 80, .ascii = target.style.ascii};
        if (target.format->name == "svg") return svg_of(lines({.width = 80}, true), title);
        if (target.format->name == "html") return html_page_of(lines({.width = 80}, true), title);
        return without_commands(text_of(lines(look, false), look.color));
    });
    return exit_code_of(drawn.status);
}

}  // namespace

void add_explain_command(CLI::App& app, Invocation& invocation) {
    const auto [sub, command] = add_command<ExplainCommand>(
        app, invocation, "explain",
        "One warp drawn: which lane lands in which sector and line, and why", run_explain);
    command->machine = "h200";
    sub->add_option("PATTERN", command->pattern,
                    "One that `coalprof patterns` lists; or formula, layout, warps or kernel, and:")
        ->required();
    sub->add_option("EXPR", command->formula.text,
                    "The formula or layout; or a warps file; or a kernel's file");
    sub->add_option("NAME", command->kernel_name,
                    "The kernel, where its file has several; or what is drawn beside the first");
    add_value(*sub, "--line", command->line, "The line of a kernel's source", "N");
    add_value(*sub, "--code", command->kernel.code.text, "Statements in place of a kernel's file",
              "STATEMENTS");
    add_value(
        *sub, "--at", command->at,
        "Value of the pattern's parameter, 3 or stride=3 (default: the worst of those that it "
        "sweeps); of row, column and indirect in elements, or row_bytes=4000, 4000B; of a warps "
        "file a line, by name or number",
        "K");
    add_value(
        *sub, "--warp", command->warp,
        "Which warp of the launch (default: the most common; where they differ also the costliest)",
        "N");
    add_value(*sub, "--machine,-m", command->machine,
              "The GPU that the model predicts (default h200)", "M");
    sub->add_flag("--all-lines", command->all_lines, "Draw every line, however many there are");
    sub->add_flag("--brief", command->is_brief, "Only the drawing and its counts, no sentences");
    command->formula.add_to(*sub, OptionValues::one);
    CLI::Option* array = sub->get_option("--array");
    array->description(
        "The array of a kernel's line to draw, where it has several: B; or one of a formula" +
        array->get_description().substr(std::string_view("An array").size()));
    array->type_name("NAME");
    command->formula.add_layout_to(*sub);
    command->kernel.add_to(*sub);
    command->sweep.add_shape_to(*sub, nullptr, OptionValues::one);
    sub->get_option("--size")->description(
        "Useful data in bytes: 4MiB, 65536 (default: the "
        "pattern's own; of a formula 64MiB)");
    command->sweep.add_pattern_options_to(*sub, "--variant --order --seed --member --pitch --tile");
    // A drawing shows one value of each option that takes a list.
    constexpr std::string_view list_mark = ",...";
    for (CLI::Option* option : sub->get_options())
        if (const std::string what = option->get_type_name(); what.ends_with(list_mark))
            option->type_name(what.substr(0, what.size() - list_mark.size()));
    command->output.add_to(*sub);
    OutputOptions::offer_only(*sub, "table (the drawing), json, svg, html");
    sub->footer(
        "Examples:\n"
        "  coalprof explain offset --at 11\n"
        "  coalprof explain row --at 1000 -o warp.svg\n"
        "  coalprof explain formula 'i*k' --var k=3 --warp 5\n"
        "  coalprof explain formula 'a[i*3]' 'a[i]' --brief -o both.svg\n"
        "  coalprof explain warps FILE --at NAME\n"
        "  coalprof explain kernel FILE --line 42 --array B --grid 4096 --block 256\n");
}

}  // namespace coalprof
