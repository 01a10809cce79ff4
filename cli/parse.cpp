#include "cli/parse.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <filesystem>
#include <optional>

#include "cli/build_text.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "core/machine/machine.h"
#include "core/runtime/parallel.h"
#include "core/sweep/patterns.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/number.h"
#include "core/write/formats.h"

namespace coalprof {

namespace {

bool has_option(const CLI::App& command, const std::string& name) {
    return command.get_option_no_throw(name) != nullptr;
}

// What somebody wants who gives an option of other commands. `commands`, `options`: words between
// blanks; PATTERN stands for all of them.
struct Way {
    std::string_view commands;
    std::string_view options;
    std::string_view way;  // {}: the option
};
constexpr std::array ways{
    Way{" kernel ", " --size -s ",
        "its launch has --grid and --block, its arrays --arg x=f32[1048576]"},
    Way{" kernel ", " --per-thread ",
        "how many elements a thread has is written in the kernel; --grid counts its blocks"},
    Way{" kernel ", " --op ", "operations are written in the kernel"},
    Way{" kernel ", " --dlcm --dscm --path ",
        "how memory is accessed is written in the kernel: __ldcg(), __stcs()"},
    Way{" kernel ", " --range -r --var --at ", "an argument and its values: --arg n=1024..4096*2"},
    Way{" kernel ", " --threads ", "threads of the launch: --grid 1048576/block --block 256"},
    Way{" kernel ", " --line --array --warp ",
        "a line is drawn by coalprof explain kernel FILE NAME --line N --array A"},
    Way{" kernel ", " --device --backend --counters --repeat --runs --warmup ",
        "a GPU is measured by coalprof run -- PROGRAM"},
    Way{" kernel ", " --arch --gpu-architecture --gencode --std --maxrregcount ",
        "the compiler gets it by --nvcc-args={}=...; the GPU to predict is --machine sm_80"},
    Way{" run ", " --grid --block --arg --shared --size -s --type -t --op --range -r ",
        "the program decides that; launches of your choice: coalprof kernel PROGRAM --grid ..."},
    Way{" run PATTERN formula layout verify ",
        " --metrics --section --set --events --print-gpu-trace --stats -m ",
        "counters have keys here: --counters basic or memory; `coalprof counters WORD` finds the "
        "key of a metric"},
    Way{" kernel warps ", " --metrics --section --set --events --stats ",
        "counters have keys here: --columns KEY; `coalprof counters WORD` finds that of a metric"},
    Way{" PATTERN formula layout ", " --runs --warmup --iterations ",
        "a measurement is repeated by --repeat N, after a launch that warms up"},
    Way{" run ", " --kernel-name --kernels --kernel-regex -k ", "write --kernel REGEX"},
    Way{" run ", " --machine ",
        "the GPU here is measured; others are predicted by coalprof kernel PROGRAM {} ..."},
    Way{" run ", " --launch-skip --launch-count -c ",
        "--first N counts the first N launches of each kernel"},
    Way{" warps ", " --grid --block --size -s --range -r --array --var ",
        "a line of the file is one warp, with its addresses"},
    Way{" report check compare merge ",
        " --machine -m --range -r --type -t --op --size -s --block --grid ",
        "a saved result has what was swept; predict again with {}"},
    Way{" run merge report check ", " --columns --sort --best ",
        "of a saved result (-o FILE.json): coalprof report FILE.json {} ..."},
    Way{" run merge report compare ", " --budget --budget-file --budget-from --allow ",
        "of a saved result (-o FILE.json): coalprof check FILE.json {} ..."},
    Way{" PATTERN formula warps ", " --arg --line --list --launch --shared -I -D --nvcc-args ",
        "that is of a kernel: coalprof kernel FILE.cu {} ...; a formula's parameter: --var k=3"},
    Way{" calibrate verify ", " --range -r --size -s --type -t --op --grid --block --arg ",
        "it decides its launches itself; one of yours: coalprof offset {} ..., or kernel"},
    Way{" calibrate verify doctor ", " --machine -m ",
        "it is about the GPU of this host; others are predicted: coalprof offset {} ..."},
    Way{" occupancy ", " --grid ", "blocks that run at once do not depend on how many there are"},
    Way{" occupancy ", " --regs --maxrregcount ", "write --registers"},
    Way{" explain ", " --lane --lanes ", "all lanes of a warp are drawn; --warp N chooses it"},
    Way{" compare ", " --counters --columns --metric --sort ",
        "all counters are compared; limits of some: coalprof check RESULT --budget B"},
    Way{" PATTERN ", " --array ",
        "arrays with names are a formula's: coalprof formula 'x[i]' --array x=f32[1048576]"},
};

// "256 MiB" arrives as two words.
std::string hint_for_unit(const CLI::App& command, const std::string& typed) {
    if (std::ranges::find(size_units, typed, &UnitStep::unit) == size_units.end()) return {};
    for (const CLI::Option* option : command.get_options())
        if (option->nonpositional() && !option->results().empty())
            if (const std::string& number = option->results().back();
                !number.empty() && number.find_first_not_of("0123456789.") == number.npos)
                return fmt::format("without a blank: {} {}{}", option->get_name(), number, typed);
    return {};
}

// A command line quoted for a shell, so that a hint can be typed. `words` begin with the command.
std::string typed_again(const std::vector<std::string>& words) {
    return shown("coalprof " + shell_words(words));
}

// Another way to get the effect of an option that `command` lacks; empty where none is known.
std::string hint_for_option(const CLI::App& command, std::string_view option) {
    // nvcc's spelling: -Xptxas -dlcm=cg. CLI11 would read -dlcm=cg alone as -d.
    if (option == "-Xptxas" && has_option(command, "--dlcm"))
        return "here it is an option of its own: --dlcm cg, --dscm wt";
    if (const CLI::Option* format = command.get_option_no_throw("--format"))
        for (const Format& known : all_formats())
            if (option == fmt::format("--{}", known.name) &&
                format->get_description().find(known.name) != std::string::npos)
                return fmt::format("--format {}, or -o FILE.{}", known.name, known.name);
    for (const char* word : {"--grid", "--block"})
        if (option == std::string("-") + word[2] && has_option(command, word))
            return fmt::format("write {}", word);
    const PatternInfo* own = known_pattern(command.get_name());
    const std::string_view word =
        option.substr(std::min(option.find_first_not_of('-'), option.size()));
    if (own && (word == own->parameter || known_pattern(word)))
        return fmt::format("values of {}: coalprof {} --range ...", word,
                           word == own->parameter ? own->name : word);
    const std::string name = own ? "PATTERN" : command.get_name();
    for (const Way& known : ways)
        if (has_word(known.commands, name) && has_word(known.options, option))
            return fmt::format(fmt::runtime(known.way), option);
    return {};
}

// Where an argument that `command` does not take belongs; empty: unknown.
std::string hint_for_argument(const CLI::App& command, const std::string& typed) {
    const bool is_number = !typed.empty() && typed.front() >= '0' && typed.front() <= '9';
    if (is_number && has_option(command, "--range")) {
        // --range 1 2 3
        std::vector<std::string> values = command.get_option("--range")->results();
        for (const std::string& value : command.remaining()) values.push_back(value);
        return fmt::format("values go by --range: {}",
                           typed_again({command.get_name(), "--range", joined(values, ",")}));
    }
    if (command.get_name() == "explain" && command.count("NAME") > 0)
        return "one is drawn, or two side by side; any number of formulas: coalprof formula";
    if (typed == "step" && has_option(command, "--range"))
        return "a step follows a colon: --range 1..32:2";
    if (is_number && command.get_name() == "occupancy")
        return fmt::format("threads of a block: --block {}", typed);
    if (command.get_name() == "verify" && known_pattern(typed))
        return fmt::format("--patterns {}", typed);
    if (command.get_name() == "warps")
        return fmt::format("one file at a time: cat {} {} | coalprof warps -",
                           shown(shell_word(command.get_option("FILE")->results().front())),
                           shown(shell_word(typed)));
    if (known_pattern(command.get_name()) && known_pattern(typed))
        return "one pattern at a time; side by side go formulas: coalprof formula 'a[i*3]' "
               "'a[i]', or saved results: coalprof compare A.json B.json --across pattern";
    if (const std::string unit = hint_for_unit(command, typed); !unit.empty()) return unit;
    if (command.get_name() == "check") {
        const std::string words = typed + command.get_option("RESULT")->results().front();
        return words.find_first_of("<>=%") != words.npos
                   ? "a budget is one word in quotes: --budget 'excess <= 5%'"
                   : "one result at a time, with all of its budgets";
    }
    if (command.get_name() == "compare")
        return "two results at a time, OLD and NEW; tables of several: coalprof report A B C";
    if (command.get_name() == "patterns" && known_pattern(typed))
        return fmt::format("its options: coalprof help {}", typed);
    if (command.get_name() == "help")
        return fmt::format("one command at a time: coalprof help {}",
                           shown(shell_word(command.get_option("COMMAND")->results().front())));
    if (command.get_name() == "machines" && !find_machine(typed).name.empty())  // or it is refused
        return fmt::format(
            "it lists them all: coalprof machines | grep {}; a prediction is made "
            "for one: {}",
            shown(shell_word(typed)), typed_again({"offset", "--machine", typed}));
    if (command.get_name() == "devices")
        return fmt::format("it lists them all; a measurement is made on one: {}",
                           typed_again({"offset", "--device", typed}));
    if (command.get_options([](const CLI::Option* one) { return one->get_positional(); }).empty())
        return has_option(command, "-o") && typed.find('.') != typed.npos &&
                       !std::filesystem::exists(typed)
                   ? fmt::format("a file to write: -o {}", shown(shell_word(typed)))
                   : fmt::format("it takes no argument: coalprof {}", command.get_name());
    return {};
}

CLI::App& chosen_command(CLI::App& app) {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
}

std::string name_of_command(const CLI::App& app, const CLI::App& command) {
    return &command == &app ? "coalprof" : "coalprof " + command.get_name();
}

// The first example of --help, which every command with an argument has.
std::string example_of(const CLI::App& app, const CLI::App& command) {
    const std::string text = command.get_footer();
    const std::size_t at = text.find("\n  coalprof ");
    if (at == text.npos)
        return fmt::format("`{} --help` shows what it takes", name_of_command(app, command));
    const std::string line = text.substr(at + 3, text.find('\n', at + 3) - at - 3);
    return "for example: " + line.substr(0, line.find("  "));
}

// "--output,-o FILE: Write the result to FILE"
std::string hint_for_value(const CLI::Option& option) {
    return fmt::format("{} {}: {}", option.get_name(false, true), option.get_type_name(),
                       option.get_description());
}

// The values of a parameter have another option in each kind of command.
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

// For a word that names no command of `app`.
[[noreturn]] void refuse_command(const CLI::App& app, const std::string& typed) {
    std::vector<std::string> names;
    for (const CLI::App* known : app.get_subcommands({})) names.push_back(known->get_name());
    names.emplace_back("--version");
    refuse_file(typed, "a command", {});
    const std::string meant = nearest_sentence(typed, names);
    throw UsageError(
        fmt::format("unknown command or pattern '{}'.{}", shown(typed), meant),
        std::string("`coalprof --help` lists the commands, `coalprof patterns` the patterns") +
            (meant.empty() ? "; an access of your own is a formula: coalprof formula 'i*3'" : ""));
}

// `coalprof --machine h200 offset`: the option is known, but is typed where no command can take it.
void refuse_words_before(const CLI::App& app, const CLI::App& command,
                         std::vector<std::string> words) {
    const auto at = std::find(words.begin(), words.end(), command.get_name());
    if (at == words.begin() || at == words.end()) return;
    const std::string first = words.front();
    if (!first.starts_with('-')) refuse_command(app, first);
    std::rotate(words.begin(), at, at + 1);
    throw UsageError(fmt::format("'{}' stands before '{}', where no option can", shown(first),
                                 command.get_name()),
                     fmt::format("options go behind: {}", typed_again(words)));
}

// The argument that `command` lacks, by its name in --help; empty where it has all.
std::string missing_argument(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional() && option->count() == 0) return option->get_name(true);
    return {};
}

// "`row`, `column`": the commands that have the option where `command` has not.
std::string commands_with(const CLI::App& app, const std::string& option) {
    constexpr std::size_t most = 4;  // an option of more commands gets no list
    std::vector<std::string> names;
    for (const CLI::App* other : app.get_subcommands({}))
        if (has_option(*other, option)) names.push_back(other->get_name());
    // A pattern that `explain` takes is that pattern's.
    if (names.size() > 1) std::erase(names, "explain");
    if (names.size() > most) return {};
    return joined(names, [](const std::string& name) { return '`' + name + '`'; });
}

[[noreturn]] void refuse_option(const CLI::App& app, const CLI::App& command,
                                const std::string& typed, std::vector<std::string> words) {
    const std::string where = name_of_command(app, command);
    const std::string option = typed.substr(0, typed.find('='));
    const std::string elsewhere = commands_with(app, option);
    std::string known = hint_for_option(command, option);
    // -arch=sm_90, -O3
    if (known.empty() && !typed.starts_with("--") &&
        std::ranges::find(words, "kernel") != words.end())
        known = fmt::format(
            "if it is an option of nvcc: --nvcc-args={}, all of them with commas between",
            printable(typed));
    if (!elsewhere.empty() && !namesake(option, {"--range", "--at", "--var"}))
        throw UsageError(
            fmt::format("`{}` has no option {}, which belongs to {}", where, option, elsewhere),
            known.empty() ? fmt::format("`{} --help` lists its options", where) : known);
    std::vector<std::string> names;
    for (const CLI::Option* own : command.get_options())
        for (std::string& name : option_names(*own)) names.push_back(std::move(name));
    const std::string meant = known.empty() ? nearest_sentence(option, names) : std::string();
    const std::string argument = missing_argument(command);
    std::string hint = known.empty() ? fmt::format("`{} --help` lists the options", where) : known;
    if (command.get_name() == "kernel" && meant.empty() && known.empty() &&
        option.starts_with("--"))
        hint = fmt::format("if it is an argument of the kernel: --arg {}=VALUE",
                           printable(option.substr(2)));
    if (meant.empty() && known.empty() && !typed.starts_with("--") &&
        !argument.empty()) {  // -i+n-1 is a formula
        std::erase(words, typed);
        words.insert(words.end(), {"--", typed});
        hint = fmt::format("if this is its {}: {}", argument, typed_again(words));
    }
    throw UsageError(fmt::format("unknown option '{}' of `{}`.{}", shown(option), where, meant),
                     hint);
}

// An option given an empty text (--range "$UNSET") is a mistake, not a wish for the default.
void refuse_empty_values(CLI::App& app) {
    const CLI::App& command = chosen_command(app);
    for (const CLI::Option* option : command.get_options()) {
        if (!option->nonpositional() || option->get_expected_min() == 0) continue;
        for (const std::string& value : option->results())
            // -o --range 3: CLI11 takes it.
            if (value.empty() || (value.starts_with("--") && has_option(command, value)))
                throw UsageError(
                    fmt::format("{}: {}", option->get_name(),
                                value.empty()
                                    ? "the value is empty"
                                    : fmt::format("its value is missing before {}", value)),
                    hint_for_value(*option));
    }
}

[[noreturn]] void refuse_extra(CLI::App& app, const std::vector<std::string>& words) {
    CLI::App& command = chosen_command(app);
    if (&command != &app) refuse_words_before(app, command, words);
    refuse_empty_values(app);
    auto extras = app.remaining(true);
    std::erase(extras, "--");
    if (extras.empty()) throw UsageError("the command line could not be understood");
    const std::string typed = extras.front();
    const bool ends_options = std::find(words.begin(), words.end(), "--") != words.end();
    if (command.get_name() == "run" && command.count("PROGRAM") > 0) {
        const std::string program = command.get_option("PROGRAM")->results().front();
        // The words after a program are its own.
        if (std::ranges::find(words, program) < std::ranges::find(words, typed))
            refuse_missing_dashes(words, program);
    }
    if (typed.starts_with('-') && !ends_options) refuse_option(app, command, typed, words);
    if (&command == &app) refuse_command(app, typed);
    const std::string known = hint_for_argument(command, typed);
    throw UsageError(fmt::format("`{}` does not take the argument '{}'",
                                 name_of_command(app, command), shown(typed)),
                     known.empty() ? fmt::format("`{} --help` shows what it takes",
                                                 name_of_command(app, command))
                                   : known);
}

// "1,048,576" in f32[1,048,576]: digits in groups of three; empty: there is none.
std::string_view thousands_in(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        const bool begins = at == 0 || (!std::isalnum(static_cast<unsigned char>(text[at - 1])) &&
                                        text[at - 1] != '_');
        const std::size_t digits = read_integer(text.substr(at)).length;
        if (!begins || digits == 0 || digits > 3 || text[at] == '0') continue;
        std::size_t end = at + digits;
        while (end < text.size() && text[end] == ',' &&
               read_integer(text.substr(end + 1)).length == 3)
            end += 4;
        if (end > at + digits) return text.substr(at, end - at);
    }
    return {};
}

