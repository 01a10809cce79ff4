#include "cli/source_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <ctime>
#include <filesystem>
#include <optional>

#include "core/text/byte_source.h"
#include "core/text/error.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 4 << 20;  // of a file
constexpr std::array<std::string_view, 17> source_suffixes{
    ".cu",  ".cuh", ".c",   ".cc",  ".cpp", ".cxx", ".h",  ".hh", ".hpp",
    ".hxx", ".inl", ".inc", ".ipp", ".tpp", ".ptx", ".py", ".jl"};

bool is_source_name(const fs::path& path) {
    std::string suffix = path.extension().string();
    std::ranges::transform(suffix, suffix.begin(), ascii_lower);
    return std::ranges::find(source_suffixes, suffix) != source_suffixes.end();
}

struct FileFacts {
    bool is_regular = false;
    std::time_t changed = 0;
};

std::optional<FileFacts> facts_of(const fs::path& path) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
    return FileFacts{S_ISREG(facts.st_mode), facts.st_mtime};
}

// Of "2026-11-22T19:22:40Z".
std::optional<std::time_t> time_of(const std::string& utc) {
    std::tm parts{};
    const char* end = ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (!end || *end != '\0') return std::nullopt;
    return ::timegm(&parts);
}

SourceText read_source(const fs::path& path) {
    std::error_code problem;
    // The name behind a link counts as well.
    if (!is_source_name(path) || !is_source_name(fs::canonical(path, problem)) || problem)
        return {{}, "Its name is none of source code, so it is not read."};
    try {
        auto text = read_whole(*open_bytes(path.string()), most_bytes);
        if (!text) return {{}, fmt::format("It is larger than {} MiB.", most_bytes >> 20)};
        return {std::move(*text), {}};
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

// The file by as many of its last names as there are in a folder: a/b/app.cu, b/app.cu, app.cu.
std::optional<fs::path> find_below(const std::string& folder, const fs::path& file) {
    for (fs::path rest = file.relative_path(); !rest.empty();) {
        const fs::path path = fs::path(folder) / rest;
        const bool climbs = std::ranges::find(rest, fs::path("..")) != rest.end();
        if (const auto facts = facts_of(path); facts && facts->is_regular && !climbs) return path;
        fs::path shorter;
        for (auto part = std::next(rest.begin()); part != rest.end(); ++part) shorter /= *part;
        rest = std::move(shorter);
    }
    return std::nullopt;
}

}  // namespace

SourceText find_source(const std::vector<std::string>& folders, const ResultHead& head,
                       const std::string& file) {
    if (file.size() >= PATH_MAX) return {{}, "Its name is too long."};
    for (const std::string& folder : folders)
        if (const auto path = find_below(folder, file)) return read_source(*path);
    if (!folders.empty()) return {{}, "It is in no folder of --source."};
    const fs::path path(file);
    if (!path.is_absolute())
        return {{}, "The result does not say in which folder it lies: --source FOLDER does."};
    const auto facts = facts_of(path);
    if (!facts || !facts->is_regular)
        return {{}, "It is not there. --source FOLDER says where it lies now."};
    const auto ran = time_of(head.time_utc);
    if (!ran || facts->changed > *ran)
        return {{},
                "It was changed after the run, so its lines may be others now. --source FOLDER "
                "shows it all the same."};
    return read_source(path);
}

}  // namespace coalprof
