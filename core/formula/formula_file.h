// A saved set of formulas: `coalprof formula --file FILE.json`. A project's own patterns, each with
// a name, run as one sweep.
//
//   {"formula": [
//     {"name": "padded row", "expr": "i / 1000 * pitch + i % 1000", "vars": {"pitch":
//     "1000..1024:8"}}
//   ]}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formula/formula.h"
#include "core/formula/tree.h"
#include "core/text/files_in_use.h"

namespace coalprof {

// Options that are missing here come from the command line.
struct SavedFormula {
    std::string name;
    std::string expr;
    TextPlace expr_place;
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> vars;
    std::optional<Op> op;
    std::optional<ElementType> type;
    std::optional<std::uint64_t> size_bytes;
    std::optional<Dimensions> block;
    std::optional<GridSize> grid;
    std::optional<std::uint32_t> per_thread;
};

inline constexpr std::size_t max_saved_formulas = 1000;

// `file` names the text in messages (FILE:LINE:COLUMN). At least one formula. Throws UsageError
// naming the place: for text that cannot be read, keys that do not exist, values that do not fit or
// are more than most_range_points in all, names that come twice, and formulas that are wrong.
std::vector<SavedFormula> parse_formula_file(std::string_view text, const std::string& file);

// Reads the file; "-" is standard input. Throws Error (exit code 2) where it cannot be read and
// UsageError where it is larger than 1 MiB.
std::vector<SavedFormula> read_formula_file(const std::string& path);

// "in=f32[2048][2048]", "col=@col.npy", "col=i32[1000]=random:7", "col=i32[1000]=@raw.bin". Throws
// UsageError.
DeclaredArray read_declared_array(const std::string& typed);

}  // namespace coalprof