bool is_quiet(const CLI::App& command) {
    const CLI::Option* quiet = command.get_option_no_throw("--quiet");
    return quiet && quiet->count() > 0;
}

// n=4,096 is refused; n=16,384 is a list and is remarked upon where the number is a power of two.
void refuse_thousands(const CLI::App& command) {
    for (const CLI::Option* option : command.get_options()) {
        const std::string type = option->get_type_name();
        if (!option->nonpositional() || type.starts_with("F") ||
            has_word(" --code -D --nvcc-args --kernel --name --nvtx ", option->get_name()))
            continue;  // files, folders and texts
        for (const std::string& value : option->results()) {
            std::string meant(thousands_in(value));
            const bool is_sure = meant.find(",0") != meant.npos;
            std::erase(meant, ',');
            const std::string sentence = fmt::format(
                "{} {}: a comma separates the values of a list", option->get_name(), shown(value));
            if (is_sure) throw UsageError(sentence, fmt::format("the number is written {}", meant));
            if (!is_quiet(command) && std::has_single_bit(read_integer(meant).value))
                print_err(fmt::format("coalprof: {}; the number is written {}\n", sentence, meant));
        }
    }
}

// --block 32,8 may be meant as 32x8.
void note_meanings_of_block(const CLI::App& command) {
    const CLI::Option* option = command.get_option_no_throw("--block");
    if (!option || option->results().size() != 1 || is_quiet(command)) return;
    constexpr std::uint64_t most_threads = 1024;
    const std::vector<std::string> sizes = list_items(option->results().front());
    std::uint64_t threads = 1;
    for (const std::string& size : sizes) {
        const ReadNumber number = read_integer(size);
        if (size.empty() || number.length != size.size() || number.value > most_threads) return;
        threads *= number.value;
    }
    if (sizes.size() < 2 || sizes.size() > 3 || threads == 0 || threads > most_threads) return;
    print_err(fmt::format(
        "coalprof: --block {} is a list of {} blocks; one block of {} threads is --block {}\n",
        joined(sizes, ","), sizes.size(), threads, joined(sizes, "x")));
}

