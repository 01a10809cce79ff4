#include "cli/output_options.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "cli/formula_options.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "cli/source_files.h"
#include "cli/sweep_options.h"
#include "cli/wiring.h"
#include "core/judge/gate_formats.h"
#include "core/result/counter.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/name_list.h"
#include "core/write/table_style.h"

namespace coalprof {
namespace {

std::string format_list() { return joined(all_formats(), &Format::name); }

void refuse_gate_format(std::string_view name) {
    if (std::ranges::count(all_formats(), name, &Format::name) == 0 &&
        std::ranges::count(gate_formats, name, &GateFormat::name) > 0)
        throw UsageError(
            fmt::format("--format {}: results are not written so, only what became of budgets",
                        name),
            fmt::format("save the result (-o FILE.json), then `coalprof check FILE.json --budget B "
                        "--format {}`",
                        name));
}

bool wants_color(const std::string& choice) {
    if (choice == "always") return true;
    if (choice == "never") return false;
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool refused = (no_color && *no_color != '\0') || (term && std::string(term) == "dumb");
    return !refused && ::isatty(STDOUT_FILENO) == 1;
}

}  // namespace

std::string expanded_name(const std::string& name) {
    const auto refuse = [&](const std::string& why) {
        throw UsageError(
            fmt::format("--output {}: {}", shown(name), why),
            "names of outputs may have %q{VARIABLE}, %p (the process), %h (the host) and "
            "%% (a percent sign)");
    };
    std::string text;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] != '%') {
            text += name[at];
            continue;
        }
        const char kind = ++at < name.size() ? name[at] : '\0';
        const std::size_t end = name.find('}', at);
        if (kind == '%') {
            text += '%';
        } else if (kind == 'p') {
            text += std::to_string(::getpid());
        } else if (kind == 'h') {
            std::array<char, 256> host{};
            ::gethostname(host.data(), host.size() - 1);
            text += host.data();
        } else if (kind == 'q' && name.substr(at).starts_with("q{") && end != name.npos) {
            const std::string variable = name.substr(at + 2, end - at - 2);
            const char* value = std::getenv(variable.c_str());
            if (!value) refuse(fmt::format("the variable {} is not set", shown(variable)));
            text += value;
            at = end;
        } else {
            refuse("a percent sign stands before q{VARIABLE}, p, h or %");
        }
    }
    return text;
}

void LookOptions::add_to(CLI::App& command) {
    const char* group = "Output";
    add_value(command, "--color", color, "auto, always or never (default auto; NO_COLOR counts)",
              "WHEN", group);
    command.add_flag("--plain", plain, "No colour, ASCII characters only")->group(group);
}

void OutputOptions::add_to(CLI::App& command) {
    const char* group = "Output";
    add_value(command, "--format", format, "Format of standard output: " + format_list(), "FORMAT",
              group);
    command.add_flag("--json", json, "Short for --format json")->group(group);
    command.add_flag("--jsonl", jsonl, "Short for --format jsonl")->group(group);
    command.add_flag("--csv", csv, "Short for --format csv")->group(group);
    add_repeated(command, "--output,-o", files,
                 "Write the result to FILE as well; its suffix picks the format; may be repeated",
                 "FILE", group);
    add_telling_to(command);
}

void OutputOptions::offer_only(CLI::App& command, std::string_view formats) {
    command.get_option("--format")
        ->description(fmt::format("Format of standard output: {}", formats));
    for (const char* name : {"jsonl", "csv"})
        if (formats.find(name) == formats.npos)
            command.remove_option(command.get_option(fmt::format("--{}", name)));
}

void OutputOptions::tell_of_standard_error(CLI::App& command) {
    command.get_option("--format")
        ->description(fmt::format(
            "Format of the table, which goes to standard error: {}. Programs read -o FILE.json",
            format_list()));
}

void OutputOptions::add_source_to(CLI::App& command) {
    add_repeated(
        command, "--source", source_folders,
        "The folder below which the program's source lies, for html (default: this one for "
        "`run`, that of FILE for `kernel`); may be repeated",
        "FOLDER", "Output");
}

void OutputOptions::add_telling_to(CLI::App& command) {
    const char* group = "Output";
    look.add_to(command);
    command
        .add_flag("--quiet,-q", quiet,
                  "No notes and hints, neither on standard error nor below tables")
        ->group(group);
    command.add_flag("--no-progress", no_progress, "No progress on standard error")->group(group);
    command
        .add_flag("--verbose,-v", verbose,
                  "Say on standard error what is done and how long it takes, below tables why "
                  "numbers are missing")
        ->group(group);
}

void LookOptions::check() const {
    constexpr std::array<std::string_view, 3> choices{"auto", "always", "never"};
    if (std::find(choices.begin(), choices.end(), color) == choices.end())
        throw UsageError(unknown_word("--color", color, choices));
}

TableStyle LookOptions::style() const {
    check();
    return {.width = terminal_width(STDOUT_FILENO),
            .color = !plain && wants_color(color),
            .ascii = plain};
}

bool OutputOptions::sends_files_to_standard_output() const {
    return std::ranges::any_of(files, [](const auto& file) { return is_standard_output(file); });
}

