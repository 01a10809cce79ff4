// Sentences about a cost that depends on one parameter: which multiples are cheap, does it rise,
// which value costs most. Each holds for all measured values, and claims no more about others than
// those show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"

namespace coalprof {

struct ValueCost {
    Value value;
    double ratio;  // to the ideal, or the amount itself where no ideal is known
};

// Without a full stop; empty: none found. `is_over_ideal`: the ideals differ, so that only the
// ratio to each compares.
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
