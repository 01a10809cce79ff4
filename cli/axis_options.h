// The options that shape a launch, as typed: one value, or several, which make an axis of the
// sweep. All throw UsageError for what cannot be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/sweep/sweep.h"

namespace coalprof {

// The blocks or grids of an option, each still a word: "256,32x8", "64..1024*2".
std::vector<std::string> words_of_dimensions(const std::string& text, std::string_view option);

void add_type(Sweep& sweep, const std::string& text);
void add_op(Sweep& sweep, const std::string& text);
void add_size(Sweep& sweep, const std::string& text);
void add_block(Sweep& sweep, const std::string& text);
void add_grid(Sweep& sweep, const std::string& text);  // after the size
void add_per_thread(Sweep& sweep, const std::string& text);
void add_variant(Sweep& sweep, const std::string& text);
void add_order(Sweep& sweep, const std::string& text);
void add_seed(Sweep& sweep, const std::string& text);
void add_member(Sweep& sweep, const std::string& text);
void add_pitch(Sweep& sweep, const std::string& text);
void add_tile(Sweep& sweep, const std::string& text);

// The values of the pattern's parameter: numbers count what the pattern takes, sizes are bytes.
// Without a text its own range.
void set_values(Sweep& sweep, const PatternInfo& pattern, const std::string& text,
                const std::string& option);

}  // namespace coalprof
