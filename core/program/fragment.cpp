// Widths and offsets were read from ptxas 13.0's code for sm_90, for every operand, type, shape and
// layout that nvcc writes.
#include "core/program/fragment.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace coalprof {
namespace {

struct FragmentShape {
    std::string_view name;
    std::uint32_t m, n, k;
};
constexpr std::array shapes{
    FragmentShape{"m16n16k16", 16, 16, 16}, FragmentShape{"m32n8k16", 32, 8, 16},
    FragmentShape{"m8n32k16", 8, 32, 16},   FragmentShape{"m16n16k8", 16, 16, 8},
    FragmentShape{"m8n8k4", 8, 8, 4},       FragmentShape{"m8n8k32", 8, 8, 32},
    FragmentShape{"m8n8k128", 8, 8, 128}};

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 12> element_bits{{{"f16", 16},
                                                                                   {"bf16", 16},
                                                                                   {"f32", 32},
                                                                                   {"tf32", 32},
                                                                                   {"s32", 32},
                                                                                   {"f64", 64},
                                                                                   {"s8", 8},
                                                                                   {"u8", 8},
                                                                                   {"s4", 4},
                                                                                   {"u4", 4},
                                                                                   {"b1", 1},
                                                                                   {"b32", 32}}};

// The layout of the tensor cores' matrices: four lanes share one of eight rows; along `inner`, each
// lane has `side_by_side` elements.
struct FragmentMatrix {
    std::uint32_t lines = 0, line_elements = 0;
    bool is_inner = false;  // lines run along `inner`
    std::uint32_t side_by_side = 1;
};
FragmentMatrix matrix_of(const OpcodeWords& words, const FragmentShape& shape, std::uint32_t bits) {
    const bool is_by_rows = words.has("row");
    if (words.has("a") || words.has("b")) {
        const std::uint32_t outer = words.has("a") ? shape.m : shape.n;
        const bool is_inner = words.has("a") == is_by_rows;
        return {is_inner ? outer : shape.k, is_inner ? shape.k : outer, is_inner,
                std::max(1u, 32 / bits)};
    }
    const bool is_turned = shape.m == 8 && shape.n == 32;
    return {is_by_rows ? shape.m : shape.n, is_by_rows ? shape.n : shape.m, is_by_rows != is_turned,
            2};
}

// Matrices of 8 lines of 16 bytes, up to two of them along both sides at once.
void read_by_matrices(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    const std::uint32_t high = std::min(2u, matrix.lines / 8), wide = std::min(2u, line_bytes / 16);
    fragment.variant = high * wide == 4 ? 'M' : high * wide == 2 ? 'm' : 'n';
    fragment.width_bytes = 16;
    fragment.line = {.mask = 8 * high - 1};
    fragment.byte = {.shift = high == 2 ? 4u : 3u, .mask = wide - 1, .factor = 16};
    for (std::uint32_t line = 0; line < matrix.lines; line += 8 * high)
        for (std::uint32_t byte = 0; byte < line_bytes; byte += 16 * wide)
            fragment.accesses.push_back({line, byte});
}

// Each lane has neighbours within a line; for 16 bits also in the other layout, which MOVM
// transposes.
void read_along_lines(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    fragment.width_bytes = std::max(4u, matrix.side_by_side * fragment.element_bits / 8);
    fragment.line = {.shift = 2, .mask = 7};
    fragment.byte = {.mask = 3, .factor = fragment.width_bytes};
    for (std::uint32_t line = 0; line < matrix.lines; line += 8)
        for (std::uint32_t byte = 0; byte < line_bytes; byte += 4 * fragment.width_bytes)
            fragment.accesses.push_back({line, byte});
}

// Each lane has neighbours across lines, so that each is a separate access.
void read_across_lines(Fragment& fragment, const FragmentMatrix& matrix, std::uint32_t line_bytes) {
    const std::uint32_t many = matrix.side_by_side;
    fragment.width_bytes = fragment.element_bits / 8;
    fragment.line = {.mask = 3, .factor = many};
    fragment.byte = {.shift = 2, .mask = 7, .factor = fragment.width_bytes};
    for (std::uint32_t line = 0; line < matrix.lines; line += 4 * many)
        for (std::uint32_t one = 0; one < many; ++one)
            for (std::uint32_t byte = 0; byte < line_bytes; byte += 8 * fragment.width_bytes)
                fragment.accesses.push_back({line + one, byte});
}

}  // namespace

std::optional<Fragment> fragment_of(const OpcodeWords& words) {
    const auto shape =
        std::ranges::find_if(shapes, [&](const FragmentShape& one) { return words.has(one.name); });
    const auto type =
        std::ranges::find_if(element_bits, [&](const auto& one) { return words.has(one.first); });
    if (shape == shapes.end() || type == element_bits.end()) return std::nullopt;
    const std::uint32_t bits = type->second;
    const FragmentMatrix matrix = matrix_of(words, *shape, bits);
    const std::uint32_t line_bytes = matrix.line_elements * bits / 8;
    const bool is_factor = words.has("a") || words.has("b");
    Fragment fragment{.element_bits = bits, .line_elements = matrix.line_elements};
    if (is_factor && words.memory().state == PtxState::shared && bits <= 16 &&
        (matrix.is_inner || bits == 16))
        read_by_matrices(fragment, matrix, line_bytes);
    else if (matrix.is_inner || bits == 16)
        read_along_lines(fragment, matrix, line_bytes);
    else
        read_across_lines(fragment, matrix, line_bytes);
    return fragment;
}

}  // namespace coalprof
