// `coalprof completion SHELL` and `coalprof man`: text for shells and man, made from the tables
// that read the commands; `coalprof help`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "core/machine/machine.h"
#include "core/pattern/launch_options.h"
#include "core/result/counter.h"
#include "core/sweep/patterns.h"
#include "core/text/describe.h"
#include "core/text/name_list.h"

namespace coalprof {

namespace {

using Words = std::vector<std::string>;

// The words that an option takes; none where any text will do. Files are left to the shell.
Words values_of_option(const std::string& name) {
    for (const LaunchOption& option : launch_options())
        if (option.words && option.name() == "--" + name) {
            const auto words = option.words();
            return Words(words.begin(), words.end());
        }
    if (name == "backend") return {"auto", "model", "device"};
    if (name == "cache") return {"cold", "warm"};
    if (name == "color") return {"auto", "always", "never"};
    if (name == "shard") return {"auto"};
    Words words;
    if (name == "machine") {
        for (const Board& board : all_boards()) words.emplace_back(board.key);
        for (const Rules& rules : all_rules()) words.push_back(text_of(rules.cc));
    }
    if (name == "counters") {
        words = {"basic", "memory", "all", "none"};
        for (const CounterInfo& counter : all_counters()) words.emplace_back(counter.key);
    }
    return words;
}

struct OptionFacts {
    Words names;  // names with their dashes, long ones first
    std::string long_name;
    std::string help;
    std::string value;  // "FILE"; empty: a flag
};

std::vector<OptionFacts> options_of(const CLI::App& command) {
    std::vector<OptionFacts> list;
    for (const CLI::Option* option : command.get_options()) {
        if (!option->nonpositional()) continue;
        OptionFacts facts{
            .names = {}, .long_name = {}, .help = option->get_description(), .value = {}};
        for (const std::string& name : option->get_lnames()) facts.names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) facts.names.push_back("-" + name);
        if (!option->get_lnames().empty()) facts.long_name = option->get_lnames().front();
        if (option->get_expected_max() > 0) facts.value = option->get_type_name();
        list.push_back(std::move(facts));
    }
    return list;
}

// From the command itself: some commands have their own formats or sets of counters.
Words values_for(const CLI::App& command, const std::string& option) {
    const std::string& name = command.get_name();
    if (option == "format") {  // "...: table (the drawing), json"
        const std::string help = command.get_option("--format")->get_description();
        Words words = split_list(help.substr(help.rfind(": ") + 2), "--format");
        for (std::string& word : words) word = trimmed(word).substr(0, trimmed(word).find(' '));
        return words;
    }
    if (option == "counters" && name == "run") return {"basic", "memory"};
    if (option == "tile" && name == "shared-pad") return {"16", "32"};
    return values_of_option(option);
}

// Values of arguments: patterns after `explain`, else files.
Words arguments_of(const CLI::App& app, const CLI::App& command) {
    Words words;
    if (command.get_name() == "explain" || command.get_name() == "help") {
        for (const PatternInfo& pattern : pattern_catalog()) words.emplace_back(pattern.name);
        words.insert(words.end(), {"formula", "layout"});
    }
    if (command.get_name() == "help" || command.get_name() == "man")
        for (const CLI::App* sub : app.get_subcommands({})) words.push_back(sub->get_name());
    if (command.get_name() == "completion") words = {"bash", "zsh", "fish"};
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

std::string bash_completion(const CLI::App& app) {
    Words commands;
    std::string cases;
    for (const CLI::App* command : app.get_subcommands({})) {
        commands.push_back(command->get_name());
        Words names;
        std::string values;
        for (const OptionFacts& option : options_of(*command)) {
            names.insert(names.end(), option.names.begin(), option.names.end());
            const Words words = values_for(*command, option.long_name);
            if (!option.value.empty())
                values += fmt::format(
                    "        {}) {} ;;\n", joined(option.names, "|"),
                    words.empty() ? "files=1" : fmt::format("words='{}'", joined(words, " ")));
        }
        cases += fmt::format(
            "    {})\n      options='{}'\n      arguments='{}'\n      case $before in\n{}      "
            "esac "
            ";;\n",
            command->get_name(), joined(names, " "), joined(arguments_of(app, *command), " "),
            values);
    }
    return fmt::format(
        "# bash completion for coalprof: `coalprof completion bash` wrote it.\n"
        "_coalprof() {{\n"
        "  local now=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} head=\n"
        "  local options= arguments= words= files=\n"
        "  COMPREPLY=()\n"
        "  if [ \"$now\" = = ]; then now=; fi\n"
        "  if [ \"$before\" = = ]; then before=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
        "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W '{} --help --version' -- \"$now\")\n"
        "    return\n"
        "  fi\n"
        "  case ${{COMP_WORDS[1]}} in\n{}  esac\n"
        "  if [ -n \"$words\" ]; then\n"
        "    # Of a list a,b the last is completed.\n"
        "    case $now in *,*) head=${{now%,*}},; now=${{now##*,}} ;; esac\n"
        "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$words\" -- \"$now\")\n"
        "  elif [ -n \"$files\" ]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
        "  elif [[ $now = -* ]]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$now\")\n"
        "  elif [ -n \"$arguments\" ]; then\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$arguments\" -- \"$now\")\n"
        "  else\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$now\")\n"
        "  fi\n"
        "}}\n"
        "complete -o filenames -F _coalprof coalprof\n",
        joined(commands, " "), cases);
}

std::string zsh_completion(const CLI::App& app) {
    const auto plain = [](std::string_view text) {
        std::string escaped;
        for (const char c : within_single_quotes(text))
            escaped += c == '[' || c == ']' || c == ':' ? std::string("\\") + c : std::string(1, c);
        return escaped;
    };
    std::string commands;
    std::string cases;
    for (const CLI::App* command : app.get_subcommands({})) {
        commands +=
            fmt::format("    '{}:{}'\n", command->get_name(), plain(command->get_description()));
        cases += fmt::format("    {})\n      _arguments -s \\\n", command->get_name());
        for (const OptionFacts& option : options_of(*command)) {
            const Words words = values_for(*command, option.long_name);
            const std::string action =
                option.value.empty() ? ""
                : words.empty()
                    ? fmt::format(":{}:_files", option.value)
                    : fmt::format(":{}:_values -s , value {}", option.value, joined(words, " "));
            for (const std::string& name : option.names)
                cases += fmt::format("        '*{}{}[{}]{}' \\\n", name,
                                     option.value.empty()     ? ""
                                     : name.starts_with("--") ? "="
                                                              : "+",
                                     plain(option.help), action);
        }
        const Words arguments = arguments_of(app, *command);
        cases += arguments.empty()
                     ? std::string("        '*:file:_files' ;;\n")
                     : fmt::format("        '*:word:({})' ;;\n", joined(arguments, " "));
    }
    return fmt::format(
        "#compdef coalprof\n# `coalprof completion zsh` wrote it.\n_coalprof() {{\n"
        "  local -a commands\n  commands=(\n{}  )\n"
        "  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
        "  case $command in\n{}  esac\n}}\n"
        "if [ \"$funcstack[1]\" = _coalprof ]; then _coalprof \"$@\"; else compdef _coalprof "
        "coalprof; fi\n",
        commands, cases);
}

std::string fish_completion(const CLI::App& app) {
    const auto plain = [](std::string_view text) {
        std::string escaped;
        for (const char c : text)
            escaped += c == '\\' || c == '\'' ? std::string("\\") + c : std::string(1, c);
        return escaped;
    };
    std::string text = "# fish completion for coalprof: `coalprof completion fish` wrote it.\n";
    for (const CLI::App* command : app.get_subcommands({})) {
        const std::string& name = command->get_name();
        text += fmt::format("complete -c coalprof -n __fish_use_subcommand -f -a {} -d '{}'\n",
                            name, plain(command->get_description()));
        const std::string here =
            fmt::format("complete -c coalprof -n '__fish_seen_subcommand_from {}'", name);
        for (const OptionFacts& option : options_of(*command)) {
            text += here;
            for (const std::string& typed : option.names)
                text +=
                    typed.starts_with("--") ? " -l " + typed.substr(2) : " -s " + typed.substr(1);
            const Words words = values_for(*command, option.long_name);
            if (!option.value.empty())
                text += words.empty() ? std::string(" -r -F")
                                      : fmt::format(" -x -a '{}'", joined(words, " "));
            text += fmt::format(" -d '{}'\n", plain(option.help));
        }
        if (const Words arguments = arguments_of(app, *command); !arguments.empty())
            text += fmt::format("{} -f -a '{}'\n", here, joined(arguments, " "));
    }
    return text;
}

// Text as roff prints it: hyphens that can be copied, no line that begins a request.
std::string roff_text(std::string_view text) {
    std::string escaped;
    bool begins_line = true;
    for (const char c : text) {
        if (begins_line && (c == '.' || c == '\'')) escaped += "\\&";
        begins_line = c == '\n';
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    }
    return escaped;
}

struct ManualEntry {
    std::string_view term;
    std::string_view text;
};
struct ManualSection {
    std::string_view title;
    std::span<const ManualEntry> entries;
};

constexpr std::array variables{
    ManualEntry{"COALPROF_OPTION",
                "Sets the long option of that name, in capitals and with _ for its hyphens: "
                "COALPROF_MACHINE=v100. Files say less, the command line more."},
    ManualEntry{"COALPROF_CONFIG", "The settings file that is read in place of the user's."},
    ManualEntry{"XDG_CONFIG_HOME, HOME", "Where the user's settings file lies."},
    ManualEntry{"COALPROF_CUPTI", "The CUPTI library, or its folder, that counters are read by."},
    ManualEntry{"CUDA_HOME, CUDA_PATH",
                "A CUDA toolkit with CUPTI and NVRTC, as an absolute path."},
    ManualEntry{"CONDA_PREFIX, VIRTUAL_ENV", "An environment that is searched for CUPTI."},
    ManualEntry{"TMPDIR", "Where temporary files of run lie."},
    ManualEntry{"NO_COLOR, TERM", "No colour where the first is set or the second is dumb."},
    ManualEntry{"COLUMNS", "The width of tables, in characters."},
    ManualEntry{"GITHUB_STEP_SUMMARY", "A file to which --format github appends its summary."},
};

constexpr std::array files{
    ManualEntry{"~/.config/coalprof/config.toml", "The user's settings."},
    ManualEntry{".coalprof.toml", "Settings of the folder that the command is started in."},
    ManualEntry{"NAME.part.jsonl",
                "Beside the output file NAME: the points of an unfinished sweep, after which "
                "--resume goes on."},
};

// docs/exit-codes.md says more of each.
constexpr std::array exit_codes{
    ManualEntry{"0", "Done."},
    ManualEntry{"1",
                "A finding: a broken budget, something that is worse, a counter that differs."},
    ManualEntry{"2", "The command line, a formula, a file or a range is wrong."},
    ManualEntry{"3", "A GPU, its counters or memory were needed and cannot be had."},
    ManualEntry{"4", "Partial: some points failed or were not there, the rest was delivered."},
    ManualEntry{"5", "An output could not be written."},
    ManualEntry{"70", "A bug in coalprof."},
    ManualEntry{"128 + N",
                "Signal N ended the command. coalprof run exits with the code of its program."},
};

constexpr std::array sections{ManualSection{"ENVIRONMENT", variables},
                              ManualSection{"FILES", files},
                              ManualSection{"EXIT STATUS", exit_codes}};

std::string man_page(const CLI::App& app, const CLI::App& command) {
    const bool is_main = &app == &command;
    const std::string title = is_main ? "coalprof" : "coalprof-" + command.get_name();
    const std::string typed = is_main ? "coalprof" : "coalprof " + command.get_name();
    std::string upper;
    for (const char c : title) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    std::string text =
        fmt::format(".TH \"{}\" 1 \"\" \"coalprof {}\"\n.SH NAME\n{} \\- {}\n", upper,
                    COALPROF_VERSION, roff_text(title), roff_text(command.get_description()));
    std::string arguments;
    std::string described;
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional()) {
            const std::string name = option->get_name(true);
            arguments += option->get_required() ? " " + name : fmt::format(" [{}]", name);
            described += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff_text(name),
                                     roff_text(option->get_description()));
        }
    text += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [OPTIONS]{}\n", roff_text(typed),
                        is_main ? " COMMAND" : roff_text(arguments));
    if (!described.empty()) text += ".SH ARGUMENTS\n" + described;
    if (is_main) {
        text += ".SH COMMANDS\n";
        for (const CLI::App* sub : app.get_subcommands({}))
            text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff_text(sub->get_name()),
                                roff_text(sub->get_description()));
    }
    text += ".SH OPTIONS\n";
    for (const OptionFacts& option : options_of(command))
        text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff_text(joined(option.names, ", ")),
                            option.value.empty() ? "" : " \\fI" + roff_text(option.value) + "\\fR",
                            roff_text(option.help));
    for (const ManualSection& section : sections) {
        text += fmt::format(".SH {}\n", section.title);
        for (const ManualEntry& entry : section.entries)
            text +=
                fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff_text(entry.term), roff_text(entry.text));
    }
    // The footer of coalprof itself ends with the exit codes.
    const std::string footer = command.get_footer();
    if (const std::string notes = footer.substr(0, footer.find("\nExit codes:")); !notes.empty())
        text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff_text(notes));
    return text;
}