// CLI11 would say "1 required R missing".
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

// What other tools and word processors make of signs: -range, —range, “0..3”.
void refuse_signs(const CLI::App& app, std::vector<std::string> words) {
    const auto at = std::ranges::find_if(
        words, [&](const std::string& word) { return find_command(app, word) != nullptr; });
    if (at == words.end()) return;
    const CLI::App& command = *find_command(app, *at);
    std::rotate(words.begin(), at, at + 1);
    std::string odd;
    for (std::string& word : words) {
        if (word == "--" || word == "-Xptxas") break;
        const std::string typed = word;
        if (word.starts_with("—") || word.starts_with("–")) word.replace(0, 3, "--");
        if (word.starts_with("“") && word.ends_with("”")) word = word.substr(3, word.size() - 6);
        if (word.size() > 2 && word[0] == '-' && word[1] != '-' &&
            has_option(command, '-' + word.substr(0, word.find('='))))
            word.insert(0, 1, '-');
        if (odd.empty() && word != typed) odd = typed;
    }
    if (!odd.empty())
        throw UsageError(
            fmt::format("'{}': an option has two plain dashes, a value plain quotes", shown(odd)),
            typed_again(words));
}

bool says_more(const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), "-v") != words.end() ||
           std::find(words.begin(), words.end(), "--verbose") != words.end();
}

