// The curves of results, for formats that draw: the most informative counters, the axis of the
// points, and the values that distinguish curves.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/write/columns.h"

namespace coalprof {

inline constexpr std::size_t most_panels = 4;
inline constexpr std::size_t most_curves = 12;  // limit of a panel

struct PlotAxis {
    double low = 0;
    double high = 1;
    std::vector<double> ticks;
    bool is_log = false;
    // The position of a value, from 0 at the low end to 1 at the high one, and beyond.
    double share_of(double value) const;
};

// About `count` round numbers from `low` to `high`, and the next ones beyond.
PlotAxis axis_of(double low, double high, int count, bool keeps_ends);

struct Curve {
    bool is_measured = false;
    std::size_t color = 0;
    struct Place {
        double x = 0;
        double y = 0;
        double low = 0;
        double high = 0;
        bool has_band = false;
    };
    std::vector<Place> places;  // sorted by x
};

// The axis of the swept values: logarithmic if each is a multiple of the one before (1..1024*2);
// its ticks are then those values.
PlotAxis axis_along(const std::vector<Curve>& curves, int count);

// A counter over two parameters that are whole numbers, each of more than two values.
struct HeatMap {
    std::string second;      // the parameter that goes up
    std::vector<double> xs;  // rising
    std::vector<double> ys;
    struct Cell {
        std::size_t x = 0;  // index
        std::size_t y = 0;
        double value = 0;
    };
    std::vector<Cell> cells;
};

// Gathers results as ResultGatherer does.
class Curves {
 public:
    void begin(const ResultHead& head) { gathered_.begin(head); }
    void point(const Point& point) { gathered_.point(point); }
    void finish(const ResultTail& tail);

    // Those of meta.counters, else the first that vary; at most most_panels.
    std::vector<Counter> counters() const;
    // The predicted curves before the measured ones of the same color.
    std::vector<Curve> of(Counter counter) const;
    // None for several results, or without two such parameters: these have curves. Measured numbers
    // if every point has one.
    std::optional<HeatMap> map_of(Counter counter) const;
    // By color. One curve alone has no name.
    std::vector<std::string> labels() const;
    std::string title() const { return label_of(gathered_.results().front().head); }
    // The swept parameter of the first result.
    const std::string& along() const { return alongs_.front().title; }
    // Points without a number on the axis, such as kernels: x is the index of the name.
    const std::vector<std::string>& names() const { return names_; }

 private:
    // The position of points along x: the swept parameter, else their number.
    struct Along {
        std::string title;
        std::vector<double> values;
        std::string own_key;  // key of the parameter; empty: numbers
    };
    static Along along_of(const ResultColumns& result);
    void stand_along_names();
    static std::string name_to_show(const ResultColumns& result, std::size_t point);
    static std::string key_of_curve(const std::vector<const ResultColumns::Parameter*>& telling,
                                    std::size_t point);

    ResultGatherer gathered_;
    std::vector<Along> alongs_;                   // one for each result
    std::vector<std::vector<std::size_t>> keys_;  // colors of their points
    std::map<std::string, std::size_t> colors_;   // curve's label -> colour
    std::vector<std::string> names_;              // empty if any result is along a number
};

}  // namespace coalprof
