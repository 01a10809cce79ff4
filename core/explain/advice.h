// Advice that the model has checked: what another option of the same pattern would do to the whole
// launch, in numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/counter.h"

namespace coalprof {

struct Advice {
    std::string change;  // as it is typed: "--pitch auto"
    std::string what;    // "sectors": what the two numbers count
    std::uint64_t before = 0;
    std::uint64_t after = 0;  // less
};

// None: no option that belongs to the pattern makes the launch cheaper.
std::optional<Advice> checked_advice(const Plan& plan, const Machine& machine);

}  // namespace coalprof
