// Launches for tests of the model of time, and what it makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/count/predict.h"
#include "core/formula/formula.h"
#include "core/machine/rates.h"
#include "core/pattern/built.h"
#include "core/sim/estimate.h"

namespace coalprof {

inline constexpr std::uint64_t mebibyte = 1 << 20;

inline Plan plan_of(const std::string& pattern, std::uint64_t value, Op op,
                    std::uint64_t size_bytes, std::uint32_t per_thread = 1) {
    return built({.pattern = pattern,
                  .value = value,
                  .op = op,
                  .shape = {.size_bytes = size_bytes, .per_thread = per_thread}});
}

inline Plan formula_plan(const std::string& text, ElementType type, const LaunchShape& shape,
                         Op op = Op::load) {
    Plan plan;
    plan.op = op;
    plan.shape = shape;
    plan.program = make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {})),
                                        {.op = op, .type = type, .shape = shape, .values = {}});
    return plan;
}

struct Estimated {
    Readings readings;
    Estimates estimates;
    double at(Counter counter) const { return number_in(readings[counter]); }
    double seconds() const { return at(Counter::duration_seconds); }
};
// What a whole launch is predicted to do.
inline Estimated estimated(const Plan& plan, std::string_view machine_name,
                           CacheState cache = CacheState::cold) {
    const Machine machine = find_machine(machine_name);
    Estimated one{.readings = Predictor(machine).predict_launch(plan, {}), .estimates = {}};
    const auto estimates = add_estimates(machine, plan, cache, one.readings);
    EXPECT_TRUE(estimates);
    if (estimates) one.estimates = *estimates;
    return one;
}

}  // namespace coalprof
