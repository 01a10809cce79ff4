// `plot`: the most informative counters as curves of characters, for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/text/describe.h"
#include "core/text/utf8.h"
#include "core/write/curves.h"
#include "core/write/formats.h"
#include "core/write/labels.h"
#include "core/write/number_text.h"
#include "core/write/safe_text.h"
#include "core/write/table_items.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

constexpr std::size_t rows = 11;
constexpr std::size_t least_width = 40;
constexpr std::size_t most_width = 100;
constexpr std::size_t usual_width = 80;

// The characters of a drawing; each takes one column.
struct Marks {
    std::string_view upright, tick, corner, level, band;
    std::array<std::string_view, most_curves> curves;
};
constexpr Marks unicode_marks{
    "│", "┤", "└", "─", "┊", {"●", "○", "◆", "◇", "▲", "△", "■", "□", "★", "☆", "▼", "▽"}};
constexpr Marks ascii_marks{"|", "+", "+",
                            "-", ":", {"*", "o", "#", "x", "@", "%", "&", "=", "a", "b", "c", "d"}};

struct Range {
    double low = HUGE_VAL;
    double high = -HUGE_VAL;
    void take(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

// The nearest of `count` cells of the axis.
std::size_t cell_of(double value, const PlotAxis& axis, std::size_t count) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(axis.share_of(value), 0.0, 1.0) * static_cast<double>(count - 1)));
}

class PlotWriter : public ResultSink {
 public:
    PlotWriter(ByteSink& out, const TableStyle& style)
        : out_(out),
          ascii_(style.ascii),
          marks_(style.ascii ? ascii_marks : unicode_marks),
          width_(
              std::clamp(style.width == 0 ? usual_width : style.width, least_width, most_width)) {}
    void begin(const ResultHead& head) override { curves_.begin(head); }
    void point(const Point& point) override { curves_.point(point); }

    void finish(const ResultTail& tail) override {
        curves_.finish(tail);
        put_line(cell_text(curves_.title(), width_, ascii_));
        std::vector<std::pair<Counter, std::vector<Curve>>> panels;
        for (const Counter counter : curves_.counters())
            panels.emplace_back(counter, curves_.of(counter));
        for (const auto& [counter, curves] : panels)
            for (const Curve& curve : curves) sides_[curve.is_measured] = true;
        for (const auto& [counter, curves] : panels)
            curves_.names().empty() ? put_panel(counter, curves) : put_bars(counter, curves);
        if (panels.empty()) put_line("There is nothing to draw.");
        put_legend();
        text_.hand_over(out_);
    }

 private:
    using Row = std::vector<std::string_view>;

