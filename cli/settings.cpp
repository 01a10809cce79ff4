#include "cli/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "cli/invocation.h"
#include "cli/parse.h"
#include "cli/print.h"
#include "core/machine/machine_file.h"
#include "core/text/byte_source.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/files_in_use.h"
#include "core/text/name_list.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

// Options of a single run: in a file they would surprise its owner later.
constexpr std::string_view never_set = " help version output resume shard ";

// What the file of a folder may choose: how results look and what is predicted. A folder may come
// from anybody, so an option that names a program, its arguments or a file has no place here.
constexpr std::string_view harmless =
    " across all all-lines alloc at best block budget cache carveout color columns csv dlcm dscm "
    "full grid json jsonl l2-fetch machine max-slowdown max-steps max-warps member no-progress op "
    "order path per-thread pitch plain quiet range registers seed shared size sort threads "
    "tile tolerance totals type var variant verbose warp ";

enum class Trust : std::uint8_t { everything, what_is_harmless };

// An option by its long name; nullptr where the command has none that may be set.
const CLI::Option* settable(const CLI::App& command, std::string_view name) {
    if (has_word(never_set, name)) return nullptr;
    for (const CLI::Option* option : command.get_options()) {
        const auto& names = option->get_lnames();
        if (std::find(names.begin(), names.end(), name) != names.end()) return option;
    }
    return nullptr;
}

// Alternatives: where one is typed, the other one of a settings file is ignored.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> alternatives{
    {{"size", "grid"}, {"grid", "size"}}};

// The words that would be typed; none for a flag that is off.
std::vector<std::string> as_typed(const CLI::Option& option, const std::string& name,
                                  const std::vector<std::string>& values, const std::string& from) {
    if (option.get_expected_max() == 0) {
        const std::string value = joined(values, ",");
        if (value == "true" || value == "1") return {"--" + name};
        if (value == "false" || value == "0") return {};
        throw UsageError(
            fmt::format("{}: {} is true or false, not '{}'", shown(from), name, shown(value)));
    }
    if (option.get_expected_max() <= 1) return {fmt::format("--{}={}", name, joined(values, ","))};
    std::vector<std::string> words;
    for (const std::string& value : values) words.push_back(fmt::format("--{}={}", name, value));
    return words;
}

struct Settings {
    const CLI::App& app;
    const CLI::App& command;
    const std::vector<std::string>& words;
    std::map<std::string, std::vector<Setting>> found;  // option -> its settings; later ones win

    void set(const std::string& name, const std::vector<std::string>& values,
             const std::string& from) {
        const CLI::Option* option = settable(command, name);
        if (!option || is_among(*option, words)) return;
        for (const auto& [one, other] : alternatives)
            if (const CLI::Option* instead = settable(command, other);
                name == one && instead && is_among(*instead, words))
                return;
        auto& here = found[name];
        here.clear();
        for (std::string& word : as_typed(*option, name, values, from))
            here.push_back({std::move(word), from});
    }
    [[noreturn]] static void refuse(const std::string& place, const std::string& name,
                                    const std::set<std::string>& known) {
        const std::vector<std::string_view> names(known.begin(), known.end());
        throw UsageError(fmt::format("{}: {}", place, unknown_word("setting", name, names)),
                         "a file sets long options by name, machine = \"v100\", for all commands "
                         "or below [COMMAND]; a list begins on the line of its name");
    }

