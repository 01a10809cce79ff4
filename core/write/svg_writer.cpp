// `svg`: the counters that tell most as curves over what is swept, for papers and READMEs. A file
// of its own without scripts; light and dark as its reader wants it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text/describe.h"
#include "core/text/units.h"
#include "core/write/curves.h"
#include "core/write/labels.h"
#include "core/write/number_text.h"
#include "core/write/text_buffer.h"
#include "core/write/writers.h"
#include "core/write/xml_text.h"

namespace coalprof {
namespace {

constexpr std::size_t most_marks = 150;  // points that are drawn as such
constexpr double svg_width = 720;
constexpr double panel_height = 240;
constexpr double left = 84;
constexpr double right = 16;
constexpr double above = 30;  // of a panel: its title
constexpr double below = 26;  // its numbers along x
constexpr double legend_line = 18;

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
            body += panel(counter, top);
            top += above + panel_height + below;
        }
        body += legend(top);
        put_document(body, top);
        text_.hand_over(out_);
    }

 private:
    std::string panel(Counter counter, double top) {
        const std::vector<Curve> curves = curves_.of(counter);
        std::vector<double> values;
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places) {
                values.push_back(std::max(place.y, place.has_band ? place.high : place.y));
                has_measured_ |= curve.is_measured;
                has_predicted_ |= !curve.is_measured;
            }
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
        std::string text =
            fmt::format("<g><text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}{}</text>\n", left,
                        top + 20, xml_text(key_of(counter)),
                        style.unit.empty() ? "" : fmt::format(" ({})", xml_text(style.unit)));
        for (const double tick : y_axis.ticks)
            text += fmt::format(
                "<path class=\"grid\" d=\"M{0:.1f} {1:.1f}H{2:.1f}\"/><text class=\"tick\" "
                "text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5}</text>\n",
                left, y_of(tick * style.divisor), svg_width - right, left - 6,
                y_of(tick * style.divisor) + 4, tick_text(tick));
        for (const double tick : x_axis.ticks)
            text += fmt::format(
                "<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" "
                "y=\"{:.1f}\">{}</text>\n",
                x_of(tick), bottom + 16, tick_text(tick));
        text += fmt::format(
            "<text class=\"tick\" text-anchor=\"end\" x=\"{:.1f}\" y=\"{:.1f}\">{}"
            "</text>\n",
            svg_width - right, top + 20, xml_text(shown(curves_.along())));
        for (const Curve& curve : curves) {
            text += band(curve, x_of, y_of);
            text += line(curve, x_of, y_of);
        }
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
    template <typename XOf, typename YOf>
    static std::string line(const Curve& curve, XOf x_of, YOf y_of) {
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
        return fmt::format("<path class=\"{} s{}\" d=\"{}\"/>{}\n",
                           curve.is_measured ? "measured" : "predicted", curve.color, path, marks);
    }

    static std::string tick_text(double tick) {
        if (std::abs(tick) < 1e15 && std::floor(tick) == tick && tick >= 0)
            return grouped(static_cast<std::uint64_t>(tick));
        return fmt::format("{:.4g}", tick);
    }

    // Grows `top` by what it takes.
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
                put(stroke(fmt::format("measured s{}", color)),
                    xml_text(distinct.at(labels[color])));
        if (labels.size() > most_curves)
            put("", fmt::format("{} more are left out", labels.size() - most_curves));
        if (has_predicted_)
            put(stroke("predicted s0"), "predicted, estimates with their intervals");
        if (has_measured_) put(stroke("measured s0"), "measured, with the quartiles of times");
        return text;
    }

    void put_document(const std::string& body, double height) {
        constexpr std::array<std::string_view, most_curves> colors{
            "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
            "#8c6d31", "#7f7f7f", "#6a3d9a", "#b15928", "#1b9e77", "#e7298a"};
        const std::string title = xml_text(shown(curves_.title()));
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
            ".band{opacity:.18}\n");
        for (std::size_t i = 0; i < colors.size(); ++i)
            text_.put(fmt::format(".s{0}{{stroke:{1}}}.f{0}{{fill:{1}}}\n", i, colors[i]));
        text_.put(
            "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#181818}}\n"
            "</style>\n");
        text_.put(
            fmt::format("<rect class=\"back\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n"
                        "<text class=\"head\" x=\"16\" y=\"24\">{}</text>\n",
                        svg_width, height + 8, title));
        text_.put(body);
        text_.put("</svg>\n");
    }

    ByteSink& out_;
    TextBuffer text_;
    Curves curves_;
    bool has_measured_ = false;
    bool has_predicted_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_svg(ByteSink& out, const TableStyle&) {
    return std::make_unique<SvgWriter>(out);
}

}  // namespace coalprof
