// Launches for the tests of core/traffic, and what caches make of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/count/predict.h"
#include "core/formula/formula.h"
#include "core/machine/rates.h"
#include "core/pattern/catalog.h"
#include "core/sim/launch_order.h"
#include "core/traffic/block_replay.h"
#include "core/traffic/cache_traffic.h"
#include "core/traffic/dram_traffic.h"
#include "core/traffic/estimate.h"

namespace coalprof {

inline constexpr std::uint64_t mib = 1 << 20;

inline Plan plan_of(const std::string& pattern, std::uint64_t value, Op op,
                    std::uint64_t size_bytes, std::uint32_t per_thread = 1) {
    Plan plan;
    plan.pattern = pattern;
    plan.value = value;
    plan.op = op;
    plan.shape.size_bytes = size_bytes;
    plan.shape.per_thread = per_thread;
    build_program(plan);
    return plan;
}

inline L2Shares shares_of_h200() { return rates_of(find_machine("h200"))->l2; }

inline CacheTraffic caches_of(const Plan& plan, CacheState l2 = CacheState::cold) {
    const Machine machine = find_machine("h200");
    const LaunchOrder order = order_of(plan);
    const Multiprocessor one = multiprocessor_of(machine, plan);
    return cache_traffic(Predictor(machine).predict_launch(plan, {}),
                         replay_blocks(plan.program, order, one), order,
                         {.keeps_loads = one.keeps_loads,
                          .is_warm = l2 == CacheState::warm,
                          .sectors_once = loaded_once(reaches_of(plan.program))});
}

inline Plan shaped(Plan plan, ElementType type, std::uint32_t block) {
    plan.type = type;
    plan.shape.block = block;
    build_program(plan);
    return plan;
}

inline Plan formula_of(const std::string& text, std::int64_t value, Op op, ElementType type,
                       std::uint64_t bytes, std::uint32_t block, std::uint32_t per_thread = 1) {
    Plan plan = shaped(plan_of("offset", 0, op, bytes, per_thread), type, block);
    plan.program =
        make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {"K"})),
                             {.op = op, .type = type, .shape = plan.shape, .values = {value}});
    return plan;
}

inline Plan formula_plan(const std::string& text, ElementType type, const LaunchShape& shape) {
    Plan plan;
    plan.shape = shape;
    plan.program =
        make_formula_program(std::make_shared<ParsedFormula>(parse_formula(text, {})),
                             {.op = Op::load, .type = type, .shape = shape, .values = {}});
    return plan;
}

// What a whole launch is predicted to read, take, or move.
inline double estimate_of(const Plan& plan, const char* machine_name, CacheState cache,
                          Counter counter) {
    const Machine machine = find_machine(machine_name);
    Readings readings = Predictor(machine).predict_launch(plan, {});
    EXPECT_TRUE(add_estimates(machine, plan, cache, readings));
    return number_in(readings[counter]);
}
inline double launch_seconds(const Plan& plan, const char* machine_name, CacheState cache) {
    return estimate_of(plan, machine_name, cache, Counter::duration_seconds);
}

}  // namespace coalprof
