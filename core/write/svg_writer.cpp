// `svg`: the most informative counters as curves over the swept parameter, for papers and READMEs.
// A single file without scripts; light and dark as its reader wants it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/text/describe.h"
#include "core/text/units.h"
#include "core/write/curves.h"
#include "core/write/formats.h"
#include "core/write/labels.h"
#include "core/write/number_text.h"
#include "core/write/safe_text.h"
#include "core/write/table_items.h"
#include "core/write/text_buffer.h"

namespace coalprof {
namespace {

constexpr std::size_t most_marks = 150;  // points drawn with marks
constexpr double svg_width = 720;
constexpr double panel_height = 240;
constexpr double left = 84;
constexpr double right = 16;
constexpr double above = 30;  // room for a panel's title
constexpr double below = 26;  // its numbers along x
constexpr double legend_line = 18;
// Bars, for points with names.
constexpr std::size_t most_bar_names = 24;
constexpr std::size_t bar_name_columns = 38;
constexpr double bars_left = 260;
constexpr double bar_height = 14;
constexpr double bar_number_width = 84;

class SvgWriter : public ResultSink {
 public:
    explicit SvgWriter(ByteSink& out) : out_(out) {}
    void begin(const ResultHead& head) override { curves_.begin(head); }
    void point(const Point& point) override { curves_.point(point); }

    void finish(const ResultTail& tail) override {
        curves_.finish(tail);
        std::string body;
        double top = 34;
        for (const Counter counter : curves_.counters()) {
            const std::optional<HeatMap> map = curves_.map_of(counter);
            has_maps_ |= map.has_value();
            for (const Curve& curve : curves_.of(counter))
                (curve.is_measured ? has_measured_ : has_predicted_) = true;
            if (!curves_.names().empty()) {
                body += bar_panel(counter, top);
                continue;
            }
            body += map ? map_panel(counter, *map, top, curves_.along()) : panel(counter, top);
            top += above + panel_height + below;
        }
        if (!has_maps_) body += legend(top);
        put_document(body, top);
        text_.hand_over(out_);
    }

 private:
    std::string panel(Counter counter, double top) {
        const std::vector<Curve> curves = curves_.of(counter);
        std::vector<double> values;
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places)
                values.push_back(std::max(place.y, place.has_band ? place.high : place.y));
        const double y_high = values.empty() ? 1 : *std::max_element(values.begin(), values.end());
        const double y_low =
            std::min(0.0, values.empty() ? 0 : *std::min_element(values.begin(), values.end()));
        const PlotAxis x_axis = axis_along(curves, 8);
        const NumberStyle style = scale_for(info(counter).unit, y_high, "µs");
        PlotAxis y_axis = axis_of(y_low / style.divisor, y_high / style.divisor, 5, false);
        const double bottom = top + above + panel_height;
        const auto x_of = [&](double x) {
            return left + x_axis.share_of(x) * (svg_width - left - right);
        };
        const auto y_of = [&](double y) {
            return bottom - y_axis.share_of(y / style.divisor) * panel_height;
        };
        std::string text = title_text(counter, style.unit, top);
        for (const double value : y_axis.ticks) {
            const double y = y_of(value * style.divisor);
            text += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>", left, y,
                                svg_width - right);
            text += tick(left - 6, y + 4, "end", tick_text(value));
        }
        for (const double value : x_axis.ticks)
            text += tick(x_of(value), bottom + 16, "middle", tick_text(value));
        text += tick(svg_width - right, top + 20, "end", shown(curves_.along()));
        for (const Curve& curve : curves) {
            const std::string interval = band(curve, x_of, y_of);
            has_bands_ |= !interval.empty();
            text += interval;
            text += line(curve, dashes_of(curve, curves), x_of, y_of);
        }
        return text + "</g>\n";
    }