    // Bars for points with names instead of numbers.
    void put_bars(Counter counter, const std::vector<Curve>& curves) {
        constexpr std::size_t name_columns = 28;
        constexpr std::size_t number_columns = 12;
        std::vector<double> numbers;
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places) numbers.push_back(place.y);
        if (numbers.empty()) return;
        const double most = *std::ranges::max_element(numbers);
        const NumberStyle style = style_for(info(counter), numbers, ascii_);
        const Labels labels = labels_with_ends(curves_.names(), name_columns, ascii_);
        put_line(fmt::format("\n{}{}", phrase_of(counter),
                             style.unit.empty() ? "" : fmt::format(" ({})", style.unit)));
        const std::size_t room = width_ - std::min(width_, name_columns + number_columns + 2);
        for (std::size_t i = 0; i < curves_.names().size(); ++i)
            for (const Curve& curve : curves)
                for (const Curve::Place& place : curve.places) {
                    if (place.x != static_cast<double>(i)) continue;
                    const double share = most > 0 ? std::max(0.0, place.y / most) : 0;
                    std::string line = labels.at(curves_.names()[i]);
                    line += std::string(name_columns + 1 - terminal_columns(line), ' ');
                    for (auto left = std::lround(share * static_cast<double>(room)); left > 0;
                         --left)
                        line += mark_of(curve);
                    const bool is_estimate = !curve.is_measured && place.has_band;
                    put_line(line + ' ' +
                             (is_estimate ? '~' + number_text(place.y, estimate_style(style))
                                          : number_text(place.y, style)));
                }
    }

    void put_panel(Counter counter, const std::vector<Curve>& curves) {
        Range y{0, -HUGE_VAL};
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places) {
                y.take(place.y);
                if (place.has_band) y.take(place.high);
            }
        const NumberStyle scale = scale_for(info(counter).unit, y.high, ascii_ ? "us" : "µs");
        const PlotAxis up = axis_of(y.low / scale.divisor, y.high / scale.divisor, 3, false);
        const PlotAxis along = axis_along(curves, 6);
        std::map<std::size_t, std::string> ticks;  // by row from below
        std::size_t left = 0;
        for (const double tick : up.ticks) {
            std::string& text = ticks[cell_of(tick, up, rows)];
            text = axis_text(tick);
            left = std::max(left, text.size());
        }
        std::vector<Row> cells(rows, Row(width_ - left - 3, " "));
        for (const Curve& curve : curves) draw_bands(cells, curve, along, up, scale.divisor);
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places)
                cells[cell_of(place.y / scale.divisor, up, rows)]
                     [cell_of(place.x, along, cells[0].size())] = mark_of(curve);

        put_line(fmt::format("\n{}{}", phrase_of(counter),
                             scale.unit.empty() ? "" : fmt::format(" ({})", scale.unit)));
        for (std::size_t row = rows; row-- > 0;) {
            const auto tick = ticks.find(row);
            const bool has_tick = tick != ticks.end();
            std::string line = fmt::format("{:>{}} {}", has_tick ? tick->second : "", left,
                                           has_tick ? marks_.tick : marks_.upright);
            for (const std::string_view cell : cells[row]) line += cell;
            put_line(line);
        }
        put_foot(along, left, cells[0].size());
    }

    void draw_bands(std::vector<Row>& cells, const Curve& curve, const PlotAxis& along,
                    const PlotAxis& up, double divisor) {
        for (const Curve::Place& place : curve.places) {
            if (!place.has_band) continue;
            const std::size_t column = cell_of(place.x, along, cells[0].size());
            const std::size_t high = cell_of(place.high / divisor, up, rows);
            for (std::size_t row = cell_of(place.low / divisor, up, rows); row <= high; ++row)
                cells[row][column] = marks_.band;
        }
        has_bands_ |= std::any_of(curve.places.begin(), curve.places.end(),
                                  [](const auto& place) { return place.has_band; });
    }

    // The axis and its numbers; the name of the swept parameter where the last number ends.
    void put_foot(const PlotAxis& along, std::size_t left, std::size_t columns) {
        std::string line = fmt::format("{:>{}} {}", "", left, marks_.corner);
        for (std::size_t i = 0; i < columns; ++i) line += marks_.level;
        put_line(line);
        std::string numbers(left + 2, ' ');
        const std::string name = cell_text(curves_.along(), columns / 2, ascii_);
        for (const double tick : along.ticks) {
            const std::string text = axis_text(tick);
            const std::size_t at = left + 2 + cell_of(tick, along, columns);
            // Centred; the last one is never cut.
            const std::size_t begin = std::min(at - std::min(at, text.size() / 2),
                                               left + 2 + columns - std::min(columns, text.size()));
            if (begin < numbers.size() + (numbers.size() > left + 2 ? 2 : 0)) continue;
            numbers.resize(begin, ' ');
            numbers += text;
        }
        put_line(numbers);
        put_line(std::string(left + 2 + columns / 2 - std::min(columns / 2, name.size() / 2), ' ') +
                 name);
    }

    void put_legend() {
        text_.put('\n');
        const std::vector<std::string> labels = curves_.labels();
        const Labels shown = distinct_labels(labels, width_ - 15, ascii_);
        for (std::size_t color = 0; color < std::min(labels.size(), most_curves); ++color)
            for (const bool is_measured : {true, false}) {
                if (!sides_[is_measured]) continue;
                Curve curve;
                curve.color = color;
                curve.is_measured = is_measured;
                std::string line =
                    fmt::format("{} {}", mark_of(curve), is_measured ? "measured" : "predicted");
                if (!labels[color].empty()) line += ", " + shown.at(labels[color]);
                put_line(line);
            }
        if (labels.size() > most_curves)
            put_line(fmt::format("{} more are left out", labels.size() - most_curves));
        if (has_bands_)
            put_line(
                fmt::format("{} interval of an estimate, or quartiles of a time", marks_.band));
    }

    std::string_view mark_of(const Curve& curve) const {
        const bool are_both = sides_[false] && sides_[true];
        const std::size_t number =
            are_both ? 2 * curve.color + (curve.is_measured ? 0 : 1) : curve.color;
        return marks_.curves[number % marks_.curves.size()];
    }

    static std::string axis_text(double tick) { return fmt::format("{:.6g}", tick); }

    void put_line(std::string_view line) {
        text_.put(line.substr(0, line.find_last_not_of(' ') + 1), '\n');
    }

    ByteSink& out_;
    bool ascii_;
    const Marks& marks_;
    std::size_t width_;
    TextBuffer text_;
    Curves curves_;
    std::array<bool, 2> sides_{};  // there is a predicted, a measured curve
    bool has_bands_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_plot(ByteSink& out, const TableStyle& style) {
    return std::make_unique<PlotWriter>(out, style);
}

}  // namespace coalprof
