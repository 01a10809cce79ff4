#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/pattern/launch_options.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

constexpr std::size_t help_columns = 80;

// Where the second column of a line of help begins, behind two blanks or more; 0 for running text.
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
            // CLI11 leaves a blank line for each group, also where all of its options are left out.
            if (!line.empty() || !text.ends_with("\n\n")) text.append(line) += '\n';
            continue;
        }
        const std::size_t indent = second_column(line);
        // An example that continues a command is indented further, or it reads as two.
        const bool is_example = indent > 0 && line.find_first_not_of(' ') == indent;
        std::string folded = folded_text(
            line.substr(indent),
            {.columns = help_columns, .indent = indent, .hanging = is_example ? 4U : 0U});
        folded.replace(0, indent, line.substr(0, indent));
        text += folded;
    }
    return text;
}

// Most people want these of the options that many commands share.
constexpr std::string_view wanted_options =
    "range type op size block grid per-thread dlcm machine best json output";
// A command with no more options shows them all.
constexpr std::size_t few_options = 20;

bool is_shared(const CLI::Option& option) {
    constexpr std::string_view groups = "Model and device, Long sweeps, Budgets, Output";
    return groups.find(option.get_group()) != groups.npos ||
           std::ranges::any_of(launch_options(), [&](const LaunchOption& launch) {
               return launch.group != OptionGroup::pattern &&
                      option.check_name(std::string(launch.name()));
           });
}

class HelpPage : public CLI::Formatter {
 public:
    HelpPage(const CLI::App& command, bool in_full)
        : in_full_(in_full),
          shows_options_(in_full || command.get_options().size() <= few_options) {
        column_width(26);
    }

    std::string make_group(std::string group, bool is_positional,
                           std::vector<const CLI::Option*> options) const override {
        if (!shows_options_ && !is_positional)
            hidden_ += std::erase_if(options, [](const CLI::Option* option) {
                return is_shared(*option) &&
                       !has_word(wanted_options, option->get_lnames().front());
            });
        return options.empty() ? std::string()
                               : Formatter::make_group(group, is_positional, options);
    }

    // Patterns are last, and are only named.
    std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
        std::vector<std::string> names;
        for (const CLI::App* command : app->get_subcommands({}))
            if (is_only_named(*command)) names.push_back(command->get_name());
        const std::string text = Formatter::make_subcommands(app, mode);
        if (names.empty()) return text;
        return text + folded_text(joined(names, " ") + "; coalprof patterns says what each shows",
                                  {.columns = help_columns, .indent = 2});
    }
    std::string make_subcommand(const CLI::App* command) const override {
        return is_only_named(*command) ? "" : Formatter::make_subcommand(command);
    }

    std::string make_footer(const CLI::App* app) const override {
        const std::string more =
            hidden_ == 0 ? "" : fmt::format("{} more options: --help --all\n\n", hidden_);
        return more + Formatter::make_footer(app);
    }

 private:
    bool is_only_named(const CLI::App& command) const {
        return !in_full_ && command.get_group() == "Patterns";
    }

    bool in_full_;
    bool shows_options_;
    mutable std::size_t hidden_ = 0;
};

}  // namespace

std::string help_of(const CLI::App& command, bool in_full) {
    const CLI::App* parent = command.get_parent();
    const std::string name = (parent ? parent->get_name() + ' ' : "") + command.get_name();
    return folded_help(
        HelpPage(command, in_full).make_help(&command, name, CLI::AppFormatMode::Normal));
}

}  // namespace coalprof
