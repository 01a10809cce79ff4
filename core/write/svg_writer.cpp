// `svg`: the counters that tell most as curves over what is swept, for papers and READMEs. A file
// of its own without scripts; light and dark as its reader wants it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "core/text/describe.h"
#include "core/text/units.h"
#include "core/write/number_text.h"
#include "core/write/result_columns.h"
#include "core/write/text_buffer.h"
#include "core/write/writers.h"
#include "core/write/xml_text.h"

namespace coalprof {
namespace {

constexpr std::size_t most_panels = 4;
constexpr std::size_t most_curves = 12;  // of a panel
constexpr std::size_t most_marks = 150;  // points that are drawn as such
constexpr double svg_width = 720;
constexpr double panel_height = 240;
constexpr double left = 84;
constexpr double right = 16;
constexpr double above = 30;  // of a panel: its title
constexpr double below = 26;  // its numbers along x
constexpr double legend_line = 18;

// What is asked for first, as far as there is something to see of it.
constexpr std::array favourites{Counter::duration_seconds,
                                Counter::bandwidth_bytes_per_second,
                                Counter::load_sectors_per_request,
                                Counter::store_sectors_per_request,
                                Counter::load_efficiency,
                                Counter::shared_load_wavefronts,
                                Counter::shared_store_wavefronts,
                                Counter::constant_requests,
                                Counter::atomic_sectors,
                                Counter::reduce_sectors,
                                Counter::local_load_sectors,
                                Counter::local_store_sectors,
                                Counter::dram_read_bytes,
                                Counter::l2_read_sectors,
                                Counter::load_sectors,
                                Counter::store_sectors};

// What can be drawn: beyond, scales overflow.
bool is_drawable(double value) { return std::abs(value) <= 1e300; }

struct Axis {
    double low = 0;
    double high = 1;
    std::vector<double> ticks;
};

// Round numbers, about `count` of them, from `low` to `high` and beyond to the next of them.
Axis axis_of(double low, double high, int count, bool keeps_ends) {
    if (!(high > low)) high = low + (low > 0 ? low : 1);
    const double rough = (high - low) / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (factor * power >= rough * 0.999) {
            step = factor * power;
            break;
        }
    Axis axis{low, high, {}};
    if (!keeps_ends) axis.high = std::ceil(high / step - 1e-9) * step;
    constexpr std::size_t most_ticks = 20;  // also where a step is lost beside the number
    for (double tick = std::ceil(low / step - 1e-9) * step;
         tick <= axis.high + step * 1e-9 && axis.ticks.size() < most_ticks; tick += step)
        axis.ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    return axis;
}

// Where points stand along x: the parameter that is swept, else their number.
struct Along {
    std::string title;
    std::vector<double> values;
    std::string own_key;  // of the parameter; empty: numbers
};

Along along_of(const ResultColumns& result) {
    Along along;
    const auto is_number = [](const Value& value) {
        return std::holds_alternative<std::int64_t>(value) ||
               std::holds_alternative<std::uint64_t>(value);
    };
    const ResultColumns::Parameter* chosen = nullptr;
    for (const auto* parameter : result.varying()) {
        const bool are_numbers =
            std::all_of(parameter->values.begin(), parameter->values.end(), is_number);
        if (!are_numbers) continue;
        if (!chosen || parameter->key == parameter_of(result.head.sweep)) chosen = parameter;
    }
    if (!chosen) {
        along.title = "point";
        for (std::size_t i = 0; i < result.names.size(); ++i)
            along.values.push_back(static_cast<double>(i));
        return along;
    }
    along.title = along.own_key = chosen->key;
    for (const Value& value : chosen->values) {
        const auto* signed_value = std::get_if<std::int64_t>(&value);
        along.values.push_back(signed_value ? static_cast<double>(*signed_value)
                                            : static_cast<double>(std::get<std::uint64_t>(value)));
    }
    return along;
}

struct Curve {
    std::string label;
    bool is_measured = false;
    std::size_t color = 0;
    struct Place {
        double x = 0;
        double y = 0;
        double low = 0;
        double high = 0;
        bool has_band = false;
    };
    std::vector<Place> places;  // by x
};

// "dlcm=cg machine=h200": what tells the curve of a point from the others.
std::string curve_key(const ResultColumns& result, const Along& along, std::size_t point) {
    std::string key;
    for (const auto* parameter : result.varying())
        if (parameter->key != along.own_key && along.own_key != "")
            key += fmt::format("{}{}={}", key.empty() ? "" : " ", parameter->key,
                               text_of(parameter->values[point]));
    return key;
}

class SvgWriter : public ResultSink {
 public:
    explicit SvgWriter(ByteSink& out) : out_(out) {}
    void begin(const ResultHead& head) override { gathered_.begin(head); }
    void point(const Point& point) override { gathered_.point(point); }

    void finish(const ResultTail& tail) override {
        gathered_.finish(tail);
        for (const ResultColumns& result : gathered_.results()) prepare(result);
        std::string body;
        double top = 34;
        for (const Counter counter : counters()) {
            body += panel(counter, top);
            top += above + panel_height + below;
        }
        body += legend(top);
        put_document(body, top);
        text_.hand_over(out_);
    }

 private:
    void prepare(const ResultColumns& result) {
        alongs_.push_back(along_of(result));
        auto& keys = keys_.emplace_back();
        const std::string of_result =
            gathered_.results().size() > 1 ? label_of(result.head) : std::string();
        std::set<std::string> own;
        for (std::size_t i = 0; i < result.names.size(); ++i) {
            const std::string key = curve_key(result, alongs_.back(), i);
            std::string label = of_result;
            if (!key.empty()) label += (label.empty() ? "" : ": ") + key;
            const auto color = colors_.emplace(label, colors_.size()).first->second;
            keys.push_back(color);
        }
    }

