#include "core/write/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/utf8.h"
#include "core/write/printable_result.h"
#include "core/write/writers.h"

namespace coalprof {
namespace {

constexpr std::array formats{
    Format{"table", {".txt"}, "aligned text for people", true, false, TextRule::lines, make_table},
    Format{"json",
           {".json"},
           "one document with every counter, unit and reason",
           true,
           false,
           TextRule::escaped,
           make_json},
    Format{"jsonl",
           {".jsonl", ".ndjson"},
           "one JSON object a line, as points finish",
           false,
           false,
           TextRule::escaped,
           make_jsonl},
    Format{"csv",
           {".csv"},
           "one row a point, for spreadsheets",
           false,
           false,
           TextRule::printable,
           make_csv},
    Format{"md",
           {".md", ".markdown"},
           "a Markdown table, for issues",
           true,
           false,
           TextRule::printable,
           make_markdown},
    Format{"latex",
           {".tex"},
           "a tabular environment, for papers",
           true,
           false,
           TextRule::printable,
           make_latex},
    Format{"openmetrics",
           {".prom", ".om"},
           "gauges for Prometheus and the node exporter",
           false,
           true,
           TextRule::printable,
           make_openmetrics},
    Format{"plot", {".plot"}, "curves, for a terminal", false, true, TextRule::lines, make_plot},
    Format{"svg",
           {".svg"},
           "curves, for papers and READMEs",
           false,
           true,
           TextRule::printable,
           make_svg},
    Format{"html",
           {".html", ".htm"},
           "a page with curves, to click on",
           true,
           true,
           TextRule::printable,
           make_html},
};

std::string list_of_formats() {
    std::string list;
    for (const Format& format : formats) {
        if (!list.empty()) list += &format == &formats.back() ? " and " : ", ";
        list += format.name;
    }
    return list;
}

std::string hint() { return fmt::format("the formats are {}", list_of_formats()); }

// From the last dot of the file's name on, in small letters; empty without one (".json" alone is a
// hidden file).
std::string suffix_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
    const std::size_t dot = name.rfind('.');
    std::string suffix(name.substr(dot == name.npos || dot == 0 ? name.size() : dot));
    std::transform(suffix.begin(), suffix.end(), suffix.begin(), ascii_lower);
    return suffix;
}

const Format* find_suffix(std::string_view suffix) {
    for (const Format& format : formats)
        for (const std::string_view known : format.suffixes)
            if (!known.empty() && known == suffix) return &format;
    return nullptr;
}

}  // namespace

std::unique_ptr<ResultSink> Format::make(ByteSink& out, const TableStyle& style) const {
    if (text == TextRule::escaped) return make_writer(out, style);
    if (text == TextRule::printable) return with_printable_text(make_writer(out, style));
    auto lines = std::make_unique<LogLines>(out);
    auto writer = make_writer(*lines, style);
    return with_printable_text(std::move(writer), std::move(lines));
}

std::span<const Format> all_formats() { return formats; }

const Format& find_format(std::string_view name) {
    for (const Format& format : formats)
        if (format.name == name) return format;
    std::array<std::string_view, formats.size()> names;
    std::transform(formats.begin(), formats.end(), names.begin(),
                   [](const Format& format) { return format.name; });
    throw UsageError(unknown_word("--format", name, names), {}, UsageError::no_caret, hint());
}

const Format& format_of_path(std::string_view path, const Format* chosen) {
    const std::string suffix = suffix_of(path);
    if (const Format* format = find_suffix(suffix)) return *format;
    if (chosen) return *chosen;
    if (suffix.empty()) return default_format();
    throw UsageError(
        fmt::format("--output {}: the suffix {} names no format", shown(path), shown(suffix)), {},
        UsageError::no_caret,
        fmt::format("{}; --format NAME decides where the suffix does not", hint()));
}

}  // namespace coalprof
