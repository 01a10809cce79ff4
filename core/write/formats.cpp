#include "core/write/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/utf8.h"

namespace coalprof {
namespace {

// Takes whole lines: see without_commands().
class LogLines : public ByteSink {
 public:
    explicit LogLines(ByteSink& next) : next_(next) {}
    void write(std::string_view bytes) override { next_.write(without_commands(bytes)); }
    bool is_live() const override { return next_.is_live(); }

 private:
    ByteSink& next_;
};

// Usual, so checked first.
bool is_plain_ascii(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

void make_printable(std::string& text) {
    if (is_plain_ascii(text)) return;
    std::ranges::replace(text, '\n', ' ');  // pasted formulas have several lines
    text = printable(text);
}

template <typename Part>
Part printable_copy(const Part& part) {
    Part copy = part;
    each_text(copy, make_printable);
    return copy;
}

// A saved result may hold any bytes: each string is passed through printable() before a format that
// shows text unchanged, so that none is forgotten. Keeps `bytes`, the target of the format, as long
// as the format.
class PrintableResult : public ResultSink {
 public:
    PrintableResult(std::unique_ptr<ResultSink> format, std::unique_ptr<ByteSink> bytes)
        : bytes_(std::move(bytes)), format_(std::move(format)) {}

    void begin(const ResultHead& head) override { format_->begin(printable_copy(head)); }
    void point(const Point& point) override {
        is_plain_ = true;
        each_text(point, look_);  // copying every point would cost more than its format
        is_plain_ ? format_->point(point) : format_->point(printable_copy(point));
    }
    void end_of_part(const ResultTail& tail) override {
        format_->end_of_part(printable_copy(tail));
    }
    void finish(const ResultTail& tail) override { format_->finish(printable_copy(tail)); }

 private:
    std::unique_ptr<ByteSink> bytes_;
    std::unique_ptr<ResultSink> format_;
    bool is_plain_ = true;
    const LookAtText look_ = [this](const std::string& text) {
        is_plain_ = is_plain_ && is_plain_ascii(text);
    };
};

}  // namespace

// Each in a separate file, NAME_writer.cpp.
MakeWriter make_table, make_text, make_json, make_jsonl, make_csv, make_markdown, make_latex,
    make_openmetrics, make_svg, make_html;

namespace {

constexpr std::array formats = [] {
    using enum TextRule;
    constexpr Format::Traits plain{};
    constexpr Format::Traits warns{.tells_warnings = true};
    constexpr Format::Traits fixed{.fixes_columns = true};
    constexpr Format::Traits several{.takes_several = true};
    constexpr Format::Traits page{.tells_warnings = true, .takes_several = true};

    return std::array{
        Format{"table", {".txt"}, lines, warns, make_table, "people; the default"},
        Format{"text",
               {".log"},
               lines,
               warns,
               make_text,
               "editors and [problem matchers](ci.md#reports); a line a point, and one a finding"},
        Format{"json", {".json"}, escaped, warns, make_json, "programs; every counter and reason"},
        Format{"jsonl",
               {".jsonl", ".ndjson"},
               escaped,
               plain,
               make_jsonl,
               "programs; one point a line"},
        Format{"csv", {".csv"}, printable, fixed, make_csv, "data frames"},
        Format{"md", {".md", ".markdown"}, lines, warns, make_markdown, "issues"},
        Format{
            "latex",
            {".tex"},
            printable,
            warns,
            make_latex,
            "papers: a `tabular` environment with the columns of a terminal's table (`--columns` "
            "chooses, `-v` has all); the rest stands in comments"},
        Format{"openmetrics",
               {".prom", ".om"},
               printable,
               several,
               make_openmetrics,
               "[Prometheus](dashboards/README.md)"},
        Format{"svg", {".svg"}, printable, several, make_svg, "papers: curves"},
        Format{
            "html", {".html", ".htm"}, printable, page, make_html, "a browser, without a network"},
    };
}();

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
    std::unique_ptr<ByteSink> as_log;
    if (text == TextRule::lines) as_log = std::make_unique<LogLines>(out);
    auto writer = make_writer(as_log ? *as_log : out, style);
    return std::make_unique<PrintableResult>(std::move(writer), std::move(as_log));
}

std::span<const Format> all_formats() { return formats; }

constexpr const char* hint_for_pdf =
    "a browser prints FILE.html as PDF, and rsvg-convert -f pdf or inkscape turns FILE.svg into "
    "it: "
    "-o FILE.html or -o FILE.svg";

const Format& find_format(std::string_view name) {
    for (const Format& format : formats)
        if (format.name == name) return format;
    std::array<std::string_view, formats.size()> names;
    std::transform(formats.begin(), formats.end(), names.begin(),
                   [](const Format& format) { return format.name; });
    throw UsageError(unknown_word("--format", name, names), name == "pdf" ? hint_for_pdf : hint());
}

const Format& format_of_path(std::string_view path, const Format* chosen) {
    const std::string suffix = suffix_of(path);
    if (const Format* format = find_suffix(suffix)) return *format;
    if (chosen) return *chosen;
    if (suffix.empty()) return default_format();
    throw UsageError(
        fmt::format("--output {}: the suffix {} names no format", shown(path), shown(suffix)),
        suffix == ".pdf"
            ? hint_for_pdf
            : fmt::format("{}; --format NAME decides where the suffix does not", hint()));
}

}  // namespace coalprof
