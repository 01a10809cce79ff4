// The text by which --array and --arg describe an array: its element type, its extents, and what it
// holds. "f32[2048][2048]", "i32[1000]=random:7", "@col.npy", "i32[1000]=@raw.bin".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pattern/plan.h"

namespace coalprof {

enum class ArrayRule : std::uint8_t { none, zeros, iota, random };

struct ArrayText {
    std::string type = {};  // as it was typed; empty: it is not said
    std::vector<std::uint64_t> extents = {};
    std::string file = {};  // the array holds what is in it; empty: there is none
    ArrayRule rule = ArrayRule::none;
    std::uint64_t seed = 1;  // of random numbers

    bool has_contents() const { return !file.empty() || rule != ArrayRule::none; }
    std::uint64_t elements() const;
};

// Throws UsageError, whose sentence begins with `option`.
ArrayText read_array_text(std::string_view text, std::string_view option, const std::string& hint);

// "i32" is NumPy's name of "s32".
std::optional<ElementType> element_type_of_array(std::string_view word);

}  // namespace coalprof
