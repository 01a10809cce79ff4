// Plans for the tests: every pattern of the catalog, small, and programs made by hand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"
#include "core/formula/formula.h"
#include "core/pattern/built.h"

namespace coalprof {

// What a point fails with.
template <typename Call>
std::string message_of(const Call& call) {
    try {
        call();
    } catch (const PointError& error) {
        return error.what();
    }
    return "no PointError";
}

inline Plan plan_of(const std::string& pattern, std::uint64_t value, Op op,
                    ElementType type = ElementType::f32, std::uint32_t per_thread = 1,
                    std::uint64_t size_bytes = 1 << 16) {
    return built({.pattern = pattern,
                  .value = value,
                  .op = op,
                  .type = type,
                  .shape = {.size_bytes = size_bytes, .per_thread = per_thread}});
}

// A value that every width divides where the parameter is in bytes, and small where it is not.
inline std::uint64_t usual_value(const PatternInfo& pattern) {
    return pattern.unit == "bytes" ? 512 : 3;
}

inline bool is_of_global_memory(const PatternInfo& pattern) {
    const Plan plan = plan_of(std::string(pattern.name), usual_value(pattern), pattern.default_op);
    return plan.program.instructions.front().space == Space::global;
}

// The patterns of global memory; and those of shared, constant and local memory.
inline std::vector<PatternInfo> global_patterns() {
    std::vector<PatternInfo> patterns;
    for (const PatternInfo& pattern : pattern_catalog())
        if (is_of_global_memory(pattern)) patterns.push_back(pattern);
    return patterns;
}
inline std::vector<PatternInfo> near_patterns() {
    std::vector<PatternInfo> patterns;
    for (const PatternInfo& pattern : pattern_catalog())
        if (!is_of_global_memory(pattern)) patterns.push_back(pattern);
    return patterns;
}

// transpose --variant tile, padded or swizzled, 256 threads to a tile of 32 x 32.
inline Plan tiled_transpose(const std::string& variant, std::uint64_t width,
                            ElementType type = ElementType::f32, std::uint64_t size_bytes = 1 << 16,
                            std::uint32_t block = 256, std::optional<std::uint64_t> tile = 32) {
    return built({.pattern = "transpose",
                  .value = width,
                  .op = Op::copy,
                  .type = type,
                  .shape = {.size_bytes = size_bytes, .block = block},
                  .options = {.tile = tile, .variant = variant}});
}

// An index of which nothing is known but its source: it does not repeat, and lanes may be idle.
class TextFormula : public CustomFormula {
 public:
    using Function = std::uint64_t (*)(std::uint64_t);
    TextFormula(std::string expression, Function function)
        : expression_(std::move(expression)), function_(function) {}

    void evaluate(std::uint64_t first, std::uint32_t count,
                  std::uint64_t* elements) const override {
        for (std::uint32_t k = 0; k < count; ++k) elements[k] = function_(first + k);
    }
    std::optional<Period> period() const override { return std::nullopt; }
    Functor functor(const std::string& type_name) const override {
        return {"struct " + type_name +
                    " { Index number[1]; __device__ Index operator()(Index i) const { return " +
                    expression_ + "; } };",
                {0}};
    }
    std::string text() const override { return expression_; }

 private:
    std::string expression_;
    Function function_;
};

// A user's formula; its threads are those of the grid, where one is given, else of `size_bytes`.
inline Plan formula_plan(const std::string& text, const Dimensions& block = {256},
                         const std::optional<Dimensions>& grid = {},
                         ElementType type = ElementType::f32, std::uint32_t per_thread = 1,
                         std::uint64_t size_bytes = 1 << 16) {
    Plan plan;
    plan.pattern = "formula";
    plan.type = type;
    plan.shape = {.size_bytes = size_bytes, .per_thread = per_thread};
    plan.shape.block = static_cast<std::uint32_t>(block.count());
    plan.shape.block_shape = block;
    plan.shape.grid = grid;
    plan.shape = settled_shape(plan.shape, type);
    plan.program =
        make_formula_program(std::make_shared<const ParsedFormula>(parse_formula(text, {})),
                             {.op = plan.op, .type = plan.type, .shape = plan.shape, .values = {}});
    return plan;
}

struct HandmadeInstruction {
    AccessKind kind;
    std::uint32_t array;
    Formula formula;
};

// A program over f32 arrays a, b, ... of `elements` each.
inline Plan handmade_plan(const std::vector<HandmadeInstruction>& instructions,
                          std::uint32_t arrays, std::uint64_t threads, std::uint64_t elements,
                          std::uint32_t per_thread = 1) {
    Plan plan;
    plan.pattern = "handmade";
    plan.shape = {.size_bytes = elements * 4, .block = 256, .per_thread = per_thread};
    plan.program.threads = threads;
    plan.program.block = 256;
    for (std::uint32_t k = 0; k < arrays; ++k)
        plan.program.arrays.push_back({std::string(1, static_cast<char>('a' + k)), 4, elements});
    for (const HandmadeInstruction& one : instructions)
        plan.program.instructions.push_back({one.kind, Space::global, 4, one.array, one.formula});
    return plan;
}

}  // namespace coalprof