std::vector<OutputTarget> OutputOptions::targets() const {
    if (json + jsonl + csv > 1)
        throw UsageError("--json, --jsonl and --csv: standard output takes one of them",
                         "send the other to a file: --output FILE.jsonl");
    const std::string chosen = json ? "json" : jsonl ? "jsonl" : csv ? "csv" : format;
    if (!format.empty() && format != chosen)
        throw UsageError(fmt::format("--{} and --format {}: standard output takes one of them",
                                     chosen, shown(format)),
                         fmt::format("send the other to a file: --output FILE.{}", chosen));
    refuse_gate_format(chosen);
    for (const std::string& folder : source_folders)
        if (std::error_code error; !std::filesystem::is_directory(folder, error))
            throw UsageError(fmt::format("--source {}: there is no such folder", shown(folder)));
    const Format* named = chosen.empty() ? nullptr : &find_format(chosen);
    const TableStyle on_screen = look.style();
    std::vector<OutputTarget> targets;
    bool stdout_is_taken = false;
    for (const std::string& file : files) {
        const bool is_stdout = is_standard_output(file);
        stdout_is_taken = stdout_is_taken || is_stdout;
        targets.push_back({
            file,
            is_stdout && !named ? &default_format() : &format_of_path(file, named),
            is_stdout ? on_screen : TableStyle{.width = 0, .ascii = look.plain},
        });
    }
    if (!stdout_is_taken)
        targets.insert(targets.begin(), {"-", named ? named : &default_format(), on_screen});
    if (!source_folders.empty() && std::ranges::none_of(targets, [](const OutputTarget& target) {
            return target.format->name == "html";
        }))
        note("--source: only a page shows lines of the source: -o FILE.html");
    const std::vector<std::string>& folders =
        source_folders.empty() ? usual_sources : source_folders;
    for (OutputTarget& target : targets) {
        target.style.name = std::filesystem::path(target.path).stem().string();
        if (is_standard_output(target.path)) target.style.name.clear();
        target.style.takes_columns = view.is_offered;
        target.style.folds_rows = !view.all_rows;
        target.style.explains_all = verbose;
        target.style.is_quiet = quiet;
        target.style.find_source = [folders](const std::string& file) {
            return find_source(folders, file);
        };
    }
    return targets;
}

Outputs OutputOptions::open(const std::vector<OutputTarget>& targets) const {
    return Outputs(
        targets, [this](const std::vector<Warning>& warnings) { note_warnings(warnings); },
        [this](std::string_view remark) { note(remark); });
}

void OutputOptions::note(std::string_view line) const {
    if (!quiet) print_err(fmt::format("coalprof: {}\n", printable(line)));
}

void OutputOptions::note_warnings(const std::vector<Warning>& warnings,
                                  std::string_view said_code) const {
    constexpr std::size_t most = 10;
    std::size_t count = 0;
    for (const Warning& warning : warnings)
        if (warning.code != said_code && ++count <= most) note(describe(warning));
    if (count > most) note(fmt::format("{} more warnings", count - most));
}

namespace {

Counter counter_of(const std::string& option, const std::string& key) {
    if (const auto counter = find_counter(key)) return *counter;
    if (const auto counter = find_nsight_name(key)) return *counter;
    const bool is_parameter = is_taken_name(key) || std::ranges::count(pattern_catalog(), key,
                                                                       &PatternInfo::parameter) > 0;
    throw UsageError(
        unknown_counter(option, key),
        is_parameter
            ? fmt::format("{0} is a parameter, which tables show: --sort {0} orders by it", key)
            : hint_for_counter(key));
}

}  // namespace

void ViewOptions::add_to(CLI::App& command) {
    is_offered = true;
    const char* group = "Output";
    command
        .add_option_function<std::string>(
            "--best",
            [this](const std::string& key) {
                best = key.empty() ? key_of(Counter::duration_seconds) : key;
            },
            "Say which combination of options, or which value, is best by this counter "
            "(`coalprof counters` lists them; without KEY: by time)")
        ->type_name("[KEY]")
        ->expected(0, 1)
        ->group(group);
    add_value(command, "--sort", sort,
              "Order of the points: by a counter, best first, or by a parameter; KEY:asc or "
              "KEY:desc decides",
              "KEY", group);
    add_value(command, "--columns", columns,
              "The only counters that tables and CSV show, such as load_sectors_per_request "
              "(--counters: what is measured); one counter over two swept parameters is a "
              "table of one by the other",
              "KEY,...", group);
    command
        .add_flag("--all-rows", all_rows,
                  "Each point in a row by itself: tables of a terminal put equal ones into one")
        ->group(group);
}

std::vector<Counter> ViewOptions::chosen_columns() const {
    std::vector<Counter> counters;
    if (columns.empty()) return counters;
    for (const std::string& key : split_list(columns, "--columns"))
        counters.push_back(counter_of("--columns", key));
    return counters;
}

Viewed::Viewed(ResultSink& next, const ViewOptions& options) : sink_(&next) {
    if (!options.sort.empty()) {
        sorted_ = std::make_unique<SortedSink>(*sink_, options.sort);
        sink_ = sorted_.get();
    }
    if (!options.best.empty()) {
        best_ = std::make_unique<BestSink>(*sink_, counter_of("--best", options.best),
                                           options.costliest, options.compares_same_work_alone);
        sink_ = best_.get();
    }
}

}  // namespace coalprof