    // A file that the user named: of any kind and any owner.
    void read_named(const std::string& path) {
        if (::access(path.c_str(), F_OK) == 0 || errno != ENOENT)
            return read(*open_bytes(path), path, Trust::everything);
        if (!is_quiet())
            print_err(fmt::format("coalprof: COALPROF_CONFIG: there is no {}\n", shown(path)));
    }
    // A file that was found; in a shared folder anybody can have put it there. One that is not
    // trusted changes nothing and does not end the command.
    void read_found(const std::string& path, std::string (*why_not)(const struct stat&),
                    Trust trust) {
        if (path.empty()) return;
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const int error = file < 0 ? errno : 0;
        if (error == ENOENT || error == ENOTDIR) return;
        struct stat facts {};
        std::string why = text_of_errno(error);
        if (file >= 0) why = ::fstat(file, &facts) == 0 ? why_not(facts) : "it is gone";
        if (why.empty()) why = why_not_link(path);
        if (why.empty()) return read(*bytes_of_descriptor(file, path), path, trust);
        if (file >= 0) ::close(file);
        if (!is_quiet()) print_err(fmt::format("coalprof: {} is not read: {}\n", shown(path), why));
    }
    // The owner of a link chooses the file that is read.
    static std::string why_not_link(const std::string& path) {
        struct stat link {};
        if (::lstat(path.c_str(), &link) != 0) return text_of_errno(errno);
        const bool is_of_others =
            S_ISLNK(link.st_mode) && link.st_uid != ::geteuid() && link.st_uid != 0;
        return is_of_others ? fmt::format("it is a link of another user (uid {})", link.st_uid)
                            : "";
    }
    bool is_quiet() const {
        return std::ranges::any_of(
            words, [](const std::string& word) { return word == "-q" || word == "--quiet"; });
    }
    void read(ByteSource& source, const std::string& path, Trust trust) {
        constexpr std::size_t most_bytes = 1u << 14;
        const auto text = read_whole(source, most_bytes);
        if (!text) throw UsageError(fmt::format("{}: it is too long for settings", shown(path)));
        const bool is_text =
            is_valid_utf8(*text) && std::ranges::none_of(*text, [](char c) {
                return (c >= 0 && c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == '\177';
            });
        if (!is_text)
            throw UsageError(fmt::format("{}: this is no text, so no settings", shown(path)));
        std::istringstream lines(*text);
        // A separator that no line has: CLI11 needs memory that grows with the square of a name's
        // depth.
        for (const CLI::ConfigItem& item :
             CLI::ConfigBase().parentSeparator('\n')->from_config(lines))
            if (item.name != "--") take(item, path, trust);  // the end of a section
    }
    void take(const CLI::ConfigItem& item, const std::string& path, Trust trust) {
        const std::string section = joined(item.parents, ".");
        try {
            command_or_app(app, section);
        } catch (const UsageError& error) {
            throw UsageError(fmt::format("{}: {}", shown(path), error.what()), error.hint());
        }
        if (item.name == "++") return;  // its begin
        const std::set<std::string> known = names_of(section);
        if (!known.contains(item.name)) refuse(shown(path), item.name, known);
        if (trust == Trust::what_is_harmless) require_harmless(item, path);
        if (section.empty() || section == command.get_name()) set(item.name, item.inputs, path);
    }
    static void require_harmless(const CLI::ConfigItem& item, const std::string& path) {
        const bool names_file =
            item.name == "machine" &&
            std::ranges::any_of(split_list(joined(item.inputs, ","), path), names_machine_file);
        if (!names_file && has_word(harmless, item.name)) return;
        throw UsageError(
            fmt::format("{}: {} is not taken from the file of a folder{}", shown(path),
                        shown(item.name), names_file ? ", where it names a file" : ""),
            "type it, or set it in your own file: such files choose how results look and what is "
            "predicted, never what is executed, read or written");
    }
    // The options that a file may set for a command; for all commands in the section without a
    // name.
    std::set<std::string> names_of(const std::string& section) const {
        std::set<std::string> known;
        for (const CLI::App* sub : app.get_subcommands({})) {
            if (!section.empty() && sub->get_name() != section) continue;
            for (const CLI::Option* option : sub->get_options())
                for (const std::string& name : option->get_lnames())
                    if (settable(*sub, name)) known.insert(name);
        }
        return known;
    }
    void read_variables() {
        for (const CLI::Option* option : command.get_options())
            for (const std::string& name : option->get_lnames()) {
                std::string variable = "COALPROF_";
                for (const char c : name)
                    variable += c == '-'               ? '_'
                                : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32)
                                                       : c;
                const char* value = std::getenv(variable.c_str());
                if (value && *value != '\0') set(name, {value}, variable);
            }
    }
};

std::string why_not_users(const struct stat& file) {
    return S_ISREG(file.st_mode) ? "" : "it is no regular file";
}

std::string why_not_projects(const struct stat& file) {
    constexpr std::string_view all_the_same =
        "COALPROF_CONFIG names a file to be read all the same";
    if (std::string why = why_not_users(file); !why.empty()) return why;
    if (file.st_uid != ::geteuid() && file.st_uid != 0)
        return fmt::format("it belongs to another user (uid {}). {}", file.st_uid, all_the_same);
    // A group with the user's own number has no other member; there umask lets the group write.
    const mode_t of_others = S_IWOTH | (file.st_gid == file.st_uid ? 0 : S_IWGRP);
    if ((file.st_mode & of_others) == 0) return {};
    return fmt::format("others may write it (mode {:03o}; chmod go-w mends that). {}",
                       file.st_mode & 0777, all_the_same);
}

std::string users_file() {
    const char* folder = std::getenv("XDG_CONFIG_HOME");
    if (folder && *folder == '/') return std::string(folder) + "/coalprof/config.toml";
    const char* home = std::getenv("HOME");
    return home && *home == '/' ? std::string(home) + "/.config/coalprof/config.toml" : "";
}

}  // namespace

bool is_among(const CLI::Option& option, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        for (const std::string& name : option.get_lnames())
            if (gives_option(word, "--" + name)) return true;
        for (const std::string& name : option.get_snames())
            if (word.starts_with("-" + name) && !word.starts_with("--")) return true;
        return false;
    });
}

std::vector<Setting> settings_for(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const CLI::App* chosen = find_command(app, words.front());
    if (!chosen) return {};
    Settings settings{app, *chosen, words, {}};
    const std::string of_folder = ".coalprof.toml";
    const char* named = std::getenv("COALPROF_CONFIG");
    std::error_code no_such_file;
    if (named)
        settings.read_named(named);
    else
        settings.read_found(users_file(), why_not_users, Trust::everything);
    if (!named || !std::filesystem::equivalent(named, of_folder, no_such_file))
        settings.read_found(of_folder, why_not_projects, Trust::what_is_harmless);
    settings.read_variables();
    std::vector<Setting> all;
    for (const auto& [name, list] : settings.found) all.insert(all.end(), list.begin(), list.end());
    return all;
}

}  // namespace coalprof
