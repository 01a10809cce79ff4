// Every built-in pattern of global memory written as a user's formula, to be held against it.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/formula/formula.h"
#include "core/pattern/catalog.h"

namespace coalprof::testing {

// `k` is the pattern's parameter, `width` the same in elements, for parameters in bytes.
struct Twin {
    const char* pattern;
    const char* index;
    const char* parts = "";        // named parts that the others use
    const char* condition = "";    // of every access
    const char* contiguous = "i";  // of the second array of copy and add
    const char* table = "";        // index into a table of pointers that is read first
    const char* order = "xor";     // --order
    std::uint64_t member = 0;      // --member
};

inline constexpr std::array twins{
    Twin{"offset", "i + k"},
    Twin{"stride", "i*k"},
    Twin{"permute", "i - lane + (lane ^ k)"},
    Twin{.pattern = "permute", .index = "i - lane + (lane + k) % 32", .order = "rotate"},
    Twin{.pattern = "permute", .index = "i - lane + (31 - lane + k) % 32", .order = "reversed"},
    Twin{"scatter", "hash(i, width)"},
    Twin{"broadcast", "i / k"},
    Twin{"aos", "i*width"},
    Twin{.pattern = "aos", .index = "i*width + 1", .member = 1},
    Twin{"soa", "i"},
    Twin{.pattern = "soa", .index = "n + i", .member = 1},
    Twin{.pattern = "row",
         .index = "i/threads*width + i%threads",
         .parts = "threads = (width + 31) / 32 * 32; ",
         .condition = "i%threads < width",
         .contiguous = "i/threads*width + i%threads"},
    Twin{.pattern = "column", .index = "i%rows*width + i/rows", .parts = "rows = n / width; "},
    Twin{.pattern = "transpose",
         .index = "i",
         .parts = "height = n / k; ",
         .contiguous = "i%k*height + i/k"},
    // Rows start where cudaMalloc would put them: at multiples of 256 bytes. `wide` is that many
    // elements.
    Twin{.pattern = "indirect",
         .index = "i/width*((width + wide - 1) / wide * wide) + i%width",
         .table = "i / width"},
};

// The plan of the pattern. Throws UsageError where op, type or value do not fit it.
inline Plan built_in(const Twin& twin, std::uint64_t value, Op op, ElementType type,
                     std::uint64_t size_bytes) {
    Plan plan;
    plan.pattern = twin.pattern;
    plan.value = value;
    plan.op = op;
    plan.type = type;
    plan.shape.size_bytes = size_bytes;
    plan.options.order = twin.order;
    plan.options.member = twin.member;
    build_program(plan);
    return plan;
}

// "load: a[i*k] if lane"
inline std::string access_text(const Twin& twin, const char* kind, char array, const char* index) {
    const bool has_condition = twin.condition[0] != '\0';
    return fmt::format("{}{}[{}]{}{}; ", kind, array, index, has_condition ? " if " : "",
                       twin.condition);
}
inline std::string table_text(const Twin& twin, char array) {
    if (twin.table[0] == '\0') return {};
    return fmt::format("load.u64: table_{}[{}]; ", array, twin.table);
}

// Copy and add are written out, because their second array may have an index of its own; of the
// other ops there is one access without a kind, which --op gives it.
inline std::string formula_text(const Twin& twin, Op op) {
    std::string text = twin.parts + table_text(twin, 'a');
    if (op != Op::copy && op != Op::add) return text + access_text(twin, "", 'a', twin.index);
    text += access_text(twin, "load: ", 'a', twin.index);
    if (op == Op::add) text += table_text(twin, 'b') + access_text(twin, "load: ", 'b', twin.index);
    return text + access_text(twin, "store: ", op == Op::add ? 'c' : 'b', twin.contiguous);
}

// The same launch as `plan`, its program made from the formula.
inline Plan as_formula(const Twin& twin, const Plan& plan) {
    const std::uint32_t width = bytes_of(plan.type);
    FormulaLaunch launch;
    launch.op = plan.op;
    launch.type = plan.type;
    // As many threads as the pattern launches: some round them up to whole warps.
    launch.shape = plan.shape;
    launch.shape.size_bytes = plan.program.threads * width;
    launch.values = {static_cast<std::int64_t>(plan.value),
                     static_cast<std::int64_t>(plan.value / width), 256 / width};
    Plan own = plan;
    own.pattern = "formula";
    own.program = make_formula_program(std::make_shared<const ParsedFormula>(parse_formula(
                                           formula_text(twin, plan.op), {"k", "width", "wide"})),
                                       launch);
    return own;
}

}  // namespace coalprof::testing
