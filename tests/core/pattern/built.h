// What a pattern makes of a plan without a program, for tests.
#pragma once

#include "core/sweep/patterns.h"

namespace coalprof {

inline Plan built(Plan plan) {
    build_program(plan);
    return plan;
}

}  // namespace coalprof
