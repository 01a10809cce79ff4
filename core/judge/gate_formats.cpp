#include "core/judge/gate_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/text/describe.h"
#include "core/text/fold.h"
#include "core/text/name_list.h"
#include "core/text/units.h"
#include "core/text/utf8.h"
#include "core/write/json_text.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

using Kind = GateFinding::Kind;

constexpr std::size_t most_shown = 20;
constexpr std::array kinds{Kind::broken, Kind::missing, Kind::changed, Kind::better};

// The reason why every point lacks the counter; empty: several reasons, or some point has it.
std::string lacked_everywhere(const GateReport& report, const GateCase& one) {
    if (report.points < 2 || one.count(Kind::missing) != report.points) return {};
    const std::vector<GateFinding> findings = one.findings();
    const std::string& text = findings.front().text;
    const auto is_alike = [&](const GateFinding& finding) {
        return !finding.counter.empty() && finding.text == text;
    };
    return std::all_of(findings.begin(), findings.end(), is_alike) ? text : std::string();
}

// Findings of one kind as listed: `all` includes those that were only counted.
struct Listed {
    std::vector<GateFinding> findings = {};
    std::uint64_t all = 0;
};

// One line for each reason in place of one for each point and counter.
std::vector<GateFinding> joined_everywhere(const GateReport& report) {
    struct Lacked {
        std::string reason;
        std::vector<std::string_view> keys;
    };
    std::vector<Lacked> all;
    for (const GateCase& one : report.cases) {
        const std::string text = lacked_everywhere(report, one);
        if (text.empty()) continue;
        const std::string_view key = one.findings().front().counter;
        const std::string reason = text.substr(std::min(key.size(), text.size()));
        auto known = std::ranges::find(all, reason, &Lacked::reason);
        if (known == all.end()) known = all.insert(known, {reason, {}});
        if (std::ranges::find(known->keys, key) == known->keys.end()) known->keys.push_back(key);
    }
    std::vector<GateFinding> joined;
    for (auto& [reason, keys] : all) {
        if (keys.size() > 1 && reason.starts_with(" is ")) reason.replace(0, 4, " are ");
        joined.push_back({.kind = Kind::missing,
                          .text = fmt::format("at all {} points: {}{}", grouped(report.points),
                                              fmt::join(keys, ", "), reason)});
    }
    return joined;
}

// Findings of one kind of all cases, the worst first; those without a point lead.
Listed findings_of(const GateReport& report, Kind kind) {
    Listed listed{.all = report.count(kind)};
    std::vector<GateFinding> found;
    if (kind == Kind::missing) listed.findings = joined_everywhere(report);
    listed.all += listed.findings.size();
    for (const GateCase& one : report.cases) {
        if (kind == Kind::missing && !lacked_everywhere(report, one).empty()) {
            listed.all -= one.count(kind);
            continue;
        }
        for (GateFinding& finding : one.findings())
            if (finding.kind == kind && (kind == Kind::missing || finding.line.empty()))
                found.push_back(std::move(finding));
            else if (finding.kind == kind)
                --listed.all;
    }
    for (const GateFinding& finding : report.lines_changed)
        if (finding.kind == kind) {
            found.push_back(finding);
            ++listed.all;
        }
    std::multimap<double, GateFinding, std::greater<>> by_weight;  // equal ones keep their order
    for (GateFinding& finding : found) by_weight.emplace(finding.weight, std::move(finding));
    for (auto& [weight, finding] : by_weight) listed.findings.push_back(std::move(finding));
    return listed;
}

// Of cases by name, one after the other; a comparison has findings by kind.
bool is_check(const GateReport& report) { return report.command != "compare"; }

// "offset=11: load_sectors 128 -> 160 (+25 %), predicted"
std::string sentence_of(const GateFinding& finding, bool says_side) {
    std::string text = finding.point.empty() ? "" : shown(finding.point) + ": ";
    text += printable(finding.text);
    if (says_side && finding.now && !finding.side.empty())
        text += fmt::format(", {}", finding.side);
    return text;
}

