#include "core/sweep/transpose.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/formula/formula.h"
#include "core/pattern/builder.h"
#include "core/pattern/launch_options.h"
#include "core/text/error.h"
#include "core/text/name_list.h"

namespace coalprof {
namespace {

constexpr std::array<std::uint64_t, 3> tiles{16, 32, 64};

struct Matrix {
    std::uint64_t width = 0;
    std::uint64_t height = 0;
};

// The program of all elements of the matrix, each a thread's.
Program program_of(const Plan& plan, const Matrix& matrix, const std::string& text,
                   const std::vector<std::pair<std::string, std::uint64_t>>& numbers) {
    std::vector<std::string> names;
    FormulaLaunch launch{.type = plan.type, .shape = plan.shape};
    for (const auto& [name, value] : numbers) {
        names.push_back(name);
        launch.values.push_back(static_cast<std::int64_t>(value));
    }
    launch.shape.size_bytes = matrix.width * matrix.height * bytes_of(plan.type);
    launch.shape.grid.reset();
    auto formula = std::make_shared<ParsedFormula>(parse_formula(text, names));
    formula->is_of_catalog = true;
    return make_formula_program(formula, launch);
}

constexpr std::uint32_t bank_bytes = 4;
constexpr std::uint32_t banks = 32;

// A word of a bank, or one element where that is wider: either way neighbouring rows begin at
// distances of an odd number of words or elements. Where a warp goes down two columns of 16 words,
// 17 words to a row would let lanes 0 and 31 meet both in a row and in a column; 18 separate the
// columns.
std::uint64_t padding_elements(std::uint64_t side, std::uint32_t element_bytes) {
    if (side < warp_lanes && element_bytes == bank_bytes) return warp_lanes / side;
    return element_bytes < bank_bytes ? bank_bytes / element_bytes : 1;
}

// Rows that lie in the banks together exchange columns in the same way, and the next ones by a step
// more: as many columns as a pass takes of a row of the tile's transpose, or as share a word. Then
// a pass uses each bank once, both along rows and down columns. Of row and column, the place of the
// element in the tile.
std::string swizzled_place(std::string_view row, std::string_view column, std::uint64_t side,
                           std::uint32_t element_bytes) {
    const std::uint64_t row_bytes = side * element_bytes;
    const std::uint64_t rows = std::max<std::uint64_t>(1, banks * bank_bytes / row_bytes);
    const std::uint64_t lanes =  // of a pass
        std::min<std::uint64_t>(warp_lanes, banks * bank_bytes / element_bytes);
    const std::uint64_t of_a_word = std::max<std::uint64_t>(1, bank_bytes / element_bytes);
    return fmt::format("{0}*{2} + ({1} ^ {0}/{3}*{4} & {5})", row, column, side, rows,
                       std::max(of_a_word, lanes / side), side - 1);
}

// a -> tile row by row, tile -> b column by column: thread i holds one element on the way in and
// another on the way out. Tiles follow each other down a, which is along the rows of b: an H200 is
// slower where blocks that run together write at large distances (docs/measurements.md). The sides
// of tiles are powers of two, which the text says, so that no kernel divides by them.
std::string tiled_text(const PatternOptions& options, std::uint64_t side, std::uint32_t bytes) {
    const bool is_swizzled = options.variant == "swizzled";
    const auto place = [&](const char* row, const char* column) {
        return is_swizzled ? swizzled_place(row, column, side, bytes)
                           : fmt::format("{}*pitch + {}", row, column);
    };
    return fmt::format(
        "t = i/{1}; row = i%{1}/{0}; column = i%{0}; "
        "load: a[t%down*({0}*width) + t/down*{0} + row*width + column]; "
        "shared.store: tile[{2}]; shared.load: tile[{3}]; "
        "store: b[t%down*{0} + t/down*({0}*height) + row*height + column]",
        side, side * side, place("row", "column"), place("column", "row"));
}

Program tiled_transpose(const Plan& plan, const Matrix& matrix, std::uint64_t side) {
    const std::uint32_t bytes = bytes_of(plan.type);
    const std::uint64_t pitch = *tile_pitch(plan.options, plan.type);
    if (const std::uint64_t tile_bytes = ((side - 1) * pitch + side) * bytes;
        tile_bytes > shared_bytes_of_block)
        throw UsageError(
            fmt::format("--tile {}: tiles of {} take {} bytes; a block has {} of "
                        "shared memory; leave --tile out",
                        side, name_of(plan.type), tile_bytes, shared_bytes_of_block));
    Program program = program_of(plan, matrix, tiled_text(plan.options, side, bytes),
                                 {{"width", matrix.width},
                                  {"height", matrix.height},
                                  {"down", matrix.height / side},
                                  {"pitch", pitch}});
    std::vector<Instruction>& steps = program.instructions;
    steps[0].takes_all = steps[3].takes_all = true;
    steps[1].value_of = 0;
    steps[2].after_barrier = true;
    steps[3].value_of = 2;
    // b[x * height + y] = a[y * width + x], in any order
    program.arrays[steps[3].array].origin =
        Origin{steps[0].array, program_of(plan, matrix, "i%height*width + i/height",
                                          {{"height", matrix.height}, {"width", matrix.width}})
                                   .instructions.front()
                                   .formula};
    return program;
}

// The second hint: the largest of the smaller tiles that would do.
template <typename Fits>
std::string or_smaller_tile(std::uint64_t side, Fits fits) {
    for (auto tile = tiles.rbegin(); tile != tiles.rend(); ++tile)
        if (*tile < side && fits(*tile)) return fmt::format(", or --tile {}", *tile);
    return {};
}

// A pass of a block takes whole rows of a tile, and a block a whole tile.
bool is_divided(std::uint64_t side, std::uint32_t block) {
    return block % side == 0 && side * side % block == 0;
}

// "64, 128, 256, 512 or 1024": the powers of two from a row of the tile to all of it.
std::string blocks_of(std::uint64_t side) {
    const std::uint64_t most = std::min<std::uint64_t>(side * side, 1024);
    std::string list;
    for (std::uint64_t block = side; block < most; block *= 2)
        list += fmt::format("{}{}", list.empty() ? "" : ", ", block);
    return fmt::format("{} or {}", list, most);
}

// Whole tiles from left to right, and as many whole rows of tiles as --size holds.
Matrix tiled_matrix(const Plan& plan, std::uint64_t side) {
    if (plan.value % side != 0)
        throw UsageError(fmt::format(
            "transpose {0}: --variant {1} moves tiles of {2} x {2} elements; choose widths that "
            "are multiples of {2}{3}",
            plan.value, plan.options.variant, side,
            or_smaller_tile(side, [&](std::uint64_t tile) { return plan.value % tile == 0; })));
    const std::uint64_t rows = element_count(plan) / plan.value;
    if (rows < side)
        throw UsageError(fmt::format(
            "transpose {}: --size {} holds no {} rows of that many elements, a row of tiles; "
            "choose a larger --size{}",
            plan.value, size_as_typed(plan.shape), side,
            or_smaller_tile(side, [&](std::uint64_t tile) { return rows >= tile; })));
    return {plan.value, rows / side * side};
}

}  // namespace

std::optional<std::uint64_t> padded_tile_row(const PatternOptions& options, ElementType type) {
    const auto side = transpose_tile(options, type);
    if (!side || options.variant != "padded") return std::nullopt;
    return *side + padding_elements(*side, bytes_of(type));
}

std::optional<std::uint64_t> tile_pitch(const PatternOptions& options, ElementType type) {
    const auto padded = padded_tile_row(options, type);
    return padded ? padded : transpose_tile(options, type);
}

bool has_tile(std::string_view variant) { return variant != "naive"; }

std::optional<std::uint64_t> transpose_tile(const PatternOptions& options, ElementType type) {
    const std::vector<std::string_view> variants = find_launch_option("variant")->words();
    if (std::ranges::find(variants, options.variant) == variants.end())
        throw UsageError(unknown_word("--variant", options.variant, variants));
    const std::optional<std::uint64_t> chosen = options.tile;
    if (!has_tile(options.variant)) {
        if (chosen)
            throw UsageError("--tile: the naive transpose has no tile",
                             "use --variant tile, padded or swizzled");
        return std::nullopt;
    }
    if (chosen && std::find(tiles.begin(), tiles.end(), *chosen) == tiles.end())
        throw UsageError(
            fmt::format("--tile {}: tiles of a transpose have 16, 32 or 64 columns", *chosen));
    return chosen.value_or(bytes_of(type) <= 4 ? 64 : 32);
}

std::uint32_t transpose_per_thread(const PatternOptions& options, ElementType type,
                                   const LaunchShape& shape) {
    const std::optional<std::uint64_t> tile = transpose_tile(options, type);
    if (!tile) return shape.per_thread;
    const std::uint64_t side = *tile;
    if (!is_divided(side, shape.block))
        throw UsageError(fmt::format(
            "--block {}: --variant {} gives a tile of {} elements to a block; choose {} threads{}",
            shape.block, options.variant, side * side, blocks_of(side),
            or_smaller_tile(side,
                            [&](std::uint64_t tile) { return is_divided(tile, shape.block); })));
    const auto needed = static_cast<std::uint32_t>(side * side / shape.block);
    if (shape.per_thread != 1 && shape.per_thread != needed)
        throw UsageError(
            fmt::format("--per-thread {}: with --block {} each thread moves {} of a tile's {} "
                        "elements; leave --per-thread out",
                        shape.per_thread, shape.block, needed, side * side));
    return needed;
}

Program make_tiled_transpose(const Plan& plan) {
    const std::uint64_t side = *transpose_tile(plan.options, plan.type);
    return tiled_transpose(plan, tiled_matrix(plan, side), side);
}

}  // namespace coalprof
