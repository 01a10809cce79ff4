#include "cli/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/parse.h"
#include "core/pattern/catalog.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/shell_quote.h"
#include "core/write/formats.h"

namespace coalprof {
namespace {

bool has_option(const CLI::App& command, const std::string& name) {
    return command.get_option_no_throw(name) != nullptr;
}

// Where a saved result is looked at so.
struct OfSavedResult {
    std::string_view option;
    std::string_view command;
};
constexpr std::array of_saved_results{
    OfSavedResult{"--budget", "check"},   OfSavedResult{"--budget-file", "check"},
    OfSavedResult{"--columns", "report"}, OfSavedResult{"--sort", "report"},
    OfSavedResult{"--best", "report"},
};

bool makes_or_reads_results(const CLI::App& command) {
    constexpr std::array<std::string_view, 4> names{"run", "merge", "report", "check"};
    return std::ranges::find(names, command.get_name()) != names.end();
}

// "256 MiB" arrives as two words.
std::string hint_for_unit(const CLI::App& command, const std::string& typed) {
    constexpr std::array<std::string_view, 9> units{"B",  "KiB", "MiB", "GiB", "TiB",
                                                    "kB", "MB",  "GB",  "TB"};
    if (std::ranges::find(units, typed) == units.end()) return {};
    for (const CLI::Option* option : command.get_options())
        if (option->nonpositional() && !option->results().empty())
            if (const std::string& number = option->results().back();
                !number.empty() && number.find_first_not_of("0123456789.") == number.npos)
                return fmt::format("without a blank: {} {}{}", option->get_name(), number, typed);
    return {};
}

}  // namespace

std::string typed_again(const std::vector<std::string>& words) {
    return shown("coalprof " + shell_words(words));
}

std::string hint_for_option(const CLI::App& command, std::string_view option) {
    // What nvcc calls it: -Xptxas -dlcm=cg, and -dlcm=cg alone is -d of nothing.
    if (option == "-Xptxas" && has_option(command, "--dlcm"))
        return "here it is an option of its own: --dlcm cg, --dscm wt";
    if (const CLI::Option* format = command.get_option_no_throw("--format"))
        for (const Format& known : all_formats())
            if (option == fmt::format("--{}", known.name) &&
                format->get_description().find(known.name) != std::string::npos)
                return fmt::format("--format {}, or -o FILE.{}", known.name, known.name);
    if (!makes_or_reads_results(command)) return {};
    for (const OfSavedResult& known : of_saved_results)
        if (option == known.option)
            return fmt::format("of a saved result (-o FILE.json): coalprof {} FILE.json {} ...",
                               known.command, known.option);
    return {};
}

std::string hint_for_argument(const CLI::App& command, const std::string& typed) {
    const bool is_number = !typed.empty() && typed.front() >= '0' && typed.front() <= '9';
    if (is_number && has_option(command, "--range"))
        return fmt::format("values go by --range: {}",
                           typed_again({command.get_name(), "--range", typed}));
    if (known_pattern(command.get_name()) && known_pattern(typed))
        return "one pattern at a time; side by side go formulas: coalprof formula 'a[i*3]' "
               "'a[i]', or saved results: coalprof compare A.json B.json --across pattern";
    if (const std::string unit = hint_for_unit(command, typed); !unit.empty()) return unit;
    if (command.get_name() == "help")
        return fmt::format("one command at a time: coalprof help {}",
                           shell_word(command.get_option("COMMAND")->results().front()));
    if (command.get_name() == "machines")
        return fmt::format("it lists them all; a prediction is made for one: {}",
                           typed_again({"offset", "--machine", typed}));
    return {};
}

std::string hint_for_repeated(const CLI::App& command, const std::string& option) {
    const CLI::Option* taken = command.get_option_no_throw(option);
    if (!taken || taken->results().size() < 2) return {};
    const std::string what = taken->get_type_name();
    if (what != "R" && !what.ends_with(",...")) return {};
    return fmt::format("as a list: {} {}", option,
                       shown(shell_word(fmt::format("{}", fmt::join(taken->results(), ",")))));
}

void refuse_missing_dashes(std::vector<std::string> words, const std::string& program) {
    words.insert(std::ranges::find(words, program), "--");
    throw UsageError(
        fmt::format("run: there is no -- before {}", shown(program)), {}, UsageError::no_caret,
        fmt::format("the program and what it is given stand behind it: {}", typed_again(words)));
}

}  // namespace coalprof
