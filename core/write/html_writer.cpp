// `html`: one self-contained page, without network or server: the curves of `svg`, the results as
// data, and a script that shows them. Text of results is data to the script and never markup.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/pattern/launch_options.h"
#include "core/text/describe.h"
#include "core/write/columns.h"
#include "core/write/formats.h"
#include "core/write/json_text.h"
#include "core/write/safe_text.h"
#include "core/write/source_lines.h"
#include "core/write/sweep_summary.h"
#include "core/write/table.h"
#include "core/write/table_maker.h"
#include "core/write/table_notes.h"
#include "core/write/text_buffer.h"

namespace coalprof {

MakeWriter make_svg;  // svg_writer.cpp

namespace {

// Patterns that `explain` draws with only the value of their parameter.
bool has_command(const SweepFacts& sweep) {
    return !sweep.pattern.empty() && sweep.pattern != "formula" && sweep.pattern != "warps" &&
           sweep.pattern != "verify" && sweep.pattern != "run" && sweep.variant.empty();
}

// NaN is a missing number.
bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

struct StringSink : ByteSink {
    void write(std::string_view bytes) override { text.append(bytes); }
    std::string text;
};

class HtmlWriter : public ResultSink {
 public:
    HtmlWriter(ByteSink& out, const TableStyle& style)
        : out_(out), style_(style), curves_(make_svg(svg_, style)) {}
    void begin(const ResultHead& head) override {
        curves_->begin(head);
        gathered_.begin(head);
        answers_.emplace_back().summary.begin(head);
    }
    void point(const Point& point) override {
        curves_->point(point);
        gathered_.point(point);
        answers_.back().summary.look_at(point);
        if (auto& first = answers_.back().first_points; first.size() <= settling_points)
            first.push_back(point);
    }

    void end_of_part(const ResultTail& tail) override { gathered_.end_of_part(tail); }
    void finish(const ResultTail& tail) override {
        curves_->finish(tail);
        gathered_.finish(tail);
        const std::string title = xml_text(shown(label_of(gathered_.results().front().head)));
        text_.put(fmt::format(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>coalprof: {}</title>\n<style>\n",
            title));
        // The page has the style of the curves, and names them itself.
        const std::string_view svg = svg_.text;
        const std::size_t style = svg.find("<style>\n") + 8;
        const std::size_t drawn = svg.find("</style>\n", style) + 9;
        const std::size_t opens = svg.find("<svg");
        text_.put(page_style(), svg.substr(style, drawn - style), "<script>\n", page_script());
        text_.put(
            "</script>\n</head>\n<body>\n<noscript><p>This page draws its data with a script, "
            "which is switched off here.</p></noscript>\n");
        for (std::size_t i = 0; i < answers_.size(); ++i) {
            put_answer(answers_[i], gathered_.results()[i].head);
            put_result(gathered_.results()[i]);
        }
        text_.put("<figure id=\"charts\">\n<figcaption id=\"t\">Curves</figcaption>\n",
                  svg.substr(opens, svg.find("<title") - opens), svg.substr(drawn),
                  "</figure>\n</body>\n</html>\n");
        text_.hand_over(out_);
    }

 private:
    // A sweep in one sentence and as the table that a terminal shows.
    struct Answer {
        SweepSummary summary;
        std::vector<Point> first_points;
    };
    void put_answer(const Answer& answer, const ResultHead& head) {
        constexpr std::size_t table_columns = 100;
        constexpr std::size_t most_rows = 40;  // the page has a table of all points, too
        const std::string sentence = answer.summary.sentence();
        text_.put("<section class=\"answer\">");
        if (!sentence.empty())
            text_.put(fmt::format("<p class=\"verdict\">{}</p>\n", xml_text(sentence)));
        const std::vector<Point>& points = answer.first_points;
        if (points.size() > 1 && points.size() <= settling_points && head.sweep.pattern != "run") {
            TableStyle style{.width = table_columns};
            const Table table = table_of_page(layout_of(head, points, style), points, "", style,
                                              head.columns.size() == 1);
            if (table.grid.rows().size() <= most_rows)
                text_.put("<div class=\"scroll\">" + html_of(table) + "</div>\n");
        }
        text_.put("</section>\n");
    }

    // Within a script element only "<" could end it.
    void put_data(std::string_view json) {
        for (std::size_t at = 0; at < json.size();) {
            const std::size_t end = std::min(json.find('<', at), json.size());
            text_.put(json.substr(at, end - at));
            if (end < json.size()) text_.put("\\u003c");
            at = end + 1;
        }
        text_.hand_over_when_full(out_);
    }
    void put_result(const ResultColumns& result) {
        std::string json = text_of(tree_of_head(result));
        json.pop_back();  // more members follow, written one by one: columns can be long
        text_.put("<script type=\"application/json\" class=\"result\">\n");
        put_data(json);
        if (const std::string sources = source_lines_json(result, style_.find_source);
            !sources.empty())
            put_data(",\n\"sources\":" + sources);
        text_.put(",\n\"columns\":[");
        for (std::size_t i = 0; i < result.columns.size(); ++i)
            put_data((i > 0 ? ",\n" : "\n") + text_of(tree_of_column(result, result.columns[i])));
        text_.put("]}\n</script>\n");
    }