std::string count_text(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

// "broken", "missing", "kept"
std::string_view outcome_of(const GateCase& one) {
    if (one.count(Kind::broken) > 0) return "broken";
    return one.count(Kind::missing) > 0 ? "missing" : "kept";
}

std::string outcome_line(const GateCase& one) {
    const std::uint64_t broken = one.count(Kind::broken);
    const std::uint64_t all = broken + one.held() + one.count(Kind::missing);
    if (broken > 0)
        return fmt::format("broken at {} of {}", grouped(broken), count_text(all, one.noun()));
    if (one.count(Kind::missing) > 0)
        return one.held() == 0
                   ? "no point to check"
                   : fmt::format("no number at {} of {}", grouped(one.count(Kind::missing)),
                                 count_text(all, one.noun()));
    return fmt::format("kept at {}", count_text(all, one.noun()));
}

std::string headline(const GateReport& report) {
    if (!report.headline.empty()) return report.headline;
    const auto broken = report.count(Kind::broken);
    const auto missing = report.count(Kind::missing);
    if (is_check(report) && report.cases.size() == 1)
        return "1 budget: " + outcome_line(report.cases.front());
    if (is_check(report)) {
        std::uint64_t kept = 0;
        for (const GateCase& one : report.cases)
            kept += one.count(Kind::broken) + one.count(Kind::missing) == 0 ? 1 : 0;
        return fmt::format("{} of {} kept at {}", kept, count_text(report.cases.size(), "budget"),
                           report.lines > 0 ? count_text(report.lines, "line")
                                            : count_text(report.points, "point"));
    }
    std::string text =
        fmt::format("{} compared: {} worse, {} better", count_text(report.points, "point"),
                    count_text(broken, "value"), grouped(report.count(Kind::better)));
    if (report.count(Kind::changed) > 0)
        text += fmt::format(", {} changed", grouped(report.count(Kind::changed)));
    if (missing > 0) text += fmt::format(", {} missing", grouped(missing));
    return text;
}

void put_lines(std::string& text, const std::vector<GateFinding>& findings, std::uint64_t all,
               bool says_side) {
    // Missing numbers nearly always have the same reason.
    const bool are_missing = !findings.empty() && findings.front().kind == Kind::missing;
    const std::size_t shown_count = std::min(findings.size(), are_missing ? 3 : most_shown);
    // A bullet, so that no name begins a line: services read commands there.
    for (std::size_t i = 0; i < shown_count; ++i) {
        const std::string line = fmt::format("  - {}", sentence_of(findings[i], says_side));
        text +=
            findings[i].point.empty()
                ? folded_text(line.substr(2), {.columns = shown_columns, .indent = 2, .hanging = 2})
                : line + "\n";
    }
    if (all > shown_count) text += fmt::format("  - {} more\n", grouped(all - shown_count));
}

std::string heading_of(Kind kind) {
    std::string heading(name_of(kind));
    heading.front() = static_cast<char>(heading.front() - 'a' + 'A');
    return heading;
}

std::vector<std::string> remarks_of(const GateReport& report) {
    std::vector<std::string> remarks;
    for (const std::string& loss : report.losses)
        remarks.push_back("incomplete: " + printable(loss));
    for (const std::string& note : report.notes) remarks.push_back("note: " + printable(note));
    return remarks;
}

// As GitHub's runner reads the message of a workflow command.
std::string annotation_text(std::string_view text) {
    std::string escaped;
    for (const char c : printable(text)) escaped += c == '%' ? "%25" : std::string(1, c);
    // The runner's older commands may stand anywhere in a line.
    for (std::size_t at; (at = escaped.find("##[")) != escaped.npos;)
        escaped.replace(at, 3, "## [");
    return escaped;
}

// "file=app.cu,line=12,"
std::string place_properties(const GatePlace& place) {
    if (place.file.empty()) return {};
    std::string file;
    for (const char c : annotation_text(path_in_repository(place.file)))
        file += c == ':' ? "%3A" : c == ',' ? "%2C" : std::string(1, c);
    return fmt::format("file={},{}", file,
                       place.line > 0 ? fmt::format("line={},", place.line) : std::string());
}

// A remark of a service, such as one annotation.
struct Remark {
    std::string text;
    GatePlace place = {};
    std::string kernel = {};
    std::string fault = {};    // common to all of one remark; empty: it stands alone
    bool is_of_fault = false;  // its own finding, not one of a kernel or of another line
    bool is_of_whole_kernel = false;
    std::uint64_t others = 0;  // places with the same fault, without the sum over the kernel
};
struct Remarks {
    std::vector<Remark> broken = {};
    std::vector<Remark> missing = {};
    std::uint64_t all_broken = 0;   // including those only counted
    std::uint64_t all_missing = 0;  // likewise
};

Remark remark_of(const GateFinding& finding, std::string text) {
    if (!finding.cause.empty()) text += ". " + printable(finding.cause);
    std::string fault = finding.cause_point;
    if (fault.empty() && !finding.kernel.empty()) fault = finding.kernel + '\n' + finding.point;
    return {.text = std::move(text),
            .place = finding.place,
            .kernel = finding.kernel,
            .fault = std::move(fault),
            .is_of_fault = finding.point == finding.cause_point,
            .is_of_whole_kernel = finding.is_of_whole_kernel};
}

// One fault breaks several counters, also of other lines and of the whole kernel.
void add_broken(Remarks& remarks, Remark remark) {
    auto known = remark.fault.empty()
                     ? remarks.broken.end()
                     : std::ranges::find(remarks.broken, remark.fault, &Remark::fault);
    if (known == remarks.broken.end()) return remarks.broken.push_back(std::move(remark));
    --remarks.all_broken;
    if (remark.is_of_fault && !known->is_of_fault) std::swap(*known, remark);
    known->others += remark.others + (remark.is_of_whole_kernel ? 0 : 1);
}

// Drops kernels whose lines are listed, since these name the place.
void leave_lines(Remarks& remarks) {
    std::vector<std::string_view> kernels;
    for (const Remark& one : remarks.broken)
        if (!one.place.file.empty()) kernels.push_back(one.kernel);
    remarks.all_broken -= std::erase_if(remarks.broken, [&](const Remark& one) {
        return one.place.file.empty() && !one.kernel.empty() &&
               std::ranges::find(kernels, one.kernel) != kernels.end();
    });
    for (Remark& one : remarks.broken)
        if (one.others > 0)
            one.text += fmt::format(" ({} of this cause)", counted(one.others, "more finding"));
}

Remarks all_remarks(const GateReport& report) {
    Remarks remarks{.all_broken = report.count(Kind::broken),
                    .all_missing = report.count(Kind::missing) + report.losses.size()};
    for (const std::string& loss : report.losses) remarks.missing.push_back({loss});
    if (is_check(report)) {
        for (const GateCase& one : report.cases)
            for (const GateFinding& finding : one.findings()) {
                Remark remark =
                    remark_of(finding, shown(one.name()) + ": " + sentence_of(finding, false));
                if (finding.kind == Kind::broken)
                    add_broken(remarks, std::move(remark));
                else
                    remarks.missing.push_back(std::move(remark));
            }
    } else {
        for (const GateFinding& finding : findings_of(report, Kind::broken).findings)
            add_broken(remarks, remark_of(finding, sentence_of(finding, true)));
        const Listed listed = findings_of(report, Kind::missing);
        for (const GateFinding& finding : listed.findings)
            remarks.missing.push_back(remark_of(finding, sentence_of(finding, true)));
        remarks.all_missing = listed.all + report.losses.size();
    }
    leave_lines(remarks);
    return remarks;
}

Json number_or_null(const std::optional<double>& number) {
    if (!number || !std::isfinite(*number)) return nullptr;
    constexpr double exact = 9007199254740992;  // 2^53
    if (*number >= 0 && *number <= exact && std::floor(*number) == *number)
        return static_cast<std::uint64_t>(*number);
    return *number;
}

Json tree_of_finding(const GateFinding& finding, bool is_of_check) {
    return {
        {"kind", is_of_check && finding.kind == Kind::broken ? "broken" : name_of(finding.kind)},
        {"point", finding.point.empty() ? Json(nullptr) : Json(finding.point)},
        {"side", finding.side.empty() ? Json(nullptr) : Json(finding.side)},
        {"counter", finding.counter.empty() ? Json(nullptr) : Json(finding.counter)},
        {is_of_check ? "limit" : "before", number_or_null(finding.before)},
        {"now", number_or_null(finding.now)},
        {"text", finding.text}};
}

std::string_view outcome_of(const GateReport& report) {
    switch (report.code()) {
        case ExitCode::finding: return "broken";
        case ExitCode::partial: return "missing";
        default: return "kept";
    }
}

}  // namespace

