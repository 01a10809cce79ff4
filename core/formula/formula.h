// A user's formula made concrete: from the tree, an op, a type, a launch shape and the values of
// its parameters to the Program that the model predicts and the kernels execute.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/formula/launch_check.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"
#include "core/pattern/plan.h"

namespace coalprof {

// The highest offset in bytes of an index; no GPU of today has as much memory.
inline constexpr std::uint64_t largest_formula_array_bytes = 1ull << 40;
// Shared memory of a block: no GPU has more than 9.0 and 10.x.
inline constexpr std::uint64_t most_shared_bytes = 227 << 10;

struct FormulaLaunch {
    Op op = Op::load;  // operation of accesses that name none (load:, store:, ...)
    ElementType type = ElementType::f32;
    // The type that --size counts; none: elements of `type`, which accesses have that do not name
    // one.
    std::optional<ElementType> sized = {};
    LaunchShape shape;  // n is the grid's threads, or size_bytes / bytes_of(sized) without a grid
    std::vector<std::int64_t> values = {};  // one per parameter of the formula
    std::uint64_t largest_array_bytes = largest_formula_array_bytes;
    std::uint64_t shared_bytes_per_block = most_shared_bytes;  // named where no GPU has enough
    ElementType size_type() const { return sized.value_or(type); }
};

// The values of the names in that launch. Throws UsageError where the shape does not fit, or where
// the formula has bid.y or the like and no grid was asked for.
Scope scope_of(const ParsedFormula& formula, const FormulaLaunch& launch);

// How many of the launch's threads, from the first on, no array is too small for. Throws UsageError
// where that is none, or where later ones are within their arrays again.
ThreadsWithin threads_within_arrays(const std::shared_ptr<const ParsedFormula>& formula,
                                    const FormulaLaunch& launch);

// Every index of the launch is checked first: a thread that fails, or an index that is negative or
// beyond largest_array_bytes, throws UsageError (text, caret, hint). Each array holds what
// its highest index needs. Costs as much for 2^30 threads as for 2^20 where every part of the
// formula repeats; else every thread is evaluated once.
Program make_formula_program(const std::shared_ptr<const ParsedFormula>& formula,
                             const FormulaLaunch& launch);

}  // namespace coalprof
