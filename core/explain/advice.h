// The cost of the whole launch by the model, and changes that make it cheaper.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/differ.h"
#include "core/result/result.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

// An estimate: nine of ten measured launches lie between low and high.
struct LaunchTime {
    Amount seconds;
    Limit limit = Limit::start;
};

struct Advice {
    std::string change;  // as it is typed: "--pitch auto"
    std::string what;    // "sectors": the unit of both numbers; empty: only time is saved
    std::uint64_t before = 0;
    std::uint64_t after = 0;              // less
    std::optional<LaunchTime> time = {};  // of the launch as advised
};

struct LaunchAdvice {
    std::optional<LaunchTime> time;  // none: the machine's rates are not known
    // First the changes that make less traffic, then those that only save time. Empty: none that
    // was tried helps.
    std::vector<Advice> list;
    // The reason why neither was computed: the launch is too large to evaluate for a drawing.
    std::optional<Warning> omitted = {};
};

// A launch gets no advice where more warps than these repeat no other: each takes some
// microseconds, and so does each change that is tried.
inline constexpr std::uint64_t most_advised_warps = 1ull << 21;

// The plan's program is built. Tries options of this pattern, elements of a thread, threads of a
// block and loads past L1, and two of the latter at once. Nothing with a longer estimated time is
// advised, for time alone nothing that gains less than its own interval, and no two changes that
// gain less than that over the better of them.
LaunchAdvice checked_advice(const Plan& plan, const Machine& machine);
// For a formula, which has one value for each of its parameters: only the launch is changed, and
// blocks only where the formula does not name them.
LaunchAdvice checked_advice(const FormulaSweep& sweep, const Machine& machine);

}  // namespace coalprof