    // A bar for each name instead of curves along numbers; moves `top` below them.
    std::string bar_panel(Counter counter, double& top) {
        const std::vector<Curve> curves = curves_.of(counter);
        const std::vector<std::string>& names = curves_.names();
        std::vector<std::vector<std::pair<const Curve*, const Curve::Place*>>> bars(names.size());
        std::vector<double> numbers;
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places) {
                bars[static_cast<std::size_t>(place.x)].emplace_back(&curve, &place);
                numbers.push_back(place.y);
            }
        if (numbers.empty()) return {};
        const double most = *std::ranges::max_element(numbers);
        const NumberStyle style = style_for(info(counter), numbers, false);
        const Labels labels = labels_with_ends(names, bar_name_columns, false);
        std::string text = title_text(counter, style.unit, top);
        double y = top + above;
        std::size_t shown_names = 0;
        std::size_t left_out = 0;
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (bars[i].empty()) continue;
            if (++shown_names > most_bar_names && ++left_out > 0) continue;
            text += tick(bars_left - 6, y + 11, "end", shown(labels.at(names[i])));
            // One bar alone shows nothing but its number.
            for (const auto& [curve, place] : bars[i])
                text += bar(*curve, *place, most > 0 && numbers.size() > 1 ? place->y / most : 0,
                            style, y);
            y += 5;
        }
        if (left_out > 0)
            text += tick(bars_left, y + 11, "start", fmt::format("{} more are left out", left_out));
        top = y + bar_height + 6;
        return text + "</g>\n";
    }
    // Moves `y` below it.
    static std::string bar(const Curve& curve, const Curve::Place& place, double share,
                           const NumberStyle& style, double& y) {
        const double wide = std::max(0.0, share) * (svg_width - bars_left - bar_number_width);
        const bool is_estimate = !curve.is_measured && place.has_band;
        std::string text;
        if (wide > 0)
            text = fmt::format(
                "<rect class=\"bar {} s{} f{}\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                "height=\"{:.0f}\"/>\n",
                curve.is_measured ? "measured" : "predicted", curve.color, curve.color, bars_left,
                y + 2, wide, bar_height - 3);
        text += tick(bars_left + wide + 6, y + 11, "start",
                     is_estimate ? '~' + number_text(place.y, estimate_style(style))
                                 : number_text(place.y, style));
        y += bar_height;
        return text;
    }

    static std::string title_text(Counter counter, std::string_view unit, double top) {
        return fmt::format("<g><text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}{}</text>\n", left,
                           top + 20, xml_text(phrase_of(counter)),
                           unit.empty() ? "" : fmt::format(" ({})", xml_text(unit)));
    }
    static std::string tick(double x, double y, std::string_view anchor, const std::string& text) {
        return fmt::format(
            "<text class=\"tick\" text-anchor=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", anchor,
            x, y, xml_text(text));
    }

    // From dark to light, readable without colours, too.
    static std::string heat_color(double share) {
        constexpr std::array<std::array<double, 3>, 6> ramp{{{68, 1, 84},
                                                             {65, 68, 135},
                                                             {42, 120, 142},
                                                             {34, 168, 132},
                                                             {122, 209, 81},
                                                             {253, 231, 37}}};
        const double at = std::clamp(share, 0.0, 1.0) * (ramp.size() - 1);
        const auto k = std::min(static_cast<std::size_t>(at), ramp.size() - 2);
        const auto mixed = [&](std::size_t i) {
            return std::lround(ramp[k][i] +
                               (ramp[k + 1][i] - ramp[k][i]) * (at - static_cast<double>(k)));
        };
        return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
    }

    static std::string map_panel(Counter counter, const HeatMap& map, double top,
                                 const std::string& along) {
        const auto [least, most] = std::ranges::minmax(map.cells, {}, &HeatMap::Cell::value);
        const double span = most.value - least.value;
        const NumberStyle style = scale_for(info(counter).unit, most.value, "µs");
        const double wide = (svg_width - left - right) / static_cast<double>(map.xs.size());
        const double high = panel_height / static_cast<double>(map.ys.size());
        const double bottom = top + above + panel_height;
        std::string text = title_text(counter, style.unit, top);
        for (const HeatMap::Cell& cell : map.cells)
            text += fmt::format(
                "<rect class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                "fill=\"{}\"/>\n",
                left + static_cast<double>(cell.x) * wide,
                bottom - static_cast<double>(cell.y + 1) * high, wide, high,
                heat_color(span > 0 ? (cell.value - least.value) / span : 0));
        const std::size_t every_x = (map.xs.size() + 11) / 12;
        for (std::size_t i = 0; i < map.xs.size(); i += every_x)
            text += tick(left + (static_cast<double>(i) + 0.5) * wide, bottom + 16, "middle",
                         tick_text(map.xs[i]));
        const std::size_t every_y = (map.ys.size() + 9) / 10;
        for (std::size_t i = 0; i < map.ys.size(); i += every_y)
            text += tick(left - 6, bottom - (static_cast<double>(i) + 0.5) * high + 4, "end",
                         tick_text(map.ys[i]));
        text += tick(left - 6, top + 20, "end", shown(map.second));
        text += tick(svg_width - right, top + 20, "end",
                     fmt::format("over {}: dark {}, light {}", shown(along),
                                 number_text(least.value, estimate_style(style)),
                                 number_text(most.value, estimate_style(style))));
        return text + "</g>\n";
    }

    template <typename XOf, typename YOf>
    static std::string band(const Curve& curve, XOf x_of, YOf y_of) {
        std::string path;
        const auto go = [&](double x, double y) {
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_of(x), y_of(y));
        };
        for (const Curve::Place& place : curve.places)
            if (place.has_band) go(place.x, place.low);
        for (auto place = curve.places.rbegin(); place != curve.places.rend(); ++place)
            if (place->has_band) go(place->x, place->high);
        if (path.empty()) return {};
        return fmt::format("<path class=\"band f{}\" d=\"{}Z\"/>\n", curve.color % most_curves,
                           path);
    }
    // Of curves that lie on each other each has its own dashes, in the gaps of the others.
    static std::string dashes_of(const Curve& curve, const std::vector<Curve>& curves) {
        constexpr std::ptrdiff_t dash = 8;
        const auto is_alike = [&](const Curve& other) {
            return other.is_measured == curve.is_measured &&
                   std::ranges::equal(other.places, curve.places, [](const auto& a, const auto& b) {
                       return a.x == b.x && a.y == b.y;
                   });
        };
        const std::ptrdiff_t curves_here = std::ranges::count_if(curves, is_alike);
        if (curves_here == 1) return {};
        const std::ptrdiff_t drawn_before = std::count_if(curves.data(), &curve, is_alike);
        return fmt::format(" style=\"stroke-dasharray:{} {};stroke-dashoffset:-{}\"", dash,
                           dash * (curves_here - 1), dash * drawn_before);
    }
    template <typename XOf, typename YOf>
    static std::string line(const Curve& curve, const std::string& dashes, XOf x_of, YOf y_of) {
        std::string path;
        std::string marks;
        const bool has_marks = curve.places.size() <= most_marks;
        for (const Curve::Place& place : curve.places) {
            const double x = x_of(place.x);
            const double y = y_of(place.y);
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
            if (has_marks && (curve.is_measured || curve.places.size() == 1))
                marks +=
                    fmt::format("<circle class=\"f{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>",
                                curve.color, x, y);
        }
        return fmt::format("<path class=\"{} s{}\"{} d=\"{}\"/>{}\n",
                           curve.is_measured ? "measured" : "predicted", curve.color, dashes, path,
                           marks);
    }

    static std::string tick_text(double tick) {
        if (std::abs(tick) < 1e15 && std::floor(tick) == tick && tick >= 0)
            return grouped(static_cast<std::uint64_t>(tick));
        return fmt::format("{:.4g}", tick);
    }

    // Grows `top` by its height.
    std::string legend(double& top) const {
        std::string text;
        const auto put = [&](const std::string& mark, const std::string& label) {
            text += fmt::format("{}<text class=\"tick\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
                                mark, left + 30, top + 12, label);
            top += legend_line;
        };
        const auto stroke = [&](std::string_view classes) {
            return fmt::format("<path class=\"{}\" d=\"M{:.0f} {:.0f}h24\"/>", classes, left,
                               top + 8);
        };
        top += 4;
        const std::vector<std::string> labels = curves_.labels();
        const Labels distinct = distinct_labels(labels, shown_columns, false);
        for (std::size_t color = 0; color < std::min(labels.size(), most_curves); ++color)
            if (!labels[color].empty())
                put(stroke(fmt::format("{} s{}", has_measured_ ? "measured" : "predicted", color)),
                    xml_text(distinct.at(labels[color])));
        if (labels.size() > most_curves)
            put("", fmt::format("{} more are left out", labels.size() - most_curves));
        const auto swatch = [&](std::string_view classes) {
            return fmt::format(
                "<rect class=\"{} s0 f0\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"24\" height=\"10\"/>",
                classes, left, top + 3);
        };
        if (has_predicted_ && has_measured_)
            for (const char* side : {"predicted", "measured"})
                put(curves_.names().empty() ? stroke(fmt::format("{} s0", side))
                                            : swatch(fmt::format("bar {}", side)),
                    side);
        if (has_bands_)
            put(swatch("band"), !has_measured_ ? "intervals of estimates"
                                : !has_predicted_
                                    ? "quartiles of times"
                                    : "intervals of estimates, quartiles of measured times");
        return text;
    }

    void put_document(const std::string& body, double height) {
        constexpr std::array<std::string_view, most_curves> colors{
            "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
            "#8c6d31", "#7f7f7f", "#6a3d9a", "#b15928", "#1b9e77", "#e7298a"};
        const std::string title =
            xml_text(shown(curves_.title())) + (has_measured_ ? "" : ", predicted");
        text_.put(
            fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
                        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"t\">\n"
                        "<title id=\"t\">{2}</title>\n",
                        svg_width, height + 8, title));
        text_.put(
            "<style>\n"
            "text{font-family:system-ui,sans-serif;fill:#222}\n"
            ".head{font-size:15px;font-weight:600}.title{font-size:13px;font-weight:600}\n"
            ".tick{font-size:11px}.grid{stroke:#8884;fill:none}.back{fill:#fff}\n"
            ".measured,.predicted{fill:none;stroke-width:1.8}.predicted{stroke-dasharray:6 3}\n"
            ".band{opacity:.18}.cell{shape-rendering:crispEdges}\n"
            ".bar{stroke-width:1}.bar.predicted{fill-opacity:.25;stroke-dasharray:none}\n");
        for (std::size_t i = 0; i < colors.size(); ++i)
            text_.put(fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}\n", i, colors[i]));
        text_.put(
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#181818}}\n"
            "</style>\n");
        text_.put(
            fmt::format("<rect class=\"back\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n"
                        "<text class=\"head\" x=\"16\" y=\"24\">{}</text>\n",
                        svg_width, height + 8, title));
        text_.put(body, "</svg>\n");
    }

    ByteSink& out_;
    TextBuffer text_;
    Curves curves_;
    bool has_measured_ = false;
    bool has_predicted_ = false;
    bool has_maps_ = false;
    bool has_bands_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_svg(ByteSink& out, const TableStyle&) {
    return std::make_unique<SvgWriter>(out);
}

}  // namespace coalprof
