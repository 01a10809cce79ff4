#include "core/write/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "core/write/table_style.h"

namespace coalprof {
namespace {

// Counters that are drawn first, as far as they vary.
constexpr std::array favourites{Counter::load_sectors_per_request,
                                Counter::store_sectors_per_request,
                                Counter::duration_seconds,
                                Counter::bandwidth_bytes_per_second,
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

// Scales would overflow beyond this.
bool is_drawable(double value) { return std::abs(value) <= 1e300; }

}  // namespace

PlotAxis axis_of(double low, double high, int count, bool keeps_ends) {
    if (!(high > low)) high = low + (low > 0 ? low : 1);
    const double rough = (high - low) / count;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    double step = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (factor * power >= rough * 0.999) {
            step = factor * power;
            break;
        }
    PlotAxis axis{low, high, {}};
    if (!keeps_ends) axis.high = std::ceil(high / step - 1e-9) * step;
    constexpr std::size_t most_ticks = 20;  // also if a step is lost in rounding
    for (double tick = std::ceil(low / step - 1e-9) * step;
         tick <= axis.high + step * 1e-9 && axis.ticks.size() < most_ticks; tick += step)
        axis.ticks.push_back(std::abs(tick) < step * 1e-9 ? 0 : tick);
    return axis;
}

double PlotAxis::share_of(double value) const {
    if (is_log) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
}

namespace {
// Whole numbers as ticks, for parameters.
PlotAxis with_whole_ticks(PlotAxis axis) {
    std::erase_if(axis.ticks, [](double tick) { return tick != std::floor(tick); });
    return axis;
}
}  // namespace

PlotAxis axis_along(const std::vector<Curve>& curves, int count) {
    std::set<double> values;
    for (const Curve& curve : curves)
        for (const Curve::Place& place : curve.places) values.insert(place.x);
    if (values.empty()) return {};
    const double low = *values.begin();
    const double high = *values.rbegin();
    constexpr double least_factor = 1.25;  // step from one value to the next
    constexpr double least_span = 8;
    const auto is_near = [](double a, double b) { return b < a * least_factor; };
    if (low <= 0 || high < least_span * low ||
        std::adjacent_find(values.begin(), values.end(), is_near) != values.end())
        return with_whole_ticks(axis_of(low, high, count, true));
    PlotAxis axis{.low = low, .high = high, .ticks = {}, .is_log = true};
    constexpr std::size_t most_ticks = 12;
    const std::size_t step = (values.size() + most_ticks - 1) / most_ticks;
    std::size_t number = 0;
    for (const double value : values)
        if (number++ % step == 0) axis.ticks.push_back(value);
    return axis;
}

Curves::Along Curves::along_of(const ResultColumns& result) {
    Along along;
    const auto is_number = [](const Value& value) {
        return std::holds_alternative<std::int64_t>(value) ||
               std::holds_alternative<std::uint64_t>(value);
    };
    const ResultColumns::Parameter* chosen = nullptr;
    for (const auto* parameter : result.varying()) {
        const bool are_numbers = std::ranges::all_of(parameter->values, is_number);
        const bool is_swept = parameter->key == parameter_of(result.head.sweep);
        if (are_numbers && (!chosen || is_swept)) chosen = parameter;
        if (are_numbers || !is_swept) continue;
        chosen = nullptr;  // along names, such as lines of a program
        break;
    }
    if (!chosen) {
        along.title = "point";
        for (std::size_t i = 0; i < result.names.size(); ++i)
            along.values.push_back(static_cast<double>(i));
        return along;
    }
    along.title = along.own_key = chosen->key;
    for (const Value& value : chosen->values) along.values.push_back(*number_of(&value));
    return along;
}

// "dlcm=cg machine=h200": the values that distinguish the curve of a point.
std::string Curves::key_of_curve(const std::vector<const ResultColumns::Parameter*>& telling,
                                 std::size_t point) {
    std::string key;
    for (const auto* parameter : telling)
        if (parameter->key != source_file_parameter)
            key += fmt::format("{}{}={}", key.empty() ? "" : " ", parameter->key,
                               text_of(parameter->values[point]));
    return key;
}

// Names of kernels are long: their short form and the launch identify them.
std::string Curves::name_to_show(const ResultColumns& result, std::size_t point) {
    const auto text = [&](std::string_view key) {
        const auto* known = result.find(key);
        return known ? text_of(known->values[point]) : std::string();
    };
    const bool is_kernel = parameter_of(result.head.sweep) == "kernel" && !text("kernel").empty();
    if (is_kernel)
        return fmt::format("{}<<<{}, {}>>>", text("kernel"), text("grid"), text("block"));
    constexpr std::array<std::string_view, 3> named{"run", "kernel", "warps"};
    if (std::ranges::find(named, result.head.sweep.pattern) != named.end())
        return result.names[point];
    const std::string key = key_of_curve(result.distinguishing({}), point);
    return key.empty() ? result.names[point] : key;
}

// Points of one name are at one position, in all results.
void Curves::stand_along_names() {
    if (std::ranges::any_of(alongs_, [](const Along& one) { return !one.own_key.empty(); })) return;
    std::map<std::string, std::size_t> places;
    for (std::size_t r = 0; r < alongs_.size(); ++r)
        for (std::size_t i = 0; i < alongs_[r].values.size(); ++i) {
            const std::string& name = gathered_.results()[r].names[i];
            const auto [at, is_new] = places.emplace(name, names_.size());
            if (is_new) names_.push_back(name_to_show(gathered_.results()[r], i));
            alongs_[r].values[i] = static_cast<double>(at->second);
        }
}

void Curves::finish(const ResultTail& tail) {
    gathered_.finish(tail);
    for (const ResultColumns& result : gathered_.results()) {
        const Along& along = alongs_.emplace_back(along_of(result));
        auto& keys = keys_.emplace_back();
        const auto telling = along.own_key.empty() ? std::vector<const ResultColumns::Parameter*>()
                                                   : result.distinguishing(along.own_key);
        const std::string of_result =
            gathered_.results().size() > 1 ? label_of(result.head) : std::string();
        for (std::size_t i = 0; i < result.names.size(); ++i) {
            const std::string key = key_of_curve(telling, i);
            std::string label = of_result;
            if (!key.empty()) label += (label.empty() ? "" : ": ") + key;
            keys.push_back(colors_.emplace(label, colors_.size()).first->second);
        }
    }
    stand_along_names();
}

std::vector<Counter> Curves::counters() const {
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

std::vector<Curve> Curves::of(Counter counter) const {
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

std::optional<HeatMap> Curves::map_of(Counter counter) const {
    const ResultColumns& result = gathered_.results().front();
    const std::vector<const ResultColumns::Parameter*> varying = result.varying();
    if (gathered_.results().size() != 1 || varying.size() != 2) return std::nullopt;
    const auto* second = varying[varying[0]->key == alongs_[0].own_key ? 1 : 0];
    std::vector<double> along_y;
    for (const Value& value : second->values)
        if (const auto number = natural_number(value))
            along_y.push_back(static_cast<double>(*number));
    const ResultColumn* column = result.find(counter, true);
    const auto has_gap = [](double value) { return !is_drawable(value); };
    if (!column || std::ranges::any_of(column->values, has_gap))
        column = result.find(counter, false);
    const std::vector<double>& along_x = alongs_[0].values;
    if (!column || alongs_[0].own_key.empty() || along_y.size() != along_x.size())
        return std::nullopt;
    HeatMap map{.second = second->key, .xs = along_x, .ys = along_y, .cells = {}};
    for (std::vector<double>* values : {&map.xs, &map.ys}) {
        std::ranges::sort(*values);
        values->erase(std::unique(values->begin(), values->end()), values->end());
        if (values->size() < 3) return std::nullopt;
    }
    const auto index = [](const std::vector<double>& values, double value) {
        return static_cast<std::size_t>(std::ranges::lower_bound(values, value) - values.begin());
    };
    for (std::size_t i = 0; i < along_x.size(); ++i)
        if (is_drawable(column->values[i]))
            map.cells.push_back(
                {index(map.xs, along_x[i]), index(map.ys, along_y[i]), column->values[i]});
    return map;
}

std::vector<std::string> Curves::labels() const {
    std::vector<std::string> labels(colors_.size());
    for (const auto& [label, color] : colors_) labels[color] = label;
    return labels;
}

}  // namespace coalprof
