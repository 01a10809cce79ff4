// The notes below a table: the meaning of marks, why numbers are missing (each reason once), failed
// points, columns that did not fit. They are gathered row by row, in bounded memory.
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <vector>

#include "core/result/result.h"
#include "core/write/sweep_summary.h"
#include "core/write/table_layout.h"

namespace coalprof {

// "app.cu:19 st.global.f32: Neighbouring lanes are ... Fix: Lay ... Saves about 2.9 ms."
std::string finding_text(const LineFinding& finding, bool is_ascii);
// Where else the same is to be fixed: "ld.global.f32 B, k.cu:13 and 2 more"; empty: nowhere.
std::string others_of(const LineFinding& finding);
// "about 2.9 ms." of it; empty: nothing, or it is not known.
std::string saving_text(const LineFinding& finding, bool is_ascii);
// A command that shows the same in a small case: "coalprof explain stride --at 3"; empty: no
// similar pattern.
std::string finding_command(const LineFinding& finding);

// "Best: ...", "Best at n 1024: ...", a line each.
std::vector<std::string> verdict_lines(const std::vector<Verdict>& verdicts);

class TableNotes {
 public:
    explicit TableNotes(const TableStyle& style) : style_(style) {}

    // Takes from the head the notes that belong below: the ceilings that shares are of.
    void look_at(const ResultHead& head);

    // A heading: the meaning of its marks, and columns left out.
    void look_at(const TableLayout& layout);
    // "stride by machine": the table of one counter alone.
    void look_at_axes(std::string axes) { cross_axes_ = std::move(axes); }
    // A point that helped to decide this layout. Counters that no point has are named without their
    // reasons, unless they were asked for by name. `explains_all`: also why a prediction is missing
    // beside a measurement.
    void look_at(const TableLayout& layout, const Point& point, bool explains_all);
    // So many points of a ranking have no row.
    void leave_out(std::size_t points) { rows_left_out_ = points; }
    // Sentences that belong above a table of these points; of all tables the first few.
    std::vector<std::string> failures_among(const std::vector<Point>& points);
    std::vector<TableNote> notes(const ResultTail& tail) const;
    // The sweep in one sentence; empty if none was found.
    std::string summary() const { return summary_.sentence(); }

 private:
    struct Missing {
        std::string_view reason;
        std::bitset<counter_count> counters;
    };
    void look_at_time(const TableItem& item, const Point& point);
    void look_at_passes(const Readings& readings);
    void look_at_reads(const Readings& readings);
    void explain(const TableItem& item, const Readings& readings);
    std::vector<std::string> missing_lines() const;
    std::vector<std::string> verdicts(const ResultTail& tail) const;
    std::string left_out_line() const;
    std::size_t most_findings_shown() const;
    std::string left_out_of_ranking(const ResultTail& tail) const;
    std::vector<std::string> asides(const ResultTail& tail) const;
    std::vector<std::string> finding_lines(const ResultTail& tail) const;
    bool is_like_another(const ResultTail& tail, const Warning& warning) const;
    std::vector<std::string> trouble(const ResultTail& tail) const;

    TableStyle style_;
    bool is_ranking_ = false;
    std::size_t rows_left_out_ = 0;
    std::vector<Missing> missing_;
    std::uint64_t failure_count_ = 0;
    std::vector<std::string> left_out_;
    SweepSummary summary_;
    std::size_t timed_points_ = 0;  // points with an estimated time
    std::string time_;              // of the first: "~484 us: 339 to 1,114 us, limited by latency"
    std::string ceilings_;
    std::string cross_axes_;
    bool has_grid_ = false;    // chosen, so that the size follows
    std::string evidence_;     // how well the machines' rules are known, unless measured
    bool has_shares_ = false;  // shares of a ceiling are shown
    bool has_agreement_ = false;
    bool has_unmarked_ = false;  // columns that are only measured
    bool has_estimate_ = false;
    bool has_costs_ = false;              // costs of lines are shown
    bool has_wide_passes_ = false;        // lanes are so wide that several passes are no conflict
    bool shares_requests_ = false;        // fewer L1 hits and L2 reads than load sectors
    std::optional<bool> is_start_alone_;  // limit of the time of every point
    bool has_time_to_gain_ = false;       // with more data: not of shared memory alone
    bool explains_all_ = false;           // the counters were asked for by name
};

}  // namespace coalprof
