#include "cli/source_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>

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

SourceText read_source(const fs::path& path) {
    try {
        auto text = read_whole(*open_bytes(path.string()), most_bytes);
        if (!text) return {{}, fmt::format("It is larger than {} MiB.", most_bytes >> 20)};
        return {std::move(*text), {}};
    } catch (const UsageError&) {
        throw;  // the caller's page would hide it
    } catch (const Error& error) {
        return {{}, error.what()};
    }
}

bool lies_below(const fs::path& folder, const fs::path& path) {
    return std::ranges::mismatch(folder, path).in1 == folder.end();
}

// The file by as many of its last names as there are in a folder: a/b/app.cu, b/app.cu, app.cu.
// With all links resolved it lies below the folder, and its names before and after are those of
// source; empty: not found.
fs::path find_below(const fs::path& folder, const fs::path& file) {
    std::error_code problem;
    const fs::path root = fs::canonical(folder, problem);
    if (problem || !is_source_name(file)) return {};
    for (fs::path rest = file.relative_path(); !rest.empty();) {
        const fs::path path = fs::canonical(root / rest, problem);
        if (!problem && lies_below(root, path) && is_source_name(path) &&
            fs::is_regular_file(path, problem))
            return path;
        fs::path shorter;
        for (auto part = std::next(rest.begin()); part != rest.end(); ++part) shorter /= *part;
        rest = std::move(shorter);
    }
    return {};
}

}  // namespace

SourceText find_source(const std::vector<std::string>& folders, const std::string& file) {
    if (file.size() >= PATH_MAX) return {{}, "Its name is too long."};
    if (folders.empty())
        return {{}, "Source is read only below --source FOLDER: give that of the program."};
    for (const std::string& folder : folders)
        if (const fs::path path = find_below(folder, file); !path.empty()) return read_source(path);
    return {{},
            "No file of this name and with a suffix of source code lies below the folder of "
            "--source; links that lead out of it are not followed."};
}

const std::vector<SourceParameter>& SourceNames::parameters(const std::string& file,
                                                            const std::string& symbol) {
    const auto [known, is_new] = known_.try_emplace({file, symbol});
    if (is_new && !file.empty())
        known->second = parameters_in_text(find_source(folders_, file).text, symbol);
    return known->second;
}

// The kernel's own text is at the outermost inlining, or where nothing was inlined.
void SourceNames::name_array(PtxSite& site) {
    for (const SourceLine& place : {site.source, site.inlined_at})
        site.array = array_in_source(site.array, parameters(place.file, site.function));
}

}  // namespace coalprof
