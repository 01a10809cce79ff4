// The shortest period of an access that can be proven: from the facts of its tree, then shortened
// by comparing every thread of one period.
#pragma once

#include <cstdint>
#include <optional>

#include "core/formula/facts.h"
#include "core/formula/lane_program.h"
#include "core/formula/tree.h"
#include "core/pattern/program.h"

namespace coalprof {

// None where the access is not proven to repeat, or repeats only as the launch ends. `program` is
// the access's, without checks. An index that goes down from period to period has an advance that
// is negative modulo 2^64.
std::optional<Period> find_period(const FormulaAccess& access, const std::vector<NodeFacts>& facts,
                                  const LaneProgram& program);

}  // namespace coalprof