    std::vector<Counter> counters() const {
        std::vector<Counter> chosen;
        const std::vector<Counter>& listed = gathered_.results().front().head.columns;
        const auto consider = [&](Counter counter, bool must_vary) {
            if (chosen.size() == most_panels ||
                std::find(chosen.begin(), chosen.end(), counter) != chosen.end())
                return;
            std::set<double> values;
            for (const ResultColumns& result : gathered_.results())
                for (const bool is_measured : {false, true})
                    if (const ResultColumn* column = result.find(counter, is_measured))
                        for (const double value : column->values)
                            if (is_drawable(value) && values.size() < 2) values.insert(value);
            if (values.size() >= (must_vary ? 2 : 1)) chosen.push_back(counter);
        };
        for (const Counter counter : listed) consider(counter, false);
        if (!listed.empty()) return chosen;
        for (const Counter counter : favourites) consider(counter, true);
        if (chosen.empty())
            for (const Counter counter : favourites) consider(counter, false);
        return chosen;
    }

    std::vector<Curve> curves_of(Counter counter) const {
        std::map<std::pair<std::size_t, bool>, Curve> curves;
        for (std::size_t r = 0; r < gathered_.results().size(); ++r)
            for (const bool is_measured : {false, true}) {
                const ResultColumn* column = gathered_.results()[r].find(counter, is_measured);
                if (!column) continue;
                for (std::size_t i = 0; i < column->values.size(); ++i) {
                    if (!is_drawable(column->values[i])) continue;
                    const std::size_t color = keys_[r][i];
                    if (color >= most_curves) continue;
                    Curve& curve = curves[{color, is_measured}];
                    curve.color = color;
                    curve.is_measured = is_measured;
                    const bool has_band = !column->low.empty() && is_drawable(column->low[i]) &&
                                          is_drawable(column->high[i]);
                    curve.places.push_back({alongs_[r].values[i], column->values[i],
                                            has_band ? column->low[i] : 0,
                                            has_band ? column->high[i] : 0, has_band});
                }
            }
        std::vector<Curve> list;
        for (auto& [key, curve] : curves) {
            std::sort(curve.places.begin(), curve.places.end(),
                      [](const auto& a, const auto& b) { return a.x < b.x; });
            list.push_back(std::move(curve));
        }
        return list;
    }

    std::string panel(Counter counter, double top) {
        const std::vector<Curve> curves = curves_of(counter);
        double x_low = HUGE_VAL;
        double x_high = -HUGE_VAL;
        std::vector<double> values;
        for (const Curve& curve : curves)
            for (const Curve::Place& place : curve.places) {
                x_low = std::min(x_low, place.x);
                x_high = std::max(x_high, place.x);
                values.push_back(std::max(place.y, place.has_band ? place.high : place.y));
                has_measured_ |= curve.is_measured;
                has_predicted_ |= !curve.is_measured;
            }
        const double y_high = values.empty() ? 1 : *std::max_element(values.begin(), values.end());
        const double y_low =
            std::min(0.0, values.empty() ? 0 : *std::min_element(values.begin(), values.end()));
        const Axis x_axis = axis_of(x_low, x_high, 8, true);
        const NumberStyle style = scale_for(info(counter).unit, y_high, "µs");
        Axis y_axis = axis_of(y_low / style.divisor, y_high / style.divisor, 5, false);
        const double bottom = top + above + panel_height;
        const auto x_of = [&](double x) {
            return left +
                   (x - x_axis.low) / (x_axis.high - x_axis.low) * (svg_width - left - right);
        };
        const auto y_of = [&](double y) {
            const double share = (y / style.divisor - y_axis.low) / (y_axis.high - y_axis.low);
            return bottom - share * panel_height;
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
            svg_width - right, top + 20, xml_text(shown(alongs_.front().title)));
        for (const Curve& curve : curves) {
            text += band(curve, x_of, y_of);
            text += line(curve, x_of, y_of);
        }
        return text + "</g>\n";
    }

    template <typename XOf, typename YOf>
    static std::string band(const Curve& curve, XOf x_of, YOf y_of) {
        std::string there;
        std::string back;
        for (const Curve::Place& place : curve.places) {
            if (!place.has_band) continue;
            there += fmt::format("{}{:.1f} {:.1f}", there.empty() ? "M" : "L", x_of(place.x),
                                 y_of(place.low));
            back = fmt::format("L{:.1f} {:.1f}", x_of(place.x), y_of(place.high)) + back;
        }
        if (there.empty()) return {};
        return fmt::format("<path class=\"band f{}\" d=\"{}{}Z\"/>\n", curve.color % most_curves,
                           there, back);
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
        std::vector<std::string> labels(colors_.size());
        for (const auto& [label, color] : colors_) labels[color] = label;
        for (std::size_t color = 0; color < std::min(labels.size(), most_curves); ++color)
            if (!labels[color].empty())
                put(stroke(fmt::format("measured s{}", color)), xml_text(shown(labels[color])));
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
        const std::string title = xml_text(shown(label_of(gathered_.results().front().head)));
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
    ResultGatherer gathered_;
    std::vector<Along> alongs_;                   // of the results
    std::vector<std::vector<std::size_t>> keys_;  // colors of their points
    std::map<std::string, std::size_t> colors_;   // of curves, by label
    bool has_measured_ = false;
    bool has_predicted_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_svg(ByteSink& out, const TableStyle&) {
    return std::make_unique<SvgWriter>(out);
}

}  // namespace coalprof
