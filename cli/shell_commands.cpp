// `coalprof completion SHELL` and `coalprof man`: what completes a word, and text for man, made
// from the tables that read the commands; `coalprof help`.
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
        if (option.words && option.name() == name) {
            const auto words = option.words();
            return Words(words.begin(), words.end());
        }
    if (name == "--backend") return {"auto", "model", "device"};
    if (name == "--cache") return {"cold", "warm"};
    if (name == "--color") return {"auto", "always", "never"};
    if (name == "--shard") return {"auto"};
    Words words;
    if (name == "--machine") {
        for (const Board& board : all_boards()) words.emplace_back(board.key);
        for (const Rules& rules : all_rules()) words.push_back(text_of(rules.cc));
    }
    if (name == "--counters") {
        words = {"basic", "memory", "all", "none"};
        for (const CounterInfo& counter : all_counters()) words.emplace_back(counter.key);
    }
    return words;
}

// From the command itself: some commands have their own formats or sets of counters.
Words values_for(const CLI::App& command, const std::string& option) {
    const std::string& name = command.get_name();
    if (option == "--format") {  // "...: table (the drawing), json"
        const std::string help = command.get_option("--format")->get_description();
        Words words = split_list(help.substr(help.rfind(": ") + 2), "--format");
        for (std::string& word : words) word = trimmed(word).substr(0, trimmed(word).find(' '));
        return words;
    }
    if (option == "--counters" && name == "run") return {"basic", "memory"};
    if (option == "--tile" && name == "shared-pad") return {"16", "32"};
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

struct Candidate {
    std::string word;
    std::string help = {};
};

// What may stand in place of the last word; nothing: the name of a file.
std::vector<Candidate> candidates(const CLI::App& app, Words words) {
    std::vector<Candidate> found;
    const auto add = [&](const Words& all, const std::string& head) {
        for (const std::string& word : all) found.push_back({head + word});
    };
    if (words.size() < 2) {
        for (const CLI::App* command : app.get_subcommands({}))
            found.push_back({command->get_name(), command->get_description()});
        add({"--help", "--version"}, "");
        return found;
    }
    const CLI::App* command = find_command(app, words.front());
    if (!command) return found;
    // Of --type=f32x, which bash gives as three words, and of a list a,b the end is completed.
    if (words.back() == "=") words.back().clear();
    std::erase(words, "=");
    std::string head;
    if (const std::size_t end = words.back().find('=') + 1; end > 0 && words.back()[0] == '-') {
        head = words.back().substr(0, end);
        words.push_back(words.back().substr(end));
        words.end()[-2].resize(end - 1);
    }
    const std::string& now = words.back();
    const CLI::Option* option = command->get_option_no_throw(words.end()[-2]);
    if (option && option->nonpositional() && option->get_expected_max() > 0)
        add(values_for(*command, option->get_name()), head + now.substr(0, now.rfind(',') + 1));
    else if (now.starts_with('-'))
        for (const CLI::Option* known : command->get_options())
            for (const std::string& name : option_names(*known))
                found.push_back({name, known->get_description()});
    else
        add(arguments_of(app, *command), "");
    return found;
}

// Of several shells: each asks for the candidates when a word is completed.
struct Shell {
    std::string_view name;
    const char* before_help;  // of a candidate; empty: it shows none
    std::string_view script;
};
constexpr std::array shells{Shell{"bash", "", R"(_coalprof() {
  local now=${COMP_WORDS[COMP_CWORD]} words
  words=$("${COMP_WORDS[0]/#\~/$HOME}" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  if [ "$now" = = ]; then now=; fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$now")
  fi
}
complete -o filenames -F _coalprof coalprof
)"},
                            Shell{"zsh", ":", R"(#compdef coalprof
_coalprof() {
  local -a found
  found=("${(@f)$(${~words[1]} completion zsh -- "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  if [[ -n $found ]]; then _describe word found; else compset -P '--*='; _files; fi
}
if [ "$funcstack[1]" = _coalprof ]; then _coalprof "$@"; else compdef _coalprof coalprof; fi
)"},
                            Shell{"fish", "\t", R"(function __coalprof
  set -l words (commandline -opc)
  set -g __coalprof_found ($words[1] completion fish -- $words[2..] (commandline -ct) 2> /dev/null)
  test -n "$__coalprof_found"
end
complete -c coalprof -f -n __coalprof -a '$__coalprof_found'
)"}};

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
    for (const CLI::Option* option : command.get_options())
        if (option->nonpositional())
            text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n",
                                roff_text(joined(option_names(*option), ", ")),
                                option->get_expected_max() > 0 && !option->get_type_name().empty()
                                    ? fmt::format(" \\fI{}\\fR", roff_text(option->get_type_name()))
                                    : "",
                                roff_text(option->get_description()));
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

ExitCode print_completion(const CLI::App& app, const std::string& name, const Words& words) {
    std::vector<std::string_view> names;
    for (const Shell& shell : shells) {
        names.push_back(shell.name);
        if (shell.name != name) continue;
        if (words.empty()) {
            print_out(shell.script);
        } else {
            for (const Candidate& one : candidates(app, words)) {
                const bool has_help = *shell.before_help && !one.help.empty();
                print_out(one.word + (has_help ? shell.before_help + one.help : "") + '\n');
            }
        }
        return ExitCode::done;
    }
    throw UsageError(unknown_word("shell", name, names));
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
        return sub;
    };
    auto words = std::make_shared<Words>();
    add(
        "completion", "Completion of commands, options and their values for a shell", "SHELL",
        "bash, zsh or fish", true,
        [words](const CLI::App& of, const std::string& shell) {
            return print_completion(of, shell, *words);
        },
        "Examples:\n"
        "  coalprof completion bash > ~/.local/share/bash-completion/completions/coalprof\n"
        "  coalprof completion fish | source\n")
        ->add_option("WORDS", *words,
                     "Words of a command, after --: what may stand in place of the last is listed");
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
