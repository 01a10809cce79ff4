#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/text/fold.h"
#include "core/text/utf8.h"
#include "core/write/labels.h"
#include "core/write/number_text.h"
#include "core/write/origin.h"
#include "core/write/safe_text.h"
#include "core/write/table_maker.h"
#include "core/write/table_notes.h"

namespace coalprof {
namespace {

constexpr std::size_t most_wasteful_rows = 6;
constexpr std::size_t most_other_rows = 3;  // where nothing wastes
constexpr std::size_t screen_lines = 24;
constexpr double least_cost_share = 0.005;  // share of the GPU's time
constexpr std::size_t whole_note = 2'000;   // columns of a note; longer ones are cut

// All launches of a kernel.
struct KernelRow {
    std::string name;
    std::string verdict;
    double seconds = 0;
    std::uint64_t launches = 0;
    double sectors = 0;
    double ideal_sectors = 0;
    double cost_seconds = -1;  // negative: not known
    double worst = -1;         // of the costliest part in it

    double excess() const {
        return ideal_sectors > 0 ? (sectors - ideal_sectors) / ideal_sectors : 0;
    }
    bool is_known() const { return verdict != "unknown"; }
};

void add_to_row(KernelRow& row, const Point& point) {
    const auto number = [&](std::string_view key) {
        return number_of(find_value(point.parameters, key));
    };
    const double launches = number("launches").value_or(number("counted").value_or(0));
    row.launches += static_cast<std::uint64_t>(launches);
    const auto reading = [&](Counter counter) {
        return point.measured ? number_or((*point.measured)[counter], 0) : 0.0;
    };
    row.seconds += number("total_seconds").value_or(0);
    const double cost = number("cost_seconds").value_or(-1);
    if (cost >= 0) row.cost_seconds = std::max(0.0, row.cost_seconds) + cost;
    // Without counters, shapes are weighted equally.
    const double sectors = std::max(
        1.0, launches * (reading(Counter::load_sectors) + reading(Counter::store_sectors)));
    if (const auto excess = number("excess")) {
        row.sectors += sectors;
        row.ideal_sectors += sectors / (1 + *excess);
    }
    const double weight = cost >= 0 ? cost : row.excess();
    if (row.verdict.empty() || weight > row.worst) {
        row.verdict = text_of(point.parameters, "verdict");
        row.worst = weight;
    }
}

std::string percent_text(double ratio) {
    const double percent = 100 * ratio;
    return percent == 0 ? "0" : fmt::format("{:.{}f}", percent, percent < 9.95 ? 1 : 0);
}

std::string count_text(std::uint64_t count) { return number_text(static_cast<double>(count), {}); }

std::string counted_noun(std::uint64_t count, std::string_view word) {
    const std::string_view ending = count == 1 ? "" : word.ends_with("ch") ? "es" : "s";
    return fmt::format("{} {}{}", count_text(count), word, ending);
}

// Kernels in the order of their cost, then of their time.
std::vector<KernelRow> kernel_rows(const std::vector<Point>& points, bool folds) {
    std::vector<KernelRow> rows;
    for (const Point& point : points) {
        if (!find_value(point.parameters, "verdict")) continue;
        const std::string name = folds ? text_of(point.parameters, "kernel") : point.name;
        auto row = std::ranges::find(rows, name, &KernelRow::name);
        if (row == rows.end()) {
            rows.emplace_back().name = name;
            row = rows.end() - 1;
        }
        add_to_row(*row, point);
    }
    std::vector<std::pair<std::array<double, 3>, std::size_t>> order;
    for (const KernelRow& row : rows)
        order.push_back(
            {{-row.cost_seconds, row.cost_seconds < 0 ? -row.excess() : 0, -row.seconds},
             order.size()});
    std::ranges::sort(order);
    std::vector<KernelRow> sorted;
    for (const auto& [rank, index] : order) sorted.push_back(std::move(rows[index]));
    return sorted;
}

class RunTable {
 public:
    RunTable(const std::vector<Point>& points, const TableStyle& style) : style_(style) {
        std::vector<KernelRow> rows = kernel_rows(points, !style.explains_all);
        for (const KernelRow& row : rows) total_ += row.seconds;
        for (KernelRow& row : rows) sort_in(std::move(row));
        for (std::vector<KernelRow>* others : {&more_, &harmless_, &unknown_})
            while (!others->empty() && shown_.size() < (has_wasteful_ ? 0 : most_other_rows)) {
                shown_.push_back(std::move(others->front()));
                others->erase(others->begin());
            }
    }

    Table table() const {
        Table table{.grid = TableGrid(columns())};
        const Labels names = short_names();
        for (const KernelRow& row : shown_)
            table.grid.add({.cells = cells_of(row, names.find(row.name)->second)});
        for (const std::string& line : lines_below())
            table.notes.push_back({TableNote::Rank::plain, line});
        return table;
    }