std::string gate_text(const GateReport& report) {
    std::string text = headline(report) + "\n";
    if (is_check(report)) {
        for (const GateCase& one : report.cases) {
            text +=
                fmt::format("{:<8}{}: {}\n", outcome_of(one), shown(one.name()), outcome_line(one));
            put_lines(text, one.findings(), one.count(Kind::broken) + one.count(Kind::missing),
                      false);
        }
    } else {
        if (!report.times.empty()) text += "\nTime\n";
        put_lines(text, report.times, report.times.size(), true);
        for (const Kind kind : kinds) {
            const Listed listed = findings_of(report, kind);
            if (listed.all == 0) continue;
            text += fmt::format("\n{}\n", heading_of(kind));
            put_lines(text, listed.findings, listed.all, true);
        }
    }
    const std::vector<std::string> remarks = remarks_of(report);
    if (!remarks.empty()) text += '\n';
    for (const std::string& remark : remarks)
        text += folded_text(remark, {.columns = shown_columns, .hanging = 2});
    return without_commands(text);
}

std::string gate_json(const GateReport& report) {
    Json body = Json::object();
    body["files"] = report.files;
    body["outcome"] = outcome_of(report);
    body["points"] = report.points;
    Json& cases = body[is_check(report) ? "budgets" : "counters"] = Json::array();
    for (const GateCase& one : report.cases) {
        Json item{{is_check(report) ? "budget" : "counter", one.name()},
                  {"held", one.held()},
                  {"broken", one.count(Kind::broken)},
                  {"missing", one.count(Kind::missing)}};
        if (!is_check(report)) {
            item["changed"] = one.count(Kind::changed);
            item["better"] = one.count(Kind::better);
        }
        Json findings = Json::array();
        for (const GateFinding& finding : one.findings())
            findings.push_back(tree_of_finding(finding, is_check(report)));
        item["findings"] = std::move(findings);
        cases.push_back(std::move(item));
    }
    if (!is_check(report)) {
        Json& times = body["times"] = Json::array();
        for (const GateFinding& time : report.times) times.push_back(tree_of_finding(time, false));
        Json& lines = body["lines"] = Json::array();
        for (const GateFinding& line : report.lines_changed)
            lines.push_back(tree_of_finding(line, false));
    }
    body["losses"] = report.losses;
    body["notes"] = report.notes;
    Json document{{"schema", result_schema}};
    document[is_check(report) ? "check" : "comparison"] = std::move(body);
    return text_of(document, 1) + "\n";
}