    static Json tree_of_head(const ResultColumns& result) {
        const ResultHead& head = result.head;
        Json tree{{"label", label_of(head)},
                  {"parameter", parameter_of(head.sweep)},
                  {"command", shell_words(head.argv)},
                  {"facts", facts_of(result)},
                  {"warnings", Json::array()},
                  {"findings", Json::array()},
                  {"names", result.names},
                  {"parameters", Json::array()}};
        if (has_command(head.sweep)) tree["explain"] = explain_command(head);
        for (const Warning& warning : result.tail.warnings)
            tree["warnings"].push_back(describe(warning));
        for (const LineFinding& finding : result.tail.findings)
            tree["findings"].push_back(tree_of_finding(finding));
        for (const auto& parameter : result.parameters) {
            Json values = Json::array();
            for (const Value& value : parameter.values) values.push_back(tree_of(value));
            tree["parameters"].push_back({{"key", parameter.key}, {"values", std::move(values)}});
        }
        return tree;
    }

    // As the page shows it, beside what every result has.
    static Json tree_of_finding(const LineFinding& finding) {
        Json tree = tree_of(finding);
        tree["drawn_by"] = finding_command(finding);
        tree["also"] = others_of(finding);
        return tree;
    }

    static Json tree_of_column(const ResultColumns& result, const ResultColumn& column) {
        const CounterInfo& counter = info(column.counter);
        Json tree{{"key", counter.key},
                  {"name", phrase_of(column.counter)},
                  {"unit", name_of(counter.unit)},
                  {"meaning", counter.meaning},
                  {"measured", column.is_measured}};
        const ResultColumn* predicted = result.find(column.counter, false);
        if (column.is_measured && predicted &&
            std::ranges::equal(column.values, predicted->values, is_same))
            tree["same"] = true;
        else
            tree["values"] = tree_of_numbers(column.values);
        if (!column.low.empty()) tree["low"] = tree_of_numbers(column.low);
        if (!column.high.empty()) tree["high"] = tree_of_numbers(column.high);
        return tree;
    }
    // One number where all are the same; missing ones are null. Counts are exact; of other numbers
    // the page shows four digits at most.
    static Json tree_of_numbers(const std::vector<double>& values) {
        constexpr double exact = 9007199254740992;  // 2^53
        const auto number = [](double value) {
            const bool is_count = value >= 0 && value <= exact && std::floor(value) == value;
            if (is_count) return Json(static_cast<std::uint64_t>(value));
            const std::string text = fmt::format("{:.6g}", value);
            std::from_chars(text.data(), text.data() + text.size(), value);
            return Json(value);
        };
        const auto is_first = [&](double value) { return is_same(value, values.front()); };
        if (!values.empty() && std::ranges::all_of(values, is_first)) return number(values.front());
        Json list = Json::array();
        for (const double value : values) list.push_back(number(value));
        return list;
    }

    static std::vector<std::string> facts_of(const ResultColumns& result) {
        const ResultHead& head = result.head;
        std::vector<std::string> facts;
        const std::size_t points = result.names.size();
        facts.push_back(fmt::format("coalprof {}, {}; {} {}, {}", head.coalprof_version,
                                    head.time_utc, points, points == 1 ? "point" : "points",
                                    name_of(result.tail.status)));
        if (!head.machine.evidence.empty())
            facts.push_back(
                fmt::format("machine {}: {}", head.machine.name, head.machine.evidence));
        for (std::string& line : verdict_lines(result.tail.verdicts))
            facts.push_back(std::move(line));
        if (!result.failed.empty())
            facts.push_back(fmt::format("{} of them failed", result.failed.size()));
        return facts;
    }
    static std::string explain_command(const ResultHead& head) {
        std::vector<std::string> words{"coalprof", "explain", head.sweep.pattern};
        const auto add = [&](std::string_view option, const std::string& value) {
            if (!value.empty()) words.insert(words.end(), {std::string(option), value});
        };
        const bool is_option = head.sweep.op.find_first_of("+.") == std::string::npos;
        if (is_option) add("--op", head.sweep.op);
        add("--type", head.sweep.type);
        const NamedValues facts = values_of(head.sweep);
        for (const LaunchOption& option : launch_options())
            if (const Value* value = find_value(facts, option.key);
                value && option.group == OptionGroup::pattern &&
                !is_usual_value(option.key, *value))
                add(option.word, text_of(*value));
        if (head.machine.name.find(',') == std::string::npos) add("--machine", head.machine.name);
        return shell_words(words);
    }

    ByteSink& out_;
    TableStyle style_;
    StringSink svg_;
    std::unique_ptr<ResultSink> curves_;
    std::vector<Answer> answers_;  // one answer for each result
    TextBuffer text_;
    ResultGatherer gathered_;
};

}  // namespace

std::unique_ptr<ResultSink> make_html(ByteSink& out, const TableStyle& style) {
    return std::make_unique<HtmlWriter>(out, style);
}

}  // namespace coalprof
