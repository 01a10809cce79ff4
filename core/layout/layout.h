// Layouts as CuTe and Triton write them, in the language of formulas: '(8,4):(4,1)', 'Sw<3,3,3> o
// (64,64):(64,1)', '#ttg.blocked<{sizePerThread = [1, 8], ...}>'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace coalprof {

struct LayoutUse {
    std::string access = "a";  // what stands before the index: "shared.load: tile"
    std::uint32_t element_bytes = 4;
    // Elements of an access, a power of two. 0: as many of a thread's values as lie side by side,
    // in at most 16 bytes.
    std::uint64_t vector = 0;
    bool has_values = false;  // the first part counts threads, the others values of each
};
struct LayoutFormula {
    std::string text;  // of the thread `i`; its elements are vectors
    std::uint64_t threads = 0;
    std::uint64_t vector = 1;
    bool has_values = false;  // as Triton's always have
};
// Throws UsageError.
LayoutFormula formula_of_layout(std::string_view text, const LayoutUse& use);

}  // namespace coalprof
