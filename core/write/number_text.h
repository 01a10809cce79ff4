// Numbers for people: digits in groups of three, a fixed number of decimals, units that keep a
// column short. Output for programs never comes through here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result/counter.h"
#include "core/write/text_buffer.h"

namespace coalprof {

// The format of a column's numbers: divided, then rounded to this many decimals.
struct NumberStyle {
    double divisor = 1;
    int decimals = 0;          // 0 to 3
    std::string_view unit;     // unit of the printed number, "MiB"; empty: a plain count
    bool is_estimate = false;  // three significant digits each, whatever the decimals
};

// `value` is finite and not negative. A number that the decimals would round to 0 keeps three
// digits.
void put_number(TextBuffer& out, double value, const NumberStyle& style);
std::string number_text(double value, const NumberStyle& style);

// A scale for numbers of this unit up to `largest`: "MiB", "GB/s", per cent. `microseconds` is the
// terminal's spelling of that unit.
NumberStyle scale_for(Unit unit, double largest, std::string_view microseconds);

// The format of a column with these numbers of one counter, without decimals that none of them
// needs.
NumberStyle style_for(const CounterInfo& counter, const std::vector<double>& numbers, bool ascii);

// The same for estimates: the first three digits of each number are shown, and no others.
NumberStyle estimate_style(NumberStyle style);

}  // namespace coalprof
