#include "core/traffic/issued.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <variant>

namespace coalprof {
namespace {

// For one element. Indices have 64 bits where 32 are not enough.
struct OfIndex {
    double operator()(const Offset&) const { return 0; }
    double operator()(const Stride&) const { return 4.5; }
    double operator()(const Groups&) const { return 10; }
    double operator()(const Permute&) const { return 29; }
    double operator()(const Scatter&) const { return 0; }
    double operator()(const Rows&) const { return 43; }
    double operator()(const Columns&) const { return 24; }
    // Nearly all of it once for all elements.
    double operator()(const LaneGrid&) const { return 0; }
    double operator()(const Tiles&) const { return 0; }
    double operator()(const TileCells&) const { return 0; }
    double operator()(const SwizzledCells&) const { return 0; }
    double operator()(const std::shared_ptr<const CustomFormula>& formula) const {
        constexpr double of_operator = 4;
        constexpr double of_division = 12;  // more
        constexpr double of_branch = 8;
        const Computed more = formula->computed(seen);
        return of_operator * more.operators + of_division * more.divisions +
               of_branch * more.conditions;
    }
    ExpressionsSeen& seen;
};

}  // namespace

// Built-in formulas of one kind share most of their work, a user's their sub-expressions.
double index_instructions(const Program& program) {
    double sum = 0;
    ExpressionsSeen expressions;
    std::array<bool, std::variant_size_v<Formula>> seen{};
    for (const Instruction& one : program.instructions) {
        const bool is_custom =
            std::holds_alternative<std::shared_ptr<const CustomFormula>>(one.formula);
        if (!is_custom && std::exchange(seen[one.formula.index()], true)) continue;
        sum += std::visit(OfIndex{expressions}, one.formula);
    }
    return sum;
}

double hashes_of_element(const Program& program) {
    double sum = 0;
    for (auto one = program.instructions.begin(); one != program.instructions.end(); ++one)
        if (hashes_of(one->formula) > 0 &&
            std::none_of(program.instructions.begin(), one, [&](const Instruction& other) {
                return is_same(other.formula, one->formula);
            }))
            sum += hashes_of(one->formula);
    return sum;
}

double issued_of_warp(const Program& program, std::uint32_t per_thread) {
    constexpr double once = 17;
    constexpr double of_loads = 13;  // once: loaded values must be used
    constexpr double of_stores = 5;
    constexpr double of_tiles = 40;
    constexpr double of_access = 5;
    constexpr double of_near_access = 2;
    constexpr double of_pointer = 22;  // loaded, and turned into an address of 64 bits
    const auto has = [&](bool loads) {
        return std::ranges::any_of(program.instructions, [&](const Instruction& one) {
            return (one.kind == AccessKind::load) == loads;
        });
    };
    const bool has_tiles = std::ranges::any_of(program.instructions, [](const Instruction& one) {
        return std::holds_alternative<Tiles>(one.formula);
    });
    double of_element = index_instructions(program);
    for (const Instruction& one : program.instructions)
        of_element += (one.space == Space::global ? of_access : of_near_access) +
                      of_pointer * is_pointer_load(program, one);
    return once + of_loads * has(true) + of_stores * has(false) + of_tiles * has_tiles +
           of_element * per_thread;
}

}  // namespace coalprof
