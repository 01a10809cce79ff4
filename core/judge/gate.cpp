#include "core/judge/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/write/number_text.h"
#include "core/write/table_style.h"

namespace coalprof {

std::string_view name_of(GateFinding::Kind kind) {
    switch (kind) {
        case GateFinding::Kind::broken: return "worse";
        case GateFinding::Kind::missing: return "missing";
        case GateFinding::Kind::changed: return "changed";
        case GateFinding::Kind::better: return "better";
    }
    return "";
}

bool GateCase::is_before(const Kept& a, const Kept& b) {
    if (a.finding.kind != b.finding.kind) return a.finding.kind < b.finding.kind;
    if (a.finding.weight != b.finding.weight) return a.finding.weight > b.finding.weight;
    return a.order < b.order;
}

bool GateCase::keeps(GateFinding::Kind kind, double weight) const {
    if (kept_.size() < most_kept_) return true;
    const GateFinding& least = kept_.front().finding;
    return kind != least.kind ? kind < least.kind : weight > least.weight;
}

void GateCase::add(GateFinding finding) {
    ++counts_[static_cast<std::size_t>(finding.kind)];
    Kept kept{std::move(finding), order_++};
    if (kept_.size() == most_kept_) {
        if (!is_before(kept, kept_.front())) return;
        std::pop_heap(kept_.begin(), kept_.end(), is_before);
        kept_.pop_back();
    }
    kept_.push_back(std::move(kept));
    std::push_heap(kept_.begin(), kept_.end(), is_before);
}

std::vector<GateFinding> GateCase::findings() const {
    std::vector<Kept> sorted = kept_;
    std::sort(sorted.begin(), sorted.end(), is_before);
    std::vector<GateFinding> findings;
    for (Kept& kept : sorted) findings.push_back(std::move(kept.finding));
    return findings;
}

std::uint64_t GateReport::count(GateFinding::Kind kind) const {
    std::uint64_t sum = 0;
    for (const GateCase& one : cases) sum += one.count(kind);
    return sum;
}

ExitCode GateReport::code() const {
    if (count(GateFinding::Kind::broken) > 0) return ExitCode::finding;
    if (count(GateFinding::Kind::missing) > 0 || !losses.empty()) return ExitCode::partial;
    return ExitCode::done;
}

namespace fs = std::filesystem;

bool is_source_line(const Point& point) {
    const Value* line = find_value(point.parameters, "line");
    return line && text_of(*line) != "all";
}

// Its line is named "faults.cu:51", its file beside it.
GatePlace place_of(const Point& point) {
    const std::string place = text_of(point.parameters, "line");
    GatePlace found{.file = text_of(point.parameters, source_file_parameter)};
    const std::size_t colon = place.rfind(':');
    if (found.file.empty() || colon == place.npos) return {};
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), found.line);
    return found;
}

bool is_line_named(std::string_view line, const GatePlace& place, std::string_view text) {
    const auto ends_with_path = [](std::string_view all, std::string_view end) {
        return all.ends_with(end) &&
               (all.size() == end.size() || all[all.size() - end.size() - 1] == '/');
    };
    return ends_with_path(text, line) &&
           (place.file.empty() ||
            ends_with_path(fmt::format("{}:{}", place.file, place.line), text));
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

namespace {

// Files may hold values that no counter can have: below 0.
std::string digits_of(const NumberStyle& style, double value) {
    return value >= 0 && value <= 1e300 ? number_text(value, style) : fmt::format("{:g}", value);
}

std::string with_unit(const NumberStyle& style, double value) {
    const std::string digits = digits_of(style, value);
    return style.unit.empty() ? digits : fmt::format("{} {}", digits, style.unit);
}

NumberStyle style_of(Counter counter, std::initializer_list<double> values) {
    // A change of a few bytes must be visible.
    if (info(counter).unit == Unit::byte && info(counter).is_integer) return {1, 0, "bytes"};
    return style_for(info(counter), values, true);
}

}  // namespace

std::string value_text(Counter counter, double value) {
    return with_unit(style_of(counter, {value}), value);
}

std::string change_text(Counter counter, double before, double now) {
    const NumberStyle style = style_of(counter, {before, now});
    const std::string change =
        before > 0 ? fmt::format(" ({:+.3g} %)", 100 * (now / before - 1)) : std::string();
    return fmt::format("{} {} -> {}{}", key_of(counter), digits_of(style, before),
                       with_unit(style, now), change);
}

std::string time_text(const GateFinding& time) {
    const double before = time.before.value_or(0);
    const double now = time.now.value_or(0);
    const NumberStyle style = style_of(Counter::duration_seconds, {before, now});
    const std::string_view mark = time.side == "predicted" ? "~" : "";
    std::string text =
        fmt::format("{}{} -> {}{}", mark, digits_of(style, before), mark, with_unit(style, now));
    const auto [less, more] = std::minmax(before, now);
    if (!(less > 0)) return text;
    if (before == now) return text + ", unchanged";
    text += fmt::format(", {:.3g} times as {}", more / less, now < before ? "fast" : "long");
    if (time.kind == GateFinding::Kind::changed) text += " (within the uncertainty: not decided)";
    return text;
}

}  // namespace coalprof
