// Random launches over grids and blocks of up to three dimensions, or of a size that is no multiple
// of a block: loads, stores and atomics on global and shared memory, of every type.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/formula/formula.h"
#include "core/formula/random_formula.h"
#include "core/sweep/swept_points.h"
#include "core/text/error.h"

namespace coalprof::testing {

class RandomGrids {
 public:
    RandomGrids(std::uint64_t seed, const Machine& machine) : formulas_(seed), machine_(machine) {}

    // Launches of one formula with these instructions ("load", "shared.store"). Their grids differ
    // along the last axis alone: unless the formula asks for the number of blocks they are launches
    // of one kernel. Each is called by the command that repeats it.
    std::vector<PlannedPoint> launches(const std::vector<std::string_view>& instructions,
                                       std::size_t count) {
        for (;;) {
            try {
                return some_launches(instructions, count);
            } catch (const UsageError&) {
                continue;  // a thread of it divides by 0, or an index is too large
            }
        }
    }

 private:
    std::uint64_t from_1_to(std::uint64_t most) { return 1 + formulas_.below(most); }
    template <typename T>
    T pick(std::initializer_list<T> choices) {
        return *(choices.begin() + formulas_.below(choices.size()));
    }

    std::vector<PlannedPoint> some_launches(const std::vector<std::string_view>& instructions,
                                            std::size_t count) {
        Plan plan;
        plan.pattern = "formula";
        plan.cache.dlcm = formulas_.one_in(4) ? LoadModifier::cg : LoadModifier::ca;
        // Some launches have a size in place of a grid: their last blocks and warps are not whole.
        const bool has_tail = formulas_.one_in(5);
        plan.shape.per_thread = has_tail && formulas_.one_in(2) ? pick({2u, 3u, 4u, 8u}) : 1;
        plan.shape.block_shape = has_tail ? Dimensions{from_1_to(1000)} : block();
        plan.shape.block = static_cast<std::uint32_t>(plan.shape.block_shape->count());
        Dimensions grid = first_grid();
        grid.is_shape = true;  // of one row too
        std::string text;
        for (std::size_t k = 0; k < instructions.size(); ++k)
            text += (k == 0 ? "" : "; ") + instruction(instructions[k], k);
        const auto formula = std::make_shared<const ParsedFormula>(
            parse_formula(text, RandomFormulas::parameters()));
        const std::vector<std::int64_t> values = formulas_.scope(1).values;

        std::vector<PlannedPoint> points;
        for (std::size_t k = 0; k < count; ++k) {
            std::uint64_t& last = grid.z != 1 ? grid.z : grid.y != 1 ? grid.y : grid.x;
            last = 1 + from_1_to(&last == &grid.x ? 30 : 6);
            plan.shape.size_bytes = from_1_to(40'000) * bytes_of(plan.type);
            if (!has_tail) plan.shape.grid = grid;
            plan.shape = settled_shape(plan.shape, plan.type);
            plan.program = make_formula_program(
                formula, {.op = plan.op, .type = plan.type, .shape = plan.shape, .values = values});
            points.push_back(
                {.plan = plan, .machine = machine_, .name = command(plan, *formula, values)});
        }
        return points;
    }

    static std::string command(const Plan& plan, const ParsedFormula& formula,
                               const std::vector<std::int64_t>& values) {
        std::string text =
            fmt::format("coalprof formula '{}' --block {} {} --per-thread {} --dlcm {}",
                        formula.text, text_of(*plan.shape.block_shape),
                        plan.shape.grid ? fmt::format("--grid {}", text_of(*plan.shape.grid))
                                        : fmt::format("--size {}", plan.shape.size_bytes),
                        plan.shape.per_thread, name_of(plan.cache.dlcm));
        for (std::size_t k = 0; k < values.size(); ++k)
            if (formula.uses_parameter[k])
                text += fmt::format(" --var {}={}", formula.parameters[k], values[k]);
        return text + " --counters memory --repeat 0";
    }

    Dimensions block() {
        Dimensions block{from_1_to(40)};
        if (formulas_.one_in(2)) block.x = 32 * from_1_to(4);
        if (!formulas_.one_in(3)) block.y = from_1_to(8);
        if (formulas_.one_in(3)) block.z = from_1_to(4);
        while (block.count() > most_block_threads) block.y = block.z = 2;
        return block;
    }
    // Its last axis is set by each launch.
    Dimensions first_grid() {
        Dimensions grid{from_1_to(6)};
        if (!formulas_.one_in(4)) grid.y = 1 + from_1_to(4);
        if (grid.y != 1 && formulas_.one_in(2)) grid.z = 2;
        return grid;
    }

    std::string instruction(std::string_view kind, std::size_t position) {
        const bool is_shared = kind.starts_with("shared.");
        const bool is_atomic = kind.ends_with("atomic") || kind.ends_with("reduce");
        auto types = element_type_list();
        std::erase_if(types, [](auto name) { return bytes_of(*find_element_type(name)) > 16; });
        std::string_view type = types[formulas_.below(types.size())];
        if (is_atomic) type = pick<std::string_view>({"u32", "s32", "u64", "s64", "f32", "f64"});
        if (is_atomic && is_shared) type = pick<std::string_view>({"u32", "s32"});
        std::string text = fmt::format("{}.{}: {}[", kind, type, static_cast<char>('a' + position));
        if (is_shared)
            text += fmt::format("({}) % {}]", index(), elements_of_a_tile(type));
        else
            text += index() + "]";
        if (formulas_.one_in(4)) text += " if " + condition();
        return text;
    }

    // Beyond 48 KiB a block asks for, now and then; two such tiles fit into one.
    std::uint64_t elements_of_a_tile(std::string_view type) {
        const std::uint64_t kib = formulas_.one_in(10) ? 100 : formulas_.one_in(2) ? 16 : 2;
        return from_1_to((kib << 10) / bytes_of(*find_element_type(type)));
    }

    // What kernels compute: sums of coordinates times numbers; or anything at all.
    std::string index() {
        if (formulas_.one_in(3))
            return fmt::format("abs({}) % {}",
                               formulas_.expression(1 + static_cast<int>(formulas_.below(4))),
                               from_1_to(formulas_.one_in(2) ? 100'003 : 999));
        std::string text = term();
        for (std::uint64_t more = formulas_.below(3); more > 0; --more)
            text += pick({" + ", " + ", " + ", " ^ "}) + term();
        return text;
    }
    std::string term() {
        std::string name =
            pick({"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y",
                  "blockIdx.z", "tid", "lane", "warp", "bid", "i", "i"});
        switch (formulas_.below(6)) {
            case 0:
            case 1: return name;
            case 2: return fmt::format("{} / {}", name, from_1_to(40));
            case 3: return fmt::format("{} % {}", name, from_1_to(64));
            default: return fmt::format("{}*{}", name, from_1_to(formulas_.one_in(4) ? 300 : 34));
        }
    }
    std::string condition() {
        if (formulas_.one_in(2)) return formulas_.expression(2);
        return fmt::format("{} {} {}", term(), pick({"<", ">=", "!="}), formulas_.below(40));
    }

    RandomFormulas formulas_;
    Machine machine_;
};

}  // namespace coalprof::testing