struct ShellText {
    std::string_view shell;
    std::string (*write)(const CLI::App& app);
};
constexpr std::array shell_texts{ShellText{"bash", bash_completion},
                                 ShellText{"zsh", zsh_completion},
                                 ShellText{"fish", fish_completion}};

ExitCode print_completion(const CLI::App& app, const std::string& shell) {
    std::vector<std::string_view> shells;
    for (const ShellText& known : shell_texts) {
        if (known.shell == shell) {
            print_out(known.write(app));
            return ExitCode::done;
        }
        shells.emplace_back(known.shell);
    }
    throw UsageError(unknown_word("shell", shell, shells));
}

ExitCode print_man(const CLI::App& app, const std::string& name) {
    print_out(man_page(app, command_or_app(app, name)));
    return ExitCode::done;
}

ExitCode print_help(const CLI::App& app, const std::string& name) {
    print_out(help_of(command_or_app(app, name), false));
    return ExitCode::done;
}

}  // namespace

void add_shell_commands(CLI::App& app, Invocation& invocation) {
    const auto add = [&](const char* name, const char* help, const char* argument,
                         const char* argument_help, bool is_required, auto print,
                         const char* examples) {
        auto word = std::make_shared<std::string>();
        CLI::App* sub = app.add_subcommand(name, help);
        sub->group("Lists");
        sub->add_option(argument, *word, argument_help)->required(is_required);
        sub->footer(examples);
        sub->callback([&invocation, &app, word, print] {
            invocation.run = [&app, word, print] { return print(app, *word); };
        });
    };
    add("completion", "Completion of commands, options and their values for a shell", "SHELL",
        "bash, zsh or fish", true, print_completion,
        "Examples:\n"
        "  coalprof completion bash > ~/.local/share/bash-completion/completions/coalprof\n"
        "  coalprof completion fish | source\n");
    add("man", "The manual page of coalprof, or of one command", "COMMAND",
        "A command or pattern (default: coalprof itself)", false, print_man,
        "Examples:\n"
        "  coalprof man | man -l -\n"
        "  coalprof man formula | man -l -\n");
    add("help", "The options of one command or pattern", "COMMAND",
        "A command or pattern (default: coalprof itself)", false, print_help,
        "Examples:\n"
        "  coalprof help formula\n"
        "  coalprof help offset\n");
}

}  // namespace coalprof
