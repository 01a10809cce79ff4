// `csv`: one header line, then one row a point, quoted as RFC 4180 says, lines ended by a newline.
// Unavailable counters, and those that do not concern the point, are empty fields; so is the
// interval of an exact one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/text/describe.h"
#include "core/text/error.h"
#include "core/text/fold.h"
#include "core/write/columns.h"
#include "core/write/formats.h"
#include "core/write/origin.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

bool needs_quotes(std::string_view text) {
    return begins_like_command(text) || std::any_of(text.begin(), text.end(), [](char c) {
               return c == ',' || c == '"' || c == '\r' || c == '\n';
           });
}

void put_text(TextBuffer& out, std::string_view text) {
    // A spreadsheet would run such a cell as a formula; the apostrophe makes it text.
    constexpr std::string_view formula_starts = "=+-@\t\r";
    const bool is_guarded =
        !text.empty() && formula_starts.find(text.front()) != std::string_view::npos;
    if (!is_guarded && !needs_quotes(text)) return out.put(text);
    out.put('"');
    if (is_guarded) out.put('\'');
    for (const char c : text) {
        if (c == '"') out.put('"');
        out.put(c);
    }
    out.put('"');
}

void put_real(TextBuffer& out, double value) {
    if (std::isfinite(value)) out.put_real(value);
}

void put_value(TextBuffer& out, const Value* value) {
    struct Visitor {
        TextBuffer& out;
        void operator()(std::monostate) const {}
        void operator()(const std::string& text) const { put_text(out, text); }
        void operator()(std::int64_t number) const { out.put(number); }
        void operator()(std::uint64_t number) const { out.put(number); }
        void operator()(double number) const { put_real(out, number); }
        void operator()(bool flag) const { out.put(flag ? "true" : "false"); }
    };
    if (value) std::visit(Visitor{out}, *value);
}

void put_reading(TextBuffer& out, const Reading& reading) {
    if (const auto* integer = std::get_if<std::uint64_t>(&reading))
        out.put(*integer);
    else if (const auto* real = std::get_if<double>(&reading))
        put_real(out, *real);
}

class CsvWriter : public ResultSink {
 public:
    explicit CsvWriter(ByteSink& out) : out_(out) {}

    void begin(const ResultHead& head) override { head_ = head; }

    void point(const Point& point) override {
        if (columns_) return put_row(point);
        first_points_.push_back(point);
        if (!head_.columns.empty() || first_points_.size() == settling_points) settle();
    }

    void finish(const ResultTail&) override {
        if (!columns_) settle();
        text_.hand_over(out_);
    }

 private:
    void settle() {
        columns_ = columns_of(head_, first_points_);
        for (const Counter counter : columns_->predicted)
            has_predicted_[static_cast<std::size_t>(counter)] = true;
        for (const Counter counter : columns_->measured)
            has_measured_[static_cast<std::size_t>(counter)] = true;
        settle_origin();
        put_header();
        for (const Point& point : first_points_) put_row(point);
        first_points_ = {};
    }

    // As cells: values that points do not have are the same in every row.
    void settle_origin() {
        origin_ = origin_columns(head_, columns_->parameters);
        for (OriginColumn& column : origin_) {
            TextBuffer cell;
            put_text(cell, column.same);
            column.same = cell.view();
        }
    }

    // A formula with a name is identified by it in its points; its text is in the head.
    void put_origin(const OriginColumn& column, const Point& point) {
        const bool is_name = column.key == "formula_name";
        if (is_name || column.key == "formula") {
            const Value* known_as = find_value(point.parameters, "formula");
            const Value* text = known_as ? text_of_named_formula(head_, *known_as) : nullptr;
            if (is_name) {
                if (text) put_value(text_, known_as);
                return;
            }
            if (text) return put_value(text_, text);
        }
        const bool is_own = column.place < columns_->parameters.size();
        const Value* own =
            is_own ? find_value(point.parameters, column.key, column.place) : nullptr;
        if (own)
            put_value(text_, own);
        else if (column.key == "name")
            put_text(text_, point.name);
        else
            text_.put(column.same);
    }

    void put_header() {
        for (const OriginColumn& column : origin_) {
            put_text(text_, column.key);
            text_.put(',');
        }
        for (const Counter counter : columns_->predicted) {
            text_.put(key_of(counter), ',');
        }
        for (const Counter counter : columns_->estimated) {
            text_.put(fmt::format("{0}_low,{0}_high,", key_of(counter)));
        }
        if (columns_->limits) text_.put("limited_by,");
        for (const Counter counter : columns_->measured) {
            text_.put("measured_", key_of(counter), ',');
        }
        if (columns_->timing) text_.put("timing_repeats,timing_low_seconds,timing_high_seconds,");
        text_.put("failure\n");
    }

    // A counter without a column would silently be lost.
    void refuse_what_has_no_column(const Point& point) const {
        if (!head_.columns.empty()) return;  // the caller chose
        const auto look = [&](const Readings& readings, const std::array<bool, counter_count>& has,
                              std::string_view prefix) {
            readings.each([&](Counter counter, const Reading&) {
                if (!has[static_cast<std::size_t>(counter)])
                    throw Error(
                        fmt::format("cannot write {} as csv: it has {}{}, which none of the first "
                                    "{} points has (choose the columns with --counters, or write "
                                    "jsonl)",
                                    shown(point.name), prefix, key_of(counter), settling_points),
                        ExitCode::output);
            });
        };
        look(point.predicted, has_predicted_, "");
        if (point.measured) look(*point.measured, has_measured_, "measured_");
    }

    void put_row(const Point& point) {
        refuse_what_has_no_column(point);
        for (const OriginColumn& column : origin_) {
            put_origin(column, point);
            text_.put(',');
        }
        put_readings(columns_->predicted, &point.predicted);
        put_estimates(point.estimates);
        put_readings(columns_->measured, point.measured ? &*point.measured : nullptr);
        if (columns_->timing) put_timing(point.timing);
        put_text(text_, point.failure);
        text_.put('\n');
        text_.hand_over_when_full(out_);
    }

    void put_readings(const std::vector<Counter>& counters, const Readings* readings) {
        for (const Counter counter : counters) {
            if (readings) put_reading(text_, (*readings)[counter]);
            text_.put(',');
        }
    }

    void put_estimates(const std::optional<Estimates>& estimates) {
        for (const Counter counter : columns_->estimated) {
            const Interval* interval = estimates ? estimates->of(counter) : nullptr;
            if (interval) put_real(text_, interval->low);
            text_.put(',');
            if (interval) put_real(text_, interval->high);
            text_.put(',');
        }
        if (!columns_->limits) return;
        if (estimates && !estimates->limits.empty()) text_.put(name_of(estimates->limits.front()));
        text_.put(',');
    }

    void put_timing(const std::optional<Timing>& timing) {
        if (!timing) return text_.put(",,,");
        text_.put(timing->repeats, ',');
        put_real(text_, timing->low_seconds);
        text_.put(',');
        put_real(text_, timing->high_seconds);
        text_.put(',');
    }

    ByteSink& out_;
    TextBuffer text_;
    ResultHead head_;
    std::vector<Point> first_points_;
    std::optional<PrintedColumns> columns_;
    std::vector<OriginColumn> origin_;
    std::array<bool, counter_count> has_predicted_{};
    std::array<bool, counter_count> has_measured_{};
};

}  // namespace

std::unique_ptr<ResultSink> make_csv(ByteSink& out, const TableStyle&) {
    return std::make_unique<CsvWriter>(out);
}

}  // namespace coalprof
