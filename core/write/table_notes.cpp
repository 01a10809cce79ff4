#include "core/write/table_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/text/describe.h"
#include "core/text/name_list.h"
#include "core/text/utf8.h"
#include "core/write/columns.h"
#include "core/write/number_text.h"
#include "core/write/safe_text.h"

namespace coalprof {
namespace {

constexpr std::size_t most_named = 6;   // counters named for one reason
constexpr std::size_t most_notes = 20;  // limit of each sort
constexpr std::size_t most_findings = 5;
constexpr std::size_t most_sizes = 6;      // sizes of a problem, each with its best
constexpr std::size_t whole_text = 2'000;  // columns of a reason; longer ones are cut

std::string list_of(const std::bitset<counter_count>& counters) {
    NameList list(most_named);
    for (std::size_t i = 0; i < counter_count; ++i)
        if (counters[i]) list.add(phrase_of(static_cast<Counter>(i)));
    return list.text();
}

bool shows_prediction(Relation relation, bool has_measurements) {
    return relation == Relation::none
               ? !has_measurements
               : relation == Relation::predicted || relation == Relation::differing;
}

// "4,529 GB/s"
std::string rate_text(double bytes_per_second) {
    const NumberStyle style = scale_for(Unit::byte_per_second, bytes_per_second, "");
    return fmt::format("{} {}", number_text(bytes_per_second, style), style.unit);
}

// "4,529 GB/s reading, 4,255 GB/s copying"; empty without the GPU's ceilings.
std::string ceilings_of(const MeasuredDevice& device) {
    if (!is_number(device.read_ceiling) || !is_number(device.copy_ceiling)) return {};
    return fmt::format("{} reading, {} copying", rate_text(number_in(device.read_ceiling)),
                       rate_text(number_in(device.copy_ceiling)));
}

void add_once(std::vector<std::string>& texts, std::string text) {
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

}  // namespace

std::string finding_command(const LineFinding& finding) {
    return finding.like.empty() ? std::string() : "coalprof explain " + shell_words(finding.like);
}

std::string others_of(const LineFinding& finding) {
    const auto place_of = [](const std::string& point) { return point.substr(0, point.find(' ')); };
    std::vector<std::string> seen;
    NameList others(3);
    for (const std::string& other : finding.others) {
        const std::string place = place_of(other);
        const bool is_here = place == place_of(finding.point) && other.size() > place.size();
        std::string name = is_here ? other.substr(place.size() + 1) : place;
        if (std::ranges::find(seen, name) != seen.end()) continue;
        others.add(name);
        seen.push_back(std::move(name));
    }
    return finding.others.empty() ? std::string() : others.text();
}

std::string saving_text(const LineFinding& finding, bool is_ascii) {
    if (finding.saves_seconds.value_or(0) <= 0) return {};
    const NumberStyle style = estimate_style(
        scale_for(Unit::second, finding.kernel_seconds.value_or(*finding.saves_seconds),
                  is_ascii ? "us" : "µs"));
    std::string text = fmt::format("about {}", number_text(*finding.saves_seconds, style));
    if (finding.kernel_seconds)
        text += fmt::format(" of {}", number_text(*finding.kernel_seconds, style));
    text += fmt::format(" {}", style.unit);
    if (finding.kernel_seconds) text += " of this kernel";
    if (finding.launches && *finding.launches != 1)
        text += fmt::format(" over {} launches", *finding.launches);
    if (const auto& interval = finding.saves_interval_seconds)
        text += fmt::format(" ({} to {})", number_text(interval->front(), style),
                            number_text(interval->back(), style));
    return text + '.';
}

std::string finding_text(const LineFinding& finding, bool is_ascii) {
    const std::string saving = saving_text(finding, is_ascii);
    const std::string others = others_of(finding);
    return fmt::format("{}{}{}: {} Fix: {}{}{}", finding.point, others.empty() ? "" : ", also ",
                       others, finding.text, finding.fix, saving.empty() ? "" : " Saves ", saving);
}

std::vector<std::string> verdict_lines(const std::vector<Verdict>& verdicts) {
    std::vector<std::string> lines;
    std::set<std::string> counters;  // counters whose verdict holds for all sizes
    std::size_t sizes = 0;
    for (const Verdict& verdict : verdicts) {
        NamedValues size = verdict.scope;
        std::string counter;
        std::erase_if(size, [&](const auto& one) {
            if (one.first != "counter") return false;
            counter = text_of(one.second);
            return true;
        });
        if (size.empty()) {
            counters.insert(counter);
            lines.push_back(fmt::format("Best: {}.", verdict.text));
        } else if (!counters.contains(counter) && ++sizes <= most_sizes) {
            lines.push_back(fmt::format("Best at {}: {}.", text_of(size), verdict.text));
        }
    }
    if (sizes > most_sizes)
        lines.push_back(fmt::format("And {} more sizes: --json lists them.", sizes - most_sizes));
    return lines;
}

void TableNotes::look_at(const ResultHead& head) {
    summary_.begin(head);
    is_ranking_ = head.is_ranking;
    explains_all_ = style_.explains_all || !head.columns.empty();
    has_grid_ = head.sweep.grid_x.has_value();
    if (const std::string& evidence = head.machine.evidence;
        !evidence.empty() && evidence != "rules measured")
        evidence_ = fmt::format("Predicted by {}.", cell_text(evidence, whole_text, style_.ascii));
    if (!head.device) return;
    if (const std::string ceilings = ceilings_of(*head.device); !ceilings.empty())
        ceilings_ = fmt::format("Ceiling of this GPU in this run: {}.", ceilings);
}

void TableNotes::look_at(const TableLayout& layout) {
    for (const std::string& key : layout.left_out_parameters)
        add_once(left_out_, cell_text(key, text_cell_columns, style_.ascii));
    is_start_alone_ = is_start_alone_.value_or(true) && layout.limit == Limit::start;
    for (const auto& [facts, place] : layout.items) {
        const TableItem& item = facts.item;
        has_agreement_ |= facts.relation == Relation::agreed;
        has_unmarked_ |= facts.relation == Relation::measured;
        if (place == Place::left_out)
            for (const Counter counter : item.counters)
                add_once(left_out_, std::string(key_of(counter)));
    }
}

void TableNotes::look_at(const TableLayout& layout, const Point& point, bool explains_all) {
    summary_.look_at(point);
    has_time_to_gain_ |= !uses_shared_memory_alone(point);
    has_costs_ |= is_finite_number(point.predicted[Counter::cost_share]);
    look_at_passes(point.predicted);
    look_at_reads(point.predicted);
    if (point.measured) look_at_reads(*point.measured);
    // Where the first column has no number, the reasons are the only content.
    const auto first = std::ranges::find_if(layout.items, [](const PlacedItem& one) {
        return !one.facts.item.is(Counter::cost_share);
    });
    const bool shows_nothing =
        first == layout.items.end() ||
        std::holds_alternative<Unavailable>(first->facts.item.predicted(point));
    for (const auto& [facts, place] : layout.items) {
        const TableItem& item = facts.item;
        const bool is_named_below =
            !explains_all_ && facts.relation == Relation::none && !shows_nothing;
        if (place != Place::nowhere && !is_named_below && item.is(Counter::duration_seconds) &&
            !layout.has_measurements)
            look_at_time(item, point);
        if (place == Place::left_out || is_named_below) continue;
        has_shares_ |= item.counters.front() == Counter::bandwidth_share &&
                       is_finite_number(item.measured(point));
        has_estimate_ |= place != Place::nowhere && item.interval(point) &&
                         (explains_all || explains_all_ ||
                          shows_prediction(facts.relation, layout.has_measurements));
        if (explains_all || explains_all_ ||
            shows_prediction(facts.relation, layout.has_measurements))
            explain(item, point.predicted);
        if (point.measured) explain(item, *point.measured);
    }
    has_grid_ |= find_value(point.parameters, "grid") != nullptr ||
                 find_value(point.parameters, "grid_x") != nullptr;
}

void TableNotes::look_at_time(const TableItem& item, const Point& point) {
    const Interval* interval = item.interval(point);
    if (!interval || timed_points_++ > 0) return;
    const NumberStyle number =
        estimate_style(style_for(item.format(), {interval->low, interval->high}, style_.ascii));
    time_ = fmt::format(
        "time {}: {} to {} {}", number_with_unit(item, item.predicted(point), true, style_),
        number_text(interval->low, number), number_text(interval->high, number), number.unit);
    if (!point.estimates->limits.empty())
        time_ += fmt::format(", limited by {}", phrase_of(point.estimates->limits.front()));
}

void TableNotes::look_at_passes(const Readings& readings) {
    constexpr std::array degrees{
        std::pair{Counter::shared_load_conflict_degree, Counter::shared_load_conflicts},
        std::pair{Counter::shared_store_conflict_degree, Counter::shared_store_conflicts}};
    for (const auto& [degree, conflicts] : degrees)
        has_wide_passes_ |= is_finite_number(readings[degree]) && number_in(readings[degree]) > 1 &&
                            readings[conflicts] == Reading{std::uint64_t{0}};
}

void TableNotes::look_at_reads(const Readings& readings) {
    const Reading& sectors = readings[Counter::load_sectors];
    const Reading& hits = readings[Counter::l1_hit_sectors];
    const Reading& reads = readings[Counter::l2_read_sectors];
    if (is_finite_number(sectors) && is_finite_number(hits) && is_finite_number(reads))
        shares_requests_ |= number_in(hits) + number_in(reads) < 0.999 * number_in(sectors);
}

std::vector<std::string> TableNotes::failures_among(const std::vector<Point>& points) {
    std::vector<std::string> lines;
    for (const Point& point : points)
        if (!point.failure.empty() && ++failure_count_ <= most_notes)
            lines.push_back(fmt::format("Point {} failed: {}",
                                        cell_text(point.name, 80, style_.ascii),
                                        cell_text(point.failure, whole_text, style_.ascii)));
    return lines;
}

void TableNotes::explain(const TableItem& item, const Readings& readings) {
    for (const Counter counter : item.counters) {
        const auto* none = std::get_if<Unavailable>(&readings[counter]);
        if (!none) continue;
        auto known = std::find_if(missing_.begin(), missing_.end(), [&](const Missing& missing) {
            return missing.reason == none->reason;
        });
        if (known == missing_.end()) {
            if (missing_.size() == most_notes) return;
            known = missing_.insert(known, Missing{none->reason, {}});
        }
        known->counters.set(static_cast<std::size_t>(counter));
    }
}

// Reasons with numbers differ from point to point; of many for the same counters, one is enough for
// a reader. (Two may be those of the prediction and of the measurement.)
std::vector<std::string> TableNotes::missing_lines() const {
    std::vector<std::string> lines;
    for (auto missing = missing_.begin(); missing != missing_.end(); ++missing) {
        const auto is_alike = [&](const Missing& other) {
            return other.counters == missing->counters;
        };
        const bool are_many = std::count_if(missing_.begin(), missing_.end(), is_alike) > 2;
        if (are_many && std::any_of(missing_.begin(), missing, is_alike)) continue;
        lines.push_back(fmt::format("n/a  {}: {}{}", list_of(missing->counters),
                                    cell_text(missing->reason, whole_text, style_.ascii),
                                    are_many ? " (in other rows likewise: --json)" : ""));
    }
    return lines;
}

// The best settings, where the user asked for them; else the sweep in one sentence.
std::vector<std::string> TableNotes::verdicts(const ResultTail& tail) const {
    std::vector<std::string> lines = verdict_lines(tail.verdicts);
    if (lines.empty() && tail.status == Status::complete)
        if (std::string sentence = summary_.sentence(); !sentence.empty())
            lines.push_back(cell_text(sentence, whole_text, style_.ascii));
    return lines;
}

// All of their names, or how many they are: some of them help nobody.
std::string TableNotes::left_out_line() const {
    const char* const how =
        style_.takes_columns ? "--columns KEY or --json" : "coalprof report FILE --columns KEY";
    const std::string all = fmt::format("More counters: {} ({})", fmt::join(left_out_, ", "), how);
    const bool fits = style_.explains_all || style_.width == 0 || left_out_.size() == 1 ||
                      terminal_columns(all) <= style_.width;
    return fits ? all : fmt::format("{} more counters: {}", left_out_.size(), how);
}

// Notes about the table itself, a line each.
std::vector<std::string> TableNotes::asides(const ResultTail& tail) const {
    std::vector<std::string> lines;
    if (has_agreement_)
        lines.push_back(std::string("=  prediction and measurement agree") +
                        (has_unmarked_ ? "; columns without a mark are measured" : ""));
    if (has_shares_ && !ceilings_.empty()) lines.push_back(ceilings_);
    if (has_estimate_)
        lines.emplace_back(
            evidence_.empty()
                ? "~  estimated: 9 of 10 intervals (--json) held what H100 and H200 measured"
                : "~  estimated: --json has the intervals");
    if (is_start_alone_.value_or(false) && has_time_to_gain_)
        lines.push_back(
            fmt::format("Too short to time: the start of a launch takes longest. Try {}.",
                        has_grid_ ? "a larger --grid" : "--size 256MiB"));
    if (shares_requests_ && style_.explains_all)
        lines.emplace_back(
            "L1 hit and L2 read sectors are fewer than load sectors: loads of a sector that is "
            "already on its way share one request.");
    std::string more = left_out_of_ranking(tail);
    if (more.empty() && !left_out_.empty())
        more = left_out_line();
    else if (!left_out_.empty())
        more += fmt::format("; {} more counters: --json", left_out_.size());
    if (!more.empty()) lines.push_back(std::move(more));
    if (!cross_axes_.empty() && style_.takes_columns)
        lines.push_back(
            fmt::format("With one counter the table is {}: --columns KEY.", cross_axes_));
    return lines;
}

std::size_t TableNotes::most_findings_shown() const {
    return is_ranking_ && !style_.explains_all ? 1 : most_findings;
}

// "7 more rows, 9 more findings: -v"; empty: a ranking shows all.
std::string TableNotes::left_out_of_ranking(const ResultTail& tail) const {
    std::string text;
    const std::size_t findings =
        tail.findings.size() - std::min(tail.findings.size(), most_findings_shown());
    for (const auto& [count, what] : {std::pair(rows_left_out_, "row"), {findings, "finding"}})
        if (count > 0)
            text += fmt::format("{}{} more {}{}", text.empty() ? "" : ", ", count, what,
                                count == 1 ? "" : "s");
    return text.empty() || !is_ranking_ ? std::string() : text + ": -v";
}

// A ranking shows one finding, so that its kernels fit the screen beside it.
std::vector<std::string> TableNotes::finding_lines(const ResultTail& tail) const {
    std::vector<std::string> lines;
    const std::size_t most = most_findings_shown();
    for (std::size_t i = 0; i < std::min(tail.findings.size(), most); ++i) {
        lines.push_back(
            cell_text(fmt::format("{}. {}", i + 1, finding_text(tail.findings[i], style_.ascii)),
                      whole_text, style_.ascii));
        if (const std::string command = finding_command(tail.findings[i]);
            !command.empty() && !style_.is_quiet && most > 1)
            lines.push_back(cell_text(command, whole_text, style_.ascii));
    }
    if (tail.findings.size() > most && !is_ranking_)
        lines.push_back(
            fmt::format("{} more findings: --json lists them", tail.findings.size() - most));
    return lines;
}

// True for a note of a point if an earlier one of the same kind says what they are about.
bool TableNotes::is_like_another(const ResultTail& tail, const Warning& warning) const {
    if (style_.explains_all || warning.point.empty()) return false;
    if (!is_note(warning) && warning.code != "W-CONTENTS") return false;
    return &*std::ranges::find(tail.warnings, warning.code, &Warning::code) != &warning;
}

std::vector<std::string> TableNotes::trouble(const ResultTail& tail) const {
    std::vector<std::string> lines;
    if (failure_count_ > most_notes)
        lines.push_back(fmt::format("{} more points failed", failure_count_ - most_notes));
    std::size_t warnings = 0;
    for (const Warning& warning : tail.warnings) {
        if (style_.is_quiet && is_note(warning)) continue;
        if (is_like_another(tail, warning) || ++warnings > most_notes) continue;
        const auto others = std::ranges::count_if(tail.warnings, [&](const Warning& other) {
            return other.code == warning.code && is_like_another(tail, other);
        });
        std::string text = describe(warning);
        if (others > 0) text += fmt::format("; {} more like it: -v", others);
        lines.push_back(cell_text(text, whole_text, style_.ascii));
    }
    if (warnings > most_notes)
        lines.push_back(fmt::format("{} more warnings", warnings - most_notes));
    if (tail.status == Status::interrupted)
        lines.emplace_back("ended early: the points that were finished are shown");
    return lines;
}

std::vector<TableNote> TableNotes::notes(const ResultTail& tail) const {
    std::vector<TableNote> notes;
    const auto add = [&](TableNote::Rank rank, std::vector<std::string> lines) {
        for (std::string& line : lines) notes.push_back({rank, std::move(line)});
    };
    using Rank = TableNote::Rank;
    if (timed_points_ == 1)
        add(Rank::verdict, {time_ + (has_costs_ ? "; cost: the line's share of that limit" : "")});
    add(Rank::plain, finding_lines(tail));
    add(Rank::verdict, verdicts(tail));
    if (!style_.is_quiet) {
        add(Rank::aside, asides(tail));
        if (!evidence_.empty()) add(Rank::plain, {evidence_});
        if (has_wide_passes_)
            add(Rank::plain, {"Lanes of 8 or 16 bytes take 2 or 4 passes a request at best: only "
                              "passes beyond those are conflicts."});
        add(Rank::plain, missing_lines());
    }
    add(Rank::plain, trouble(tail));
    return notes;
}

}  // namespace coalprof