void say_settings(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings)
        print_err(
            fmt::format("coalprof: {} (from {})\n", shown(setting.words), shown(setting.from)));
}

enum class VersionWish : std::uint8_t { plain, in_full };

// --version before any command, perhaps with -v.
std::optional<VersionWish> wish_for_version(const std::vector<std::string>& words) {
    bool is_wished = false;
    bool in_full = false;
    for (const std::string& word : words) {
        if (!word.starts_with('-')) break;
        is_wished = is_wished || word == "--version" || word == "-V";
        in_full = in_full || word == "--verbose" || word == "-v" || word == "-Vv" || word == "-vV";
        is_wished = is_wished || word == "-Vv" || word == "-vV";
    }
    if (!is_wished) return std::nullopt;
    return in_full ? VersionWish::in_full : VersionWish::plain;
}

}  // namespace

std::vector<std::string> option_names(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_lnames()) names.push_back("--" + name);
    for (const auto& name : option.get_snames()) names.push_back("-" + name);
    return names;
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
    for (const CLI::App* command : app.get_subcommands({}))
        if (command->get_name() == name) return command;
    return nullptr;
}

const CLI::App& command_or_app(const CLI::App& app, const std::string& name) {
    if (name.empty()) return app;
    const CLI::App* command = find_command(app, name);
    if (!command) refuse_command(app, name);
    return *command;
}

