// The catalog: every built-in pattern, in one table that feeds the sweep, `coalprof patterns`,
// --help and the tests. Adding a pattern: its formula (formulas.h), an entry here, a test.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/pattern/plan.h"

namespace coalprof {

struct PatternInfo {
    std::string_view name;
    std::string_view formula;    // "a[i + offset]"
    std::string_view parameter;  // the swept parameter's key
    std::string_view unit;       // of the parameter: "elements", "bytes", "lanes", ""
    Op default_op;
    std::string_view teaches;  // one sentence
    std::string_view options;  // only this pattern's, as typed: "--order --seed"; empty: none
    // The range swept when --range is not given; it may depend on the width of an element.
    std::string (*default_range)(std::uint32_t element_bytes);
    // The program of a plan; throws UsageError where value, type, op or size do not fit.
    Program (*make)(const Plan& plan);
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

// Elements from one padded row to the next, of a matrix or a tile; none: without padding.
std::optional<std::uint64_t> padded_row_elements(const Plan& plan);

// Columns of the pattern's tile with these options, chosen or by default. None: it has no tile.
// Throws UsageError for one that is not there.
std::optional<std::uint64_t> tile_columns(std::string_view pattern, const PatternOptions& options,
                                          ElementType type);

// Settles plan.shape and fills plan.program from everything else in the plan. Throws UsageError
// where it does not fit.
void build_program(Plan& plan);

}  // namespace coalprof
