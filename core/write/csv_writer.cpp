// `csv`: one header line, then one row a point, quoted as RFC 4180 says, lines ended by a newline.
// Unavailable counters, and those that do not concern the point, are empty fields; so is the
// interval of an exact one.
#include <fmt/format.h>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/write/columns.h"
#include "core/write/safe_text.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

class CsvWriter : public ResultSink {
 public:
    explicit CsvWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override { head_ = head; }

    void point(const Point& point) override {
        if (!columns_.empty()) return put_row(point);
        first_points_.push_back(point);
        if (!head_.columns.empty() || first_points_.size() == settling_points) settle();
    }

    void finish(const ResultTail&) override {
        if (columns_.empty()) settle();
        text_.hand_over(out_);
    }

 private:
    void settle() {
        columns_ = frame_of(head_, first_points_);
        for (const Point& point : first_points_) {
            predicted_.add(point.predicted);
            if (point.measured) measured_.add(*point.measured);
        }
        put_cells([&](const FrameColumn& column) { put_csv_text(text_, column.key); });
        for (const Point& point : first_points_) put_row(point);
        first_points_ = {};
    }

    template <typename PutCell>
    void put_cells(PutCell put_cell) {
        for (const FrameColumn& column : columns_) {
            put_cell(column);
            text_.put(&column == &columns_.back() ? '\n' : ',');
        }
    }

    // A counter without a column would silently be lost.
    void refuse_what_has_no_column(const Point& point) const {
        if (!head_.columns.empty()) return;  // the caller chose
        const auto look = [&](const Readings& readings, const SeenCounters& seen,
                              std::string_view prefix) {
            readings.each([&](Counter counter, const Reading&) {
                if (!seen.has(counter))
                    throw Error(
                        fmt::format("cannot write {} as csv: it has {}{}, which none of the first "
                                    "{} points has (choose the columns with --counters, or write "
                                    "jsonl)",
                                    shown(point.name), prefix, key_of(counter), settling_points),
                        ExitCode::output);
            });
        };
        look(point.predicted, predicted_, "");
        if (point.measured) look(*point.measured, measured_, "measured_");
    }

    void put_row(const Point& point) {
        refuse_what_has_no_column(point);
        put_cells([&](const FrameColumn& column) {
            put_value(text_, column.cell(point), "", put_csv_text);
        });
        text_.hand_over_when_full(out_);
    }

    ByteSink& out_;
    TextBuffer text_;
    ResultHead head_;
    std::vector<Point> first_points_;
    std::vector<FrameColumn> columns_;  // empty: not settled
    SeenCounters predicted_, measured_;
};

}  // namespace

std::unique_ptr<ResultSink> make_csv(ByteSink& out, const TableStyle&) {
    return std::make_unique<CsvWriter>(out);
}

}  // namespace coalprof
