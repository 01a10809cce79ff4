#include "core/pattern/transpose.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/pattern/builder.h"
#include "core/text/error.h"
#include "core/text/suggest.h"

namespace coalprof {
namespace {

constexpr std::array<std::string_view, 3> variants{"naive", "tile", "padded"};

bool is_naive(const PatternOptions& options) {
    if (std::find(variants.begin(), variants.end(), options.variant) == variants.end())
        throw UsageError(unknown_word("--variant", options.variant, variants));
    return options.variant == "naive";
}

struct Matrix {
    std::uint64_t width = 0;
    std::uint64_t height = 0;
};

// In the order of the element in a, thread i holds element (i / width, i % width).
Program naive_transpose(const Plan& plan, const Matrix& matrix) {
    const std::uint64_t n = matrix.width * matrix.height;
    return program_of(plan, {.formula = Offset{},
                             .elements = n,
                             .threads = n,
                             .active_threads = n,
                             .contiguous = Columns{matrix.width, matrix.height}});
}

// A word of a bank, or one element where that is wider: either way neighbouring rows begin an odd
// number of words or elements apart.
std::uint64_t padding_elements(std::uint32_t element_bytes) {
    constexpr std::uint32_t bank_bytes = 4;
    return element_bytes < bank_bytes ? bank_bytes / element_bytes : 1;
}

// a -> tile row by row, tile -> b column by column: thread i holds one element on the way in and
// another on the way out.
Program tiled_transpose(const Plan& plan, const Matrix& matrix) {
    const auto& [width, height] = matrix;
    const std::uint32_t bytes = bytes_of(plan.type);
    const std::uint64_t padding = plan.options.variant == "padded" ? padding_elements(bytes) : 0;
    const std::uint64_t pitch = tile_side + padding;
    const std::uint64_t across = width / tile_side;
    constexpr std::uint32_t a = 0, b = 1, tile = 2;
    constexpr std::uint32_t from_a = 0, from_tile = 2;  // instructions

    Program program;
    program.block = plan.shape.block;
    program.threads = width * height;
    program.useful_bytes = 2 * program.threads * bytes;
    program.arrays = {
        {"a", bytes, program.threads},
        // b[x * height + y] = a[y * width + x], whichever way it went
        {"b", bytes, program.threads, Origin{a, Columns{height, width}}},
        {"tile", bytes, (tile_side - 1) * pitch + tile_side},
    };
    program.instructions = {
        {AccessKind::load, Space::global, bytes, a,
         Tiles{across, tile_side, tile_side * width, width}},
        {AccessKind::store, Space::shared, bytes, tile, TileCells{pitch, 1}, from_a},
        {AccessKind::load, Space::shared, bytes, tile, TileCells{1, pitch}, std::nullopt, true},
        {AccessKind::store, Space::global, bytes, b,
         Tiles{across, tile_side * height, tile_side, height}, from_tile},
    };
    return program;
}

// Whole tiles from left to right, and as many whole rows of tiles as --size holds.
Matrix tiled_matrix(const Plan& plan) {
    if (plan.value % tile_side != 0)
        throw UsageError(fmt::format(
            "transpose {}: --variant {} moves tiles of 32 x 32 elements; choose widths that are "
            "multiples of 32",
            plan.value, plan.options.variant));
    const std::uint64_t height = element_count(plan) / plan.value / tile_side * tile_side;
    if (height == 0)
        throw UsageError(
            fmt::format("transpose {}: --size {} holds no 32 rows of that many elements, a row of "
                        "tiles; choose a larger --size",
                        plan.value, size_as_typed(plan.shape)));
    return {plan.value, height};
}

Matrix naive_matrix(const Plan& plan) {
    const std::uint64_t height = element_count(plan) / plan.value;
    if (height == 0)
        throw UsageError(fmt::format("transpose {}: --size {} holds no row of that many elements",
                                     plan.value, size_as_typed(plan.shape)));
    return {plan.value, height};
}

}  // namespace

std::vector<std::string_view> transpose_variants() { return {variants.begin(), variants.end()}; }

std::uint32_t transpose_per_thread(const PatternOptions& options, const LaunchShape& shape) {
    if (is_naive(options)) return shape.per_thread;
    if (shape.block % warp_lanes != 0 || tile_elements % shape.block != 0)
        throw UsageError(
            fmt::format("--block {}: --variant {} gives a tile of 1024 elements to a block; choose "
                        "32, 64, 128, 256, 512 or 1024 threads",
                        shape.block, options.variant));
    const auto needed = static_cast<std::uint32_t>(tile_elements / shape.block);
    if (shape.per_thread != 1 && shape.per_thread != needed)
        throw UsageError(
            fmt::format("--per-thread {}: with --block {} each thread moves {} of a tile's 1024 "
                        "elements; leave --per-thread out",
                        shape.per_thread, shape.block, needed));
    return needed;
}

Program make_transpose(const Plan& plan) {
    if (plan.value == 0) throw UsageError("transpose 0: widths start at 1");
    if (plan.op != Op::copy)
        throw UsageError(
            fmt::format("--op {}: a transpose loads row-wise and stores column-wise; "
                        "leave --op out",
                        name_of(plan.op)));
    return is_naive(plan.options) ? naive_transpose(plan, naive_matrix(plan))
                                  : tiled_transpose(plan, tiled_matrix(plan));
}

}  // namespace coalprof