std::string gate_junit(const GateReport& report) {
    std::string cases;
    std::uint64_t failures = 0;
    std::uint64_t errors = 0;
    const auto put_case = [&](std::string_view name, std::string_view element,
                              std::string_view message, const std::string& body) {
        cases += fmt::format("    <testcase classname=\"coalprof.{}\" name=\"{}\" time=\"0\"",
                             report.command, xml_text(name));
        if (element.empty()) {
            cases += "/>\n";
            return;
        }
        ++(element == "failure" ? failures : errors);
        cases += fmt::format(
            ">\n      <{0} message=\"{1}\" type=\"{2}\">{3}</{0}>\n    </testcase>\n", element,
            xml_text(message), element == "failure" ? "broken" : "missing", body);
    };
    for (const GateCase& one : report.cases) {
        const std::string_view outcome = outcome_of(one);
        std::string body;
        put_lines(body, one.findings(), one.count(Kind::broken) + one.count(Kind::missing),
                  !is_check(report));
        std::string lines;
        for (std::size_t at = 0; at < body.size();) {  // line by line: a line end is a mark here
            const std::size_t end = body.find('\n', at);
            lines += xml_text(std::string_view(body).substr(at, end - at)) + "\n";
            at = end + 1;
        }
        put_case(one.name(),
                 outcome == "broken"    ? "failure"
                 : outcome == "missing" ? "error"
                                        : "",
                 outcome_line(one), lines);
    }
    for (const std::string& loss : report.losses) put_case("all points", "error", loss, "");
    const std::string totals =
        fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\"",
                    report.cases.size() + report.losses.size(), failures, errors);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites {0}>\n  <testsuite name=\"coalprof {1}\" {0}>\n{2}"
        "  </testsuite>\n</testsuites>\n",
        totals, report.command, cases);
}

