#include "core/write/source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/text/describe.h"
#include "core/text/number.h"
#include "core/text/utf8.h"
#include "core/write/json_text.h"

namespace coalprof {
namespace {

constexpr std::uint64_t lines_around = 4;
constexpr std::size_t most_line_columns = 300;
constexpr std::size_t most_source_bytes = 1 << 20;  // limit of a page
constexpr std::size_t tab_columns = 4;

std::string shown_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string text;
    for (const char c : line.substr(0, 4 * most_line_columns))
        if (c == '\t')
            text.append(tab_columns - text.size() % tab_columns, ' ');
        else
            text += c;
    const std::string_view kept = beginning(text, most_line_columns);
    const bool is_cut = kept.size() < text.size() || line.size() > 4 * most_line_columns;
    return printable(kept) + (is_cut ? "..." : "");
}

struct CodePlace {
    std::string name;        // "app.cu"
    std::uint64_t line = 0;  // 0: no line information
};

CodePlace code_place_of(const Value* line) {
    const std::string text = line ? text_of(*line) : std::string();
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos) return {};
    const ReadNumber number = read_integer(std::string_view(text).substr(colon + 1));
    if (number.status != NumberStatus::ok || number.length != text.size() - colon - 1) return {};
    return {text.substr(0, colon), number.value};
}

struct ListedSource {
    std::string name;
    std::string file;                                           // name with the folder, if known
    std::vector<std::pair<std::uint64_t, std::size_t>> points;  // line, point
};

std::vector<ListedSource> source_files(const ResultColumns& result) {
    const auto* lines = result.find("line");
    const auto* files = result.find(source_file_parameter);
    if (!lines) return {};
    std::vector<ListedSource> sources;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (std::size_t i = 0; i < result.names.size(); ++i) {
        if (text_of(lines->values[i]) == "all") continue;  // a kernel, listed beside its lines
        const CodePlace place = code_place_of(&lines->values[i]);
        const std::string file = files ? text_of(files->values[i]) : std::string();
        const auto [at, is_new] = known.try_emplace({place.name, file}, sources.size());
        if (is_new) sources.push_back({place.name, file, {}});
        sources[at->second].points.emplace_back(place.line, i);
    }
    for (ListedSource& source : sources)  // of one line the costliest first, as in the result
        std::ranges::sort(source.points);
    return sources;
}

SourceText text_of_source(const ListedSource& source, const FindSource& find) {
    if (source.name.empty())
        return {
            {},
            "These have no source lines: if the code is yours, compile it with nvcc -lineinfo."};
    if (!find) return {{}, "This command reads no source files."};
    return find(source.file.empty() ? source.name : source.file);
}

Json tree_of(const std::vector<SourceBlock>& blocks) {
    Json tree = Json::array();
    for (const SourceBlock& block : blocks) tree.push_back({block.first, block.lines});
    return tree;
}

// Its lines as a tree, or the reason why there are none.
Json tree_of(const ListedSource& source, const FindSource& find, std::size_t& room_bytes) {
    SourceText found = text_of_source(source, find);
    Json tree{{"name", printable(source.name)}, {"file", printable(source.file)}};
    Json blocks;
    if (found.why_not.empty()) {
        std::set<std::uint64_t> numbers;
        for (const auto& [line, point] : source.points) numbers.insert(line);
        const auto lines = static_cast<std::uint64_t>(std::ranges::count(found.text, '\n')) +
                           (found.text.empty() || found.text.ends_with('\n') ? 0U : 1U);
        if (*numbers.rbegin() > lines)
            found.why_not = fmt::format(
                "The file has {} lines now; the program was built from a longer one.", lines);
        else
            blocks = tree_of(source_blocks(found.text, numbers));
        const std::size_t bytes = text_of(blocks).size();
        if (bytes > room_bytes)
            found.why_not = "There is no room left on this page.";
        else
            room_bytes -= bytes;
    }
    if (found.why_not.empty())
        tree["blocks"] = std::move(blocks);
    else
        tree["why_not"] = printable(found.why_not);
    tree["points"] = source.points;
    return tree;
}

}  // namespace

std::vector<SourceBlock> source_blocks(std::string_view text,
                                       const std::set<std::uint64_t>& numbers) {
    std::vector<SourceBlock> blocks;
    auto next = numbers.begin();  // the first that is not yet far back
    std::uint64_t number = 0;
    while (!text.empty() && next != numbers.end()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        while (next != numbers.end() && number > lines_around && *next < number - lines_around)
            ++next;
        if (next != numbers.end() && number + lines_around >= *next) {
            if (blocks.empty() || blocks.back().first + blocks.back().lines.size() != number)
                blocks.push_back({number, {}});
            blocks.back().lines.push_back(shown_line(text.substr(0, end)));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return blocks;
}

std::string source_lines_json(const ResultColumns& result, const FindSource& find) {
    if (result.head.sweep.pattern != "run" && result.head.sweep.pattern != "kernel") return {};
    const std::vector<ListedSource> sources = source_files(result);
    if (sources.empty()) return {};
    std::size_t room_bytes = most_source_bytes;
    Json list = Json::array();
    for (const ListedSource& source : sources) list.push_back(tree_of(source, find, room_bytes));
    return text_of(list);
}

}  // namespace coalprof