 private:
    bool has_times() const { return total_ > 0; }

    void sort_in(KernelRow row) {
        all_.launches += row.launches;
        all_.sectors += row.sectors;
        all_.ideal_sectors += row.ideal_sectors;
        ++kernels_;
        if (row.cost_seconds > 0 && row.verdict != "fine") cost_ += row.cost_seconds;
        const bool is_harmless = row.verdict == "fine" || row.cost_seconds == 0;
        const bool is_cheap = row.cost_seconds >= 0 && row.cost_seconds < least_cost_share * total_;
        std::vector<KernelRow>& where = !row.is_known()       ? unknown_
                                        : style_.explains_all ? shown_
                                        : is_harmless         ? harmless_
                                        : !is_cheap && shown_.size() < most_wasteful_rows ? shown_
                                                                                          : more_;
        has_wasteful_ |= &where == &shown_;
        where.push_back(std::move(row));
    }

    std::vector<TableColumn> columns() const {
        std::vector<TableColumn> columns{{.heading = {"kernel"}, .is_left_aligned = true}};
        if (has_times()) columns.push_back({.heading = {"time", "%"}});
        columns.push_back({.heading = {"launches"}});
        columns.push_back({.heading = {"excess", "%"}});
        if (has_times()) columns.push_back({.heading = {"costs", std::string(scale().unit)}});
        columns.push_back({.heading = {"verdict"}, .is_left_aligned = true});
        return columns;
    }

    std::vector<TableCell> cells_of(const KernelRow& row, const std::string& name) const {
        std::vector<TableCell> cells{{name}};
        if (has_times()) cells.push_back({percent_text(row.seconds / total_)});
        cells.push_back({count_text(row.launches)});
        const Shade shade = row.excess() < 0.1 ? Shade::good
                            : row.excess() < 1 ? Shade::fair
                                               : Shade::poor;
        cells.push_back(row.is_known() ? TableCell{percent_text(row.excess()), shade}
                                       : TableCell{"n/a"});
        if (has_times())
            cells.push_back({row.cost_seconds < 0    ? "n/a"
                             : row.cost_seconds == 0 ? "0"
                                                     : number_text(row.cost_seconds, scale())});
        cells.push_back({row.verdict});
        return cells;
    }