std::string gate_github(const GateReport& report) {
    // GitHub shows 10 errors and 10 warnings of a step, and drops the rest without a word.
    constexpr std::size_t most_of_a_kind = 10;
    std::string text;
    const auto put = [&](std::string_view level, const std::vector<Remark>& remarks,
                         std::uint64_t all) {
        const std::size_t fits = all > most_of_a_kind ? most_of_a_kind - 1 : remarks.size();
        const auto line = [&](const GatePlace& place, const std::string& message) {
            text += fmt::format("::{} {}title=coalprof {}::{}\n", level, place_properties(place),
                                report.command, message);
        };
        for (std::size_t i = 0; i < std::min(fits, remarks.size()); ++i)
            line(remarks[i].place, annotation_text(remarks[i].text));
        if (all > fits) line({}, grouped(all - fits) + " more");
    };
    const Remarks remarks = all_remarks(report);
    put("error", remarks.broken, remarks.all_broken);
    put("warning", remarks.missing, remarks.all_missing);
    for (std::size_t i = 0; i < std::min(report.times.size(), most_of_a_kind - 1); ++i)
        text += fmt::format("::notice title=coalprof {}::{}\n", report.command,
                            annotation_text(sentence_of(report.times[i], true)));
    text += fmt::format("::notice title=coalprof {}::{}\n", report.command,
                        annotation_text(headline(report)));
    return text;
}

std::string gate_sarif(const GateReport& report) {
    Json results = Json::array();
    const Remarks remarks = all_remarks(report);
    for (const auto& [level, list] :
         {std::pair{"error", &remarks.broken}, {"warning", &remarks.missing}})
        for (const Remark& remark : *list) {
            Json& result =
                results.emplace_back(Json{{"ruleId", fmt::format("coalprof/{}", report.command)},
                                          {"level", level},
                                          {"message", {{"text", remark.text}}}});
            if (remark.place.file.empty()) continue;
            Json place{{"artifactLocation", {{"uri", path_in_repository(remark.place.file)}}}};
            if (remark.place.line > 0) place["region"] = {{"startLine", remark.place.line}};
            result["locations"] = Json::array({{{"physicalLocation", std::move(place)}}});
        }
    const Json tool{
        {"driver",
         {{"name", "coalprof"},
          {"rules",
           Json::array({{{"id", fmt::format("coalprof/{}", report.command)},
                         {"shortDescription",
                          {{"text", !is_check(report)         ? "memory traffic got worse"
                                    : report.headline.empty() ? "a budget of memory traffic"
                                                              : report.headline}}}}})}}}};
    return text_of(Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                        {"version", "2.1.0"},
                        {"runs", Json::array({{{"tool", tool}, {"results", results}}})}},
                   1) +
           "\n";
}

const GateFormat& find_gate_format(std::string_view name) {
    std::vector<std::string_view> names;
    for (const GateFormat& format : gate_formats) {
        if (format.name == name) return format;
        names.push_back(format.name);
    }
    throw UsageError(unknown_word("--format", name, names));
}

}  // namespace coalprof
