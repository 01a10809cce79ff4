// A sweep in one sentence: "offsets that are no multiple of 8 cost 25 % more sectors". It is made
// from all points, holds for every one of them, and is absent if no such sentence holds, or if they
// differ in several parameters.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result/result.h"

namespace coalprof {

class SweepSummary {
 public:
    void begin(const ResultHead& head);
    void look_at(const Point& point);
    // Ends in a full stop; empty if none was found.
    std::string sentence() const;

    // The cost of an access, with its ideal if known.
    struct Cost {
        double spent = 0;
        std::optional<double> ideal = {};
    };
    // Sectors, bytes moved (for machines without sectors), passes of shared and of constant memory,
    // sectors of local memory.
    static constexpr std::size_t kinds = 5;
    struct Time {
        double low = 0;
        double middle = 0;
        double high = 0;
        bool is_measured = false;
    };
    struct SeenPoint {
        NamedValues parameters;
        std::array<std::optional<Cost>, kinds> costs;
        std::optional<Time> time;
        std::optional<double> useful_bytes;
    };

 private:
    bool is_of_sweep_ = false;
    bool has_grid_ = false;
    std::vector<SeenPoint> points_;
};

// Sentences about a cost that depends on one parameter: which multiples are cheap, does it rise,
// which value costs most. Each holds for all measured values, and claims no more about others than
// those show.
struct ValueCost {
    Value value;
    double ratio;  // ratio to the ideal, or the amount itself where no ideal is known
};

// Without a full stop; empty if none was found. `is_over_ideal`: the ideals differ, so that only
// the ratio to each compares.
std::string sentence_of(std::string_view key, std::string_view noun, bool is_over_ideal,
                        std::vector<ValueCost> samples);

inline constexpr double least_ratio_said = 1.01;  // smaller ratios are noise
bool are_equal_costs(double a, double b);
// "25 % more sectors", "2 to 8 times the sectors": the amount beyond 1.
std::string more_text(double low, double high, std::string_view noun);
// "offsets", "values of N".
std::string plural(std::string_view key);
// "the stride", "struct_bytes", "N"
std::string with_article(std::string_view key);
std::string value_name(const Value& value);

}  // namespace coalprof
