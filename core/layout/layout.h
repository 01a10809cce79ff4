// Layouts as CuTe and Triton write them, and what they are in the language of formulas:
// '(8,4):(4,1)', 'Sw<3,3,3> o (64,64):(64,1)', '#ttg.blocked<{sizePerThread = [1, 8], ...}>'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

// A function from positions to positions; the outermost gives offsets in elements. With modes it is
// a sum of strides, with bits Sw<bits, base, shift>: bits [base, base + bits) of a position are
// xored with those `shift` above (cute/swizzle.hpp of CUTLASS); else `offset` is added.
struct LayoutStage {
    struct Mode {
        std::int64_t size, stride;
        std::size_t part = 0;  // of the shape, counted on its top level
    };

    std::size_t begin = 0;         // in the text
    std::vector<Mode> modes = {};  // nested ones are flat, the fastest first
    std::int64_t offset = 0;       // to modes as well
    int bits = 0, base = 0, shift = 0;

    std::int64_t at(std::int64_t position) const;
    std::string text_of(std::string_view position) const;  // the same as a formula
    std::vector<std::int64_t> shape() const;               // of modes, by part
};

struct Layout {
    std::string text;
    std::vector<LayoutStage> stages = {};  // the innermost, which has modes, first
    bool has_values = false;        // the first part counts threads, the others values of each
    std::int64_t element_bits = 0;  // smem_ptr[16b]; 0: not said
};

// Throws UsageError, as the next does.
Layout read_layout(std::string_view text);

struct LayoutFormula {
    std::string text;  // of the thread `i`; its elements are vectors
    std::uint64_t threads = 0;
    std::uint64_t vector = 1;
};
// `access` stands before the index: "shared.load: tile". A vector is a power of two, of the
// elements of an access; 0: as many of a thread's values as lie side by side, in at most 16 bytes.
LayoutFormula formula_of(const Layout& layout, std::string_view access, std::uint32_t element_bytes,
                         std::uint64_t vector);

}  // namespace coalprof