bool parse_command_line(CLI::App& app, const std::vector<std::string>& argv) {
    std::vector<std::string> words(argv.begin() + std::min<std::ptrdiff_t>(1, std::ssize(argv)),
                                   argv.end());
    // `--` ends the options before the command; there are none.
    if (!words.empty() && words.front() == "--") words.erase(words.begin());
    if (const auto wish = wish_for_version(words)) {
        print_out(*wish == VersionWish::in_full ? build_text() : app.version() + "\n");
        return false;
    }
    const std::vector<std::string> typed = words;  // which hints repeat
    refuse_signs(app, words);
    const std::vector<Setting> settings = settings_for(app, words);
    if (!settings.empty()) {
        if (says_more(words)) say_settings(settings);
        // After the command's name: `--` may end the options that were typed.
        for (const Setting& setting : settings) words.insert(words.begin() + 1, setting.words);
    }
    try {
        app.parse(
            // CLI11 takes them in reverse order.
            std::vector<std::string>(words.rbegin(), words.rend()));
        refuse_empty_values(app);
        refuse_thousands(chosen_command(app));
        note_meanings_of_block(chosen_command(app));
        return true;
    } catch (const CLI::CallForHelp&) {
        print_out(help_of(chosen_command(app), std::ranges::count(words, "--all") > 0));
    } catch (const CLI::CallForVersion&) {
        print_out(app.version() + "\n");
    } catch (const CLI::ExtrasError&) {
        refuse_extra(app, typed);
    } catch (const CLI::ParseError& error) {
        // A missing argument may be there, but not have been taken.
        if (error.get_name() == "RequiredError" && app.remaining_size(true) > 0)
            refuse_extra(app, typed);
        const CLI::App& command = chosen_command(app);
        const std::string sentence = printable(sentence_of(error));
        const CLI::Option* option =
            command.get_option_no_throw(sentence.substr(0, sentence.find_first_of(": ")));
        if (!option) throw UsageError(sentence, example_of(app, command));
        if (option->nonpositional()) throw UsageError(sentence, hint_for_value(*option));
        const std::string& meaning = option->get_description();
        throw UsageError(fmt::format("{}: {}", sentence, meaning.substr(0, meaning.find(". "))),
                         example_of(app, command));
    }
    return false;
}

