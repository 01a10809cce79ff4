// The text by which --array and --arg describe an array: its element type, its extents, the
// distances of neighbours in elements, and what it holds. "f32[2048][2048]", "i32[1000]=random:7",
// "@col.npy", "i32[1000]=@raw.bin", "bf16[4096,4096]:1,4096", Fortran's "f64(1000,1000)".
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
    std::string type = {};  // the type as it was typed; empty: not given
    std::vector<std::uint64_t> extents = {};
    std::vector<std::uint64_t> strides = {};  // one for each extent
    bool is_fortran = false;  // indices in (), from 1 on, the first one's neighbours close
    std::string file = {};    // the array holds what is in it; empty: there is none
    ArrayRule rule = ArrayRule::none;
    std::uint64_t seed = 1;  // seed of random numbers

    bool has_contents() const { return !file.empty() || rule != ArrayRule::none; }
    // Sets the strides as well: rows lie in one piece, in Fortran columns.
    void set_extents(std::vector<std::uint64_t> all);
    std::uint64_t elements() const;  // count from the first element to the last
};

// Throws UsageError, whose sentence begins with `option`.
ArrayText read_array_text(std::string_view text, std::string_view option, const std::string& hint);

// A number of elements as it is computed: 4096, 2048*2048, 1e6. Throws UsageError, likewise.
std::uint64_t parse_count(std::string_view text, std::string_view option, std::uint64_t least,
                          std::uint64_t most);
// The same; nothing if it is no such number.
std::optional<std::uint64_t> read_count(std::string_view text);
// How to write "1M"; empty: no such unit.
std::string hint_for_count(std::string_view text);

// "i32" is NumPy's name of "s32".
std::optional<ElementType> element_type_of_array(std::string_view word);

}  // namespace coalprof
