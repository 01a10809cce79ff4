#include "cli/parse.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/print.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/suggest.h"
#include "core/text/wrap.h"

namespace coalprof {
namespace {

CLI::App& chosen_command(CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
}

std::string name_of_command(const CLI::App& app, const CLI::App& command) {
    return &command == &app ? "coalprof" : "coalprof " + command.get_name();
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

// The values of a parameter go by another name in each kind of command.
std::optional<std::string_view> namesake(std::string_view typed,
                                         const std::vector<std::string_view>& names) {
    constexpr std::array<std::string_view, 3> alike{"--range", "--at", "--var"};
    if (std::find(alike.begin(), alike.end(), typed) == alike.end()) return std::nullopt;
    const auto here = std::find_first_of(alike.begin(), alike.end(), names.begin(), names.end());
    return here == alike.end() ? std::nullopt : std::optional(*here);
}

std::string nearest_sentence(std::string_view typed, const std::vector<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    auto found = namesake(typed, views);
    if (!found) found = nearest(typed, views);
    return found ? fmt::format(" Did you mean '{}'?", *found) : std::string();
}

// `coalprof --plain offset`: the option is known, but stands where no command can take it.
void refuse_option_before_command(CLI::App& app, const CLI::App& command) {
    const auto extras = app.remaining(false);
    if (&command == &app || extras.empty()) return;
    const std::string typed = extras.back();
    const std::string name = command.get_name();
    throw UsageError(
        fmt::format("'{}' stands before '{}', where no option can", shown(typed), name), {},
        UsageError::no_caret, fmt::format("options go behind: coalprof {} {}", name, shown(typed)));
}

[[noreturn]] void refuse_extra(CLI::App& app) {
    CLI::App& command = chosen_command(app);
    refuse_option_before_command(app, command);
    // CLI11 gives what it could not place back to front.
    auto extras = app.remaining(true);
    if (extras.empty()) throw UsageError("the command line could not be understood");
    const std::string typed = extras.front().substr(0, extras.front().find('='));
    if (typed.starts_with("-")) {
        std::string where = name_of_command(app, command);
        throw UsageError(fmt::format("unknown option '{}' of `{}`.{}", shown(typed), where,
                                     nearest_sentence(typed, option_names(command))),
                         {}, UsageError::no_caret,
                         fmt::format("`{} --help` lists the options", where));
    }
    if (&command == &app) {
        std::vector<std::string> names;
        for (const CLI::App* known : app.get_subcommands({})) names.push_back(known->get_name());
        throw UsageError(fmt::format("unknown command or pattern '{}'.{}", shown(typed),
                                     nearest_sentence(typed, names)),
                         {}, UsageError::no_caret,
                         "`coalprof --help` lists the commands, `coalprof patterns` the patterns");
    }
    throw UsageError(fmt::format("`{}` does not take the argument '{}'",
                                 name_of_command(app, command), shown(typed)),
                     {}, UsageError::no_caret,
                     fmt::format("`{} --help` shows what it takes", name_of_command(app, command)));
}

// An option given an empty text (--range "$UNSET") is a mistake, not a wish for the default.
void refuse_empty_values(CLI::App& app) {
    const CLI::App& command = chosen_command(app);
    for (const CLI::Option* option : command.get_options()) {
        if (!option->nonpositional() || option->get_expected_max() == 0) continue;
        for (const std::string& value : option->results())
            if (value.empty())
                throw UsageError(
                    fmt::format("{}: the value is empty", option->get_name()), {},
                    UsageError::no_caret,
                    fmt::format("`{} --help` shows what it takes", name_of_command(app, command)));
    }
}

// CLI11's own words say "1 required R missing".
std::string sentence_of(const CLI::ParseError& error) {
    std::string sentence = error.what();
    std::replace(sentence.begin(), sentence.end(), '\n', ' ');
    const std::size_t colon = sentence.find(": ");
    const std::string option = sentence.substr(0, colon);
    if (error.get_name() == "ArgumentMismatch" && colon != std::string::npos &&
        sentence.ends_with(" missing"))
        return option + ": its value is missing";
    if (sentence.find(" required but received ") != std::string::npos)
        return option + ": given more than once; give it one value";
    constexpr std::string_view not_converted = "Could not convert: ";
    if (sentence.starts_with(not_converted)) {
        const std::string rest = sentence.substr(not_converted.size());
        return rest.substr(0, rest.find(" = ")) + ": it is given without a value";
    }
    constexpr std::string_view is_required = " is required";
    if (error.get_name() == "RequiredError" && sentence.ends_with(is_required))
        return sentence.substr(0, sentence.size() - is_required.size()) + " is missing";
    return sentence;
}

constexpr std::size_t help_columns = 80;

// Where the second column of a line of help begins: behind the last run of blanks within its first
// 26 columns; 0 for running text.
std::size_t second_column(std::string_view line) {
    if (!line.starts_with("  ")) return 0;
    const std::size_t name = line.find_first_not_of(' ');
    const std::size_t blanks = line.find("  ", name);
    const std::size_t second =
        blanks == std::string_view::npos ? blanks : line.find_first_not_of(' ', blanks);
    return second == std::string_view::npos ? name : second;
}

// CLI11 does not break long lines.
std::string folded_help(std::string_view help) {
    std::string text;
    while (!help.empty()) {
        const std::size_t end = std::min(help.find('\n'), help.size());
        const std::string_view line = help.substr(0, end);
        help.remove_prefix(std::min(end + 1, help.size()));
        if (line.size() <= help_columns) {
            text.append(line) += '\n';
            continue;
        }
        const std::size_t indent = second_column(line);
        std::string folded = wrapped(line.substr(indent), help_columns, indent);
        folded.replace(0, indent, line.substr(0, indent));
        text += folded;
    }
    return text;
}

}  // namespace

std::string help_of(const CLI::App& app) { return folded_help(app.help()); }

bool parse_command_line(CLI::App& app, int argc, const char* const* argv) {
    try {
        app.parse(argc, argv);
        refuse_empty_values(app);
        return true;
    } catch (const CLI::CallForHelp&) {
        print_out(help_of(app));
    } catch (const CLI::CallForVersion&) {
        print_out(app.version() + "\n");
    } catch (const CLI::ExtrasError&) {
        refuse_extra(app);
    } catch (const CLI::ParseError& error) {
        throw UsageError(printable(sentence_of(error)), {}, UsageError::no_caret,
                         fmt::format("`{} --help` shows what it takes",
                                     name_of_command(app, chosen_command(app))));
    }
    return false;
}

}  // namespace coalprof