    // Shortened to the width that the other columns leave.
    Labels short_names() const {
        std::vector<std::string> names;
        for (const KernelRow& row : shown_) names.push_back(row.name);
        if (style_.width == 0) return labels_with_ends(names, 10'000, style_.ascii);
        std::vector<std::size_t> widths;
        for (const TableColumn& column : columns())
            widths.push_back(
                std::max(column.heading[0].size(), terminal_columns(column.heading[1])));
        for (const KernelRow& row : shown_) {
            const std::vector<TableCell> cells = cells_of(row, {});
            for (std::size_t i = 1; i < cells.size(); ++i)
                widths[i] = std::max(widths[i], terminal_columns(cells[i].text));
        }
        std::size_t others = 0;
        for (std::size_t i = 1; i < widths.size(); ++i) others += widths[i] + 2;
        const std::size_t room = std::max<std::size_t>(style_.width, others + least_name) - others;
        return labels_with_ends(names, room, style_.ascii);
    }

    void put_rest(std::vector<std::string>& lines, const std::vector<KernelRow>& rows,
                  std::string_view verdict) const {
        if (rows.empty()) return;
        double seconds = 0;
        double cost = 0;
        for (const KernelRow& row : rows) {
            seconds += row.seconds;
            cost += std::max(0.0, row.cost_seconds);
        }
        const std::string share =
            has_times() ? fmt::format(", {} % of the time", percent_text(seconds / total_)) : "";
        const NumberStyle own = scale_for(Unit::second, cost, style_.ascii ? "us" : "µs");
        const std::string together =
            &rows == &more_ && cost > 0
                ? fmt::format(", {} {} together", number_text(cost, own), own.unit)
                : "";
        lines.push_back(fmt::format("{}{}: {}{}", counted_noun(rows.size(), "other kernel"), share,
                                    verdict, together));
    }

    std::vector<std::string> lines_below() const {
        std::vector<std::string> lines;
        put_rest(lines, more_, "costs little each");
        put_rest(lines, harmless_, "nothing to gain");
        put_rest(lines, unknown_, "not known");
        lines.push_back(totals());
        return lines;
    }

    // "all 7 kernels: 80 launches, 13.2 ms; waste costs about 8.0 ms (61 %)"
    std::string totals() const {
        std::string text = fmt::format("all {}: {}", counted_noun(kernels_, "kernel"),
                                       counted_noun(all_.launches, "launch"));
        if (has_times())
            text +=
                fmt::format(", {} {}; waste costs about {} {} ({} %)", number_text(total_, scale()),
                            scale().unit, number_text(cost_, scale()), scale().unit,
                            percent_text(cost_ / total_));
        else if (all_.ideal_sectors > 0)
            text += fmt::format(", {} % excess sectors", percent_text(all_.excess()));
        return text;
    }

    NumberStyle scale() const {
        return scale_for(Unit::second, total_, style_.ascii ? "us" : "µs");
    }

    static constexpr std::size_t least_name = 16;  // columns
    TableStyle style_;
    double total_ = 0;
    double cost_ = 0;
    std::uint64_t kernels_ = 0;
    KernelRow all_;
    bool has_wasteful_ = false;
    std::vector<KernelRow> shown_;
    std::vector<KernelRow> more_;
    std::vector<KernelRow> harmless_;
    std::vector<KernelRow> unknown_;
};

// Rows, notes and warnings that are there already, and the lines that folding makes of them.
std::size_t lines_of(const Table& table, const ResultTail& tail, std::size_t width) {
    std::size_t lines = 5 + table.grid.rows().size();  // title, heading, two blank ones
    for (const TableNote& note : table.notes) lines += folded(note.text, {.columns = width}).size();
    for (const Warning& warning : tail.warnings)
        lines += folded(describe(warning), {.columns = width}).size();
    return lines;
}

// As many as fit a screen, at least the first.
void add_findings(Table& table, const ResultTail& tail, std::uint64_t runs,
                  const TableStyle& style) {
    const auto add = [&](std::string_view text) {
        table.notes.push_back({TableNote::Rank::plain, cell_text(text, whole_note, style.ascii)});
        return folded(table.notes.back().text, {.columns = style.width, .hanging = 2}).size();
    };
    std::size_t lines = lines_of(table, tail, style.width) + 1;
    std::size_t shown = 0;
    for (const LineFinding& finding : tail.findings) {
        const std::size_t before = table.notes.size();
        lines += add(fmt::format("{}. {}", shown + 1, finding_text(finding, style.ascii)));
        if (const std::string command = finding_command(finding);
            !command.empty() && !style.is_quiet)
            lines += add(command);
        if (shown > 0 && !style.explains_all && lines > screen_lines) {
            table.notes.resize(before);
            break;
        }
        ++shown;
    }
    const std::string rest = shown < tail.findings.size()
                                 ? fmt::format("{} of {} (-v: all); ", shown,
                                               counted_noun(tail.findings.size(), "finding"))
                                 : std::string();
    add(fmt::format("{}counted in {} of the program (--fast: one)", rest,
                    counted_noun(runs, "run")));
}

class RunTableWriter : public ResultSink {
 public:
    RunTableWriter(ByteSink& out, const TableStyle& style, std::unique_ptr<TableRenderer> renderer,
                   std::unique_ptr<ResultSink> general)
        : out_(out), style_(style), renderer_(std::move(renderer)), general_(std::move(general)) {}

    void begin(const ResultHead& head) override {
        head_ = head;
        is_run_ = head.sweep.pattern == "run" && head.sweep.parameter == "kernel";
        if (!is_run_) general_->begin(head);
    }

    void point(const Point& point) override {
        is_run_ ? points_.push_back(point) : general_->point(point);
    }

    void finish(const ResultTail& tail) override {
        const bool has_verdicts = std::ranges::any_of(points_, [](const Point& point) {
            return find_value(point.parameters, "verdict") != nullptr;
        });
        if (has_verdicts) return put(tail);
        if (is_run_) general_->begin(head_);
        for (const Point& point : points_) general_->point(point);
        general_->finish(tail);
    }

 private:
    void put(const ResultTail& tail) {
        Table table = RunTable(points_, style_).table();
        table.above = {title_of(head_, style_)};
        add_findings(table, tail, head_.passes, style_);
        for (const Warning& warning : tail.warnings)
            if (!(style_.is_quiet && is_note(warning)))
                table.notes.push_back({TableNote::Rank::plain,
                                       cell_text(describe(warning), whole_note, style_.ascii)});
        TextBuffer text;
        renderer_->put(text, table);
        text.hand_over(out_);
    }

    ByteSink& out_;
    TableStyle style_;
    std::unique_ptr<TableRenderer> renderer_;
    std::unique_ptr<ResultSink> general_;
    ResultHead head_;
    bool is_run_ = false;
    std::vector<Point> points_;
};

}  // namespace

std::unique_ptr<ResultSink> with_run_table(ByteSink& out, const TableStyle& style,
                                           std::unique_ptr<TableRenderer> renderer,
                                           std::unique_ptr<ResultSink> general) {
    return std::make_unique<RunTableWriter>(out, style, std::move(renderer), std::move(general));
}

}  // namespace coalprof
