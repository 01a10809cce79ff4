#include "core/judge/place.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>

#include "core/text/byte_source.h"
#include "core/text/error.h"
#include "core/write/json_tree.h"
#include "core/write/source_text.h"

namespace coalprof {

namespace fs = std::filesystem;

// Its line is named "faults.cu:51", its file beside it.
GatePlace place_of(const Point& point) {
    const std::string place = text_of(point.parameters, "line");
    GatePlace found{.file = text_of(point.parameters, source_file_parameter)};
    const std::size_t colon = place.rfind(':');
    if (found.file.empty() || colon == place.npos) return {};
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
    return found;
}

namespace {

fs::path repository_root(const fs::path& here) {
    if (const char* workspace = std::getenv("GITHUB_WORKSPACE"); workspace && *workspace != '\0')
        return fs::path(workspace).lexically_normal();
    std::error_code error;
    for (fs::path folder = here;; folder = folder.parent_path()) {
        if (fs::exists(folder / ".git", error)) return folder;  // a file in a work tree
        if (folder == folder.parent_path()) return here;
    }
}

}  // namespace

std::string path_in_repository(const std::string& file) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    if (error) return file;
    const fs::path whole = (here / file).lexically_normal();
    const fs::path path = whole.lexically_relative(repository_root(here));
    return path.empty() || *path.begin() == ".." ? fs::path(file).lexically_normal().string()
                                                 : path.string();
}

// Each name is on one line in files that people write; the first line that quotes it counts.
std::map<std::string, std::uint64_t> lines_of_formulas(const std::string& file) {
    constexpr std::size_t most_bytes = 1u << 20;
    std::map<std::string, std::uint64_t> lines;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return lines;
    std::optional<std::string> whole;
    try {
        whole = read_whole(*open_bytes(file), most_bytes);
    } catch (const Error&) {  // gone, or not to be read: formulas have no lines then
    }
    if (!whole) return lines;
    std::istringstream text(std::move(*whole));
    std::uint64_t number = 0;
    for (std::string line; std::getline(text, line);) {
        ++number;
        for (std::size_t at = 0; (at = line.find('"', at)) != line.npos;) {
            std::size_t end = at + 1;
            while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
            if (end >= line.size()) break;
            const Json word = Json::parse(line.substr(at, end + 1 - at), nullptr, false);
            if (word.is_string()) lines.emplace(word.get<std::string>(), number);
            at = end + 1;
        }
    }
    return lines;
}

}  // namespace coalprof
