#include "core/result/result.h"

#include <fmt/format.h>

#include <algorithm>

namespace coalprof {

// Most first calls of `kernel` give no sizes: nothing is wrong with that, nor with merging.
bool is_note(const Warning& warning) {
    return warning.code == "W-BOUNDS" || warning.code == "W-MERGED" || warning.code == "W-SOURCE" ||
           warning.code == "W-ASSUMED" || warning.code == "W-PTX";
}

std::string describe(const Warning& warning) {
    const char* sort = is_note(warning) ? "note" : "warning";
    if (warning.point.empty()) return fmt::format("{} {}: {}", sort, warning.code, warning.text);
    return fmt::format("{} {}: {}: {}", sort, warning.code, warning.point, warning.text);
}

std::string_view name_of(Status status) {
    switch (status) {
        case Status::complete: return "complete";
        case Status::partial: return "partial";
        case Status::interrupted: return "interrupted";
    }
    return "";
}

ExitCode exit_code_of(Status status) {
    switch (status) {
        case Status::complete: return ExitCode::done;
        case Status::partial: return ExitCode::partial;
        case Status::interrupted: break;
    }
    const int signal = stop_signal();
    return signal == 0 ? ExitCode::interrupted : static_cast<ExitCode>(128 + signal);
}

namespace {

// `Values` may be const.
template <typename Values, typename Visit>
void visit_values(Values& values, const Visit& visit) {
    for (auto& [key, value] : values) {
        visit(key);
        if (auto* text = std::get_if<std::string>(&value)) visit(*text);
    }
}

template <typename SomePoint, typename Visit>
void visit_point(SomePoint& point, const Visit& visit) {
    visit(point.name);
    visit_values(point.parameters, visit);
    for (auto& one : point.instructions)
        for (auto* text : {&one.array, &one.op, &one.type, &one.index, &one.access}) visit(*text);
    if (point.launch) visit(point.launch->architecture);
    visit(point.failure);
}

}  // namespace

void each_text(NamedValues& values, const VisitText& visit) { visit_values(values, visit); }
void each_text(Point& point, const VisitText& visit) { visit_point(point, visit); }
void each_text(const Point& point, const LookAtText& look) { visit_point(point, look); }

void each_text(ResultTail& tail, const VisitText& visit) {
    for (Warning& warning : tail.warnings)
        for (std::string* text : {&warning.code, &warning.point, &warning.text}) visit(*text);
    for (Verdict& verdict : tail.verdicts) {
        each_text(verdict.scope, visit);
        for (NamedValues& settings : verdict.best) each_text(settings, visit);
        visit(verdict.text);
    }
    for (LineFinding& one : tail.findings) {
        for (std::string* text :
             {&one.point, &one.kernel, &one.cause, &one.text, &one.fix, &one.like, &one.warp})
            visit(*text);
        for (std::string& other : one.others) visit(other);
    }
}

namespace {

struct LimitRow {
    std::string_view name;
    std::string_view word;
    std::string_view phrase;
};
constexpr std::array<LimitRow, limit_count> rows{{
    {"start", "start", "the start of the launch"},
    {"blocks", "blocks", "launching blocks"},
    {"instructions", "instructions", "the instructions of its warps"},
    {"latency", "latency", "latency, with too few bytes in flight"},
    {"l1", "L1", "L1, shared or constant memory"},
    {"l2", "L2", "traffic between L1 and L2"},
    {"dram", "DRAM", "device memory"},
    {"same_line", "one line", "stores to few lines, which wait for each other"},
    {"atomics", "atomics", "atomics in L2"},
}};

}  // namespace

std::string_view name_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].name; }

std::string_view word_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].word; }

std::string_view phrase_of(Limit limit) { return rows[static_cast<std::size_t>(limit)].phrase; }

std::optional<Limit> find_limit(std::string_view name) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].name == name) return static_cast<Limit>(i);
    return std::nullopt;
}

const Interval* Estimates::of(Counter counter) const {
    const auto found = std::ranges::find(intervals, counter, &Interval::counter);
    return found == intervals.end() ? nullptr : &*found;
}

}  // namespace coalprof
