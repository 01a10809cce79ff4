// Columns of a format whose columns are fixed. The first points settle them, and are held back
// until then: a sweep's later points have the same counters, and a file of mixed warps shows all of
// its instructions early.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

// Points considered before columns are settled.
inline constexpr std::size_t settling_points = 1000;

struct PrintedColumns {
    std::vector<std::string> parameters;  // keys, in order of appearance
    std::vector<Counter> predicted;       // in output order
    std::vector<Counter> measured;
    std::vector<Counter> estimated;  // the predicted ones with intervals, in output order
    bool limits = false;
    bool timing = false;
};

// The set of existing counters.
class SeenCounters {
 public:
    void add(Counter counter) { seen_[static_cast<std::size_t>(counter)] = true; }
    void add(const Readings& readings) {
        readings.each([this](Counter counter, const Reading&) { add(counter); });
    }
    std::vector<Counter> in_output_order() const;

 private:
    std::array<bool, counter_count> seen_{};
};

// The keys of the points' parameters, in order of appearance.
std::vector<std::string> parameter_keys(const std::vector<Point>& points);

// True for a parameter that says the same as another one and does not distinguish points: a size
// does where there is a grid.
bool follows_from_others(std::string_view key, bool has_grid);

// The parameter's value if it is a whole number from 0 on.
std::optional<std::uint64_t> natural_number(const Value& value);

PrintedColumns columns_of(const ResultHead& head, const std::vector<Point>& points);

}  // namespace coalprof