CLI::Option* add_value(CLI::App& command, const std::string& name, std::string& value,
                       const std::string& help, const std::string& type, const std::string& group) {
    // CLI11 joins what is given in parts by line ends; with another delimiter it takes lists to
    // pieces.
    const auto take = [&value](const std::string& text) {
        value = text;
        std::ranges::replace(value, '\n', ',');
    };
    const bool is_list = type == "R" || type == "L" || type.ends_with(",...");
    CLI::Option* option = is_list
                              ? command.add_option_function<std::string>(name, take, help)->join()
                              : command.add_option(name, value, help);
    option->type_name(type);
    return group.empty() ? option : option->group(group);
}

CLI::Option* add_repeated(CLI::App& command, const std::string& name,
                          std::vector<std::string>& values, const std::string& help,
                          const std::string& type, const std::string& group) {
    CLI::Option* option =
        command.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
    return group.empty() ? option : option->group(group);
}

CLI::Option* add_threads_to(CLI::App& command) {
    constexpr unsigned most_threads = 1024;
    return command
        .add_option_function<std::string>(
            "--threads",
            [](const std::string& text) {
                set_thread_count(
                    static_cast<unsigned>(parse_integer(text, "--threads", 1, most_threads)));
            },
            "Threads that predict (default: one for each processor); results are the same")
        ->type_name("N");
}

void refuse_missing_dashes(std::vector<std::string> words, const std::string& program) {
    if (program.ends_with(".cu"))
        throw UsageError(fmt::format("run: {} is source, and a program is run", shown(program)),
                         fmt::format("nvcc -lineinfo {0} -o app builds one, coalprof run -- ./app "
                                     "runs it; without a GPU: coalprof kernel {0}",
                                     shown(shell_word(program))));
    words.insert(std::ranges::find(words, program), "--");
    throw UsageError(
        fmt::format("run: there is no -- before {}", shown(program)),
        fmt::format("the program and its arguments follow it: {}", typed_again(words)));
}

}  // namespace coalprof
