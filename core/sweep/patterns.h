// The built-in patterns, one row of text each: `coalprof PATTERN`, `coalprof patterns`, --help, the
// model, the kernels and the tests follow from the table. Adding a pattern: its row in
// patterns.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/pattern/plan.h"

namespace coalprof {

// What a pattern's parameter may be. `what` names it in messages: "strides", "groups of lanes".
struct ParameterLimits {
    std::uint64_t least = 0;
    std::uint64_t most = ~0ull;
    std::string_view what = {};
    std::string_view instead = {};  // sentence for a parameter that is too small
};

struct PatternInfo {
    std::string_view name;
    std::string_view formula;    // the formula as it is shown: "a[i + offset]"
    std::string_view parameter;  // the swept parameter's key
    std::string_view unit;       // what the parameter counts: "elements", "bytes", "lanes", ""
    Op default_op;
    std::string_view teaches;  // one sentence
    // The range swept when --range is not given; {N} stands for the bytes of N elements.
    std::string_view range;

    // The access, as in `coalprof formula`, with the names of PatternValues (patterns.cpp).
    std::string_view index;
    std::string_view parts = {};  // named parts that the others use: "rows = n / elements; "
    std::string_view shuffled_index = {};  // index with --order shuffle
    std::string_view condition = {};       // which threads take part
    std::string_view contiguous = "i";     // the second array's index in copy and add
    std::string_view table = {};           // index into a table of pointers to rows, read first
    std::string_view threads = "size / bytes";  // n
    std::string_view array_elements = {};       // empty: up to the highest index
    Space space = Space::global;

    std::string_view options = {};  // only this pattern's, as typed: "--order --seed"
    ParameterLimits limits = {};
    std::string_view holds_elements =
        {};                           // "a row": a parameter in bytes is one, of whole elements
    std::string_view too_small = {};  // where {0}, --size, has no thread; {1} is the parameter
    // A parameter in bytes whose plain numbers are still typed in elements, as the widths of rows
    // are; sizes with a unit are bytes.
    bool typed_in_elements = false;
    // The mapping of threads to elements, where blocks and rows could be confused; for --help.
    std::string_view mapping = {};
    // The key of the pattern's option whose words the pattern compares: all are swept where none
    // was chosen.
    std::string_view compares = {};
    // Useful data where none was asked for: enough for a time well above that of starting, except
    // where every warp is evaluated separately, and where only shared memory is read.
    std::uint64_t default_size_bytes = usual_size_bytes;

    std::string default_range(std::uint32_t element_bytes) const;
    // True if `option` is among its own: "--seed".
    bool takes(std::string_view option) const { return options.find(option) != options.npos; }
};

std::span<const PatternInfo> pattern_catalog();
// nullptr: unknown.
const PatternInfo* known_pattern(std::string_view name);
// Throws UsageError with the nearest name.
const PatternInfo& find_pattern(std::string_view name);

// The shape of the launch that a pattern makes of the requested one: tiles of a transpose decide
// how many elements a thread handles. Throws UsageError where it does not fit.
LaunchShape launch_shape(std::string_view pattern, const PatternOptions& options, ElementType type,
                         const LaunchShape& asked);

// Elements from one padded row to the next, of a matrix or a tile; nothing without padding.
std::optional<std::uint64_t> padded_row_elements(const Plan& plan);

// Columns of the pattern's tile with these options, chosen or by default. None: it has no tile.
// Throws UsageError for one that is not there.
std::optional<std::uint64_t> tile_columns(std::string_view pattern, const PatternOptions& options,
                                          ElementType type);

// Settles plan.shape and fills plan.program from everything else in the plan. Throws UsageError
// where it does not fit.
void build_program(Plan& plan);

}  // namespace coalprof
