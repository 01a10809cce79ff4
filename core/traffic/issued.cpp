#include "core/traffic/issued.h"

#include <algorithm>
#include <memory>
#include <variant>
#include <vector>

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
    // Nearly all once for all elements.
    double operator()(const LaneGrid&) const { return 0; }
    double operator()(const Tiles&) const { return 0; }
    double operator()(const TileCells&) const { return 0; }
    double operator()(const SwizzledCells&) const { return 0; }
    double operator()(const std::shared_ptr<const CustomFormula>& formula) const {
        constexpr double of_operator = 4;
        constexpr double of_division = 12;  // more
        constexpr double of_branch = 8;
        return of_operator * formula->operators() + of_division * formula->divisions() +
               of_branch * formula->may_idle();
    }
};

}  // namespace

// Instructions with one formula share its answer, and formulas of one kind most of their work.
double index_instructions(const Program& program) {
    double sum = 0;
    std::vector<const Formula*> seen;
    for (const Instruction& one : program.instructions) {
        const bool is_known = std::ranges::any_of(seen, [&](const Formula* other) {
            const bool is_custom =
                std::holds_alternative<std::shared_ptr<const CustomFormula>>(one.formula);
            return is_custom ? is_same(*other, one.formula) : other->index() == one.formula.index();
        });
        if (is_known) continue;
        seen.push_back(&one.formula);
        sum += std::visit(OfIndex{}, one.formula);
    }
    return sum;
}

double issued_of_warp(const Program& program, std::uint32_t per_thread) {
    constexpr double once = 17;
    constexpr double of_loads = 13;  // once: what is loaded must be used
    constexpr double of_stores = 5;
    constexpr double of_tiles = 40;
    constexpr double of_access = 5;
    constexpr double of_near_access = 2;
    constexpr double of_pointer = 22;  // loaded, and made an address with 64 bits
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
