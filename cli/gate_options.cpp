#include "cli/gate_options.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "cli/parse.h"
#include "cli/print.h"
#include "cli/saved_result.h"
#include "core/judge/gate_formats.h"
#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/file_kind.h"
#include "core/text/name_list.h"
#include "core/write/file_descriptor.h"
#include "core/write/output_file.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

// GitHub gives each step a file for its page, in Markdown: the text goes into a block of code,
// which no line of it can end.
void add_to_job_summary(const GateReport& report) {
    const char* path = std::getenv("GITHUB_STEP_SUMMARY");
    if (!path || *path == '\0') return;
    const OutputClaim claim(path, {}, {.replaced = identity_of(std::string(path))});
    const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int error = fd < 0 ? errno : write_all(fd, "```\n" + gate_text(report) + "```\n");
    if (fd >= 0 && ::close(fd) != 0 && error == 0) error = errno;
    if (error != 0)
        throw Error(
            fmt::format("cannot write the job's summary {}: {}", shown(path), text_of_errno(error)),
            ExitCode::output);
}

// Line by line: names of points may hold any character.
std::string in_ascii(std::string_view text) {
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        lines += cell_text(line, line.size(), true) + '\n';
        at = end + 1;
    }
    return lines;
}

}  // namespace

void BudgetOptions::add_to(CLI::App& command) {
    const char* group = "Budgets";
    add_repeated(command, "--budget", budgets,
                 "A limit on a counter: 'load_sectors_per_request <= 4 if stride=1..8'; exit "
                 "code 1 if a point breaks it; may be repeated",
                 "B", group);
    add_repeated(command, "--budget-file", files, "Budgets, one per line; # begins a comment",
                 "FILE", group);
    add_value(command, "--budget-from", base,
              "A saved result: no source line may be worse than it is there (of results without "
              "lines, no point)",
              "FILE", group);
    add_repeated(command, "--allow", exceptions.lines,
                 "A source line that may break budgets, with its kernel: app.cu:9; may be repeated",
                 "FILE:LINE", group);
    command
        .add_flag(
            "--may-lack", exceptions.may_lack,
            "A budget of a kernel or a point that the result lacks is a note, not exit code 4")
        ->group(group);
}

BudgetJudge BudgetOptions::judge(ResultSink* next) const {
    std::vector<Budget> all;
    for (const std::string& text : budgets) {
        refuse_file(text, "a budget", fmt::format("--budget-file {}", shown(text)));
        all.push_back(parse_budget(text));
    }
    for (const std::string& file : files)
        for (Budget& budget : read_budget_file(file)) all.push_back(std::move(budget));
    for (const std::string& line : exceptions.lines)
        if (const std::size_t colon = line.rfind(':');
            colon == line.npos || line.find_first_not_of("0123456789", colon + 1) != line.npos)
            throw UsageError(fmt::format("--allow {}: it names no line", shown(line)),
                             "lines look like app.cu:9");
    BudgetJudge judge(std::move(all), next, exceptions);
    if (base.empty()) return judge;
    auto comparison = std::make_unique<Comparison>(CompareOptions{.asker = "--budget-from"});
    SavedResult(base, "--budget-from").read(comparison->older());
    judge.hold_against(std::move(comparison), base);
    return judge;
}

void GateReportOptions::add_to(CLI::App& command) {
    const char* group = "Output";
    add_value(command, "--format", format,
              fmt::format("Format of the report: {} (default text)",
                          joined(gate_formats, &GateFormat::name)),
              "FORMAT", group);
    command
        .add_flag_callback(
            "--json", [this] { format = "json"; }, "Short for --format json")
        ->group(group);
    add_value(command, "--output,-o", output, "Write the report to FILE, not to standard output",
              "FILE", group);
    telling.add_telling_to(command);
}

void GateReportOptions::check() const {
    find_gate_format(format);
    telling.look.check();
}

void GateReportOptions::write(const GateReport& report) const {
    std::string text = find_gate_format(format).write(report);
    if (telling.look.plain && format == "text") text = in_ascii(text);
    if (output.empty() || output == "-") {
        print_out(text);
    } else {
        OutputFile file(output);
        file.write(text);
        file.commit();
        if (!file.remark().empty()) telling.note(file.remark());
    }
    if (format == "github") add_to_job_summary(report);
}

BudgetedRun::BudgetedRun(const BudgetOptions& options, ResultSink& next) : next_(next) {
    if (options.are_given()) judge_.emplace(options.judge(&next));
}

ExitCode BudgetedRun::judged(ExitCode code) {
    if (!judge_) return code;
    const GateReport report = std::move(*judge_).report();
    if (report.code() == ExitCode::done) return code;
    print_err(gate_text(report));
    // A budget is the purpose of the run; a signal or an output that failed ends it before.
    const bool has_ended_well =
        code == ExitCode::done || code == ExitCode::partial || code == ExitCode::environment;
    return has_ended_well ? report.code() : code;
}

double parse_share(const std::string& text, const std::string& option) {
    const bool is_percent = text.ends_with('%');
    const std::string_view digits =
        std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0));
    double number = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(number) || number < 0)
        throw UsageError(fmt::format("{} {}: not a share", option, shown(text)),
                         "shares look like 5% or 0.05");
    if (!is_percent && number > 1)
        throw UsageError(
            fmt::format("{} {}: it would be {:g} %", option, shown(text), 100 * number),
            fmt::format("of a hundred: {} {}%", option, shown(text)));
    return is_percent ? number / 100 : number;
}

}  // namespace coalprof
