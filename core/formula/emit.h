// From the tree to C++ source that NVRTC compiles: made of the tree's operators and numbers only,
// so that nothing a user typed ever reaches a compiler. The same text compiles on the host, where
// it is tested.
#pragma once

#include <string>

#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

// `struct TYPE_NAME { constexpr Index operator()(Index thread) const {...} };`: the access's
// element in each thread of the launch, idle_lane where its condition switches the thread off. It
// needs Index, idle_lane and Scatter of core/pattern/formulas.h before it. It is defined for
// threads that do not fail (check_launch); operands that are not evaluated there are not evaluated
// here.
std::string emit_functor(const ParsedFormula& formula, const FormulaAccess& access,
                         const Scope& scope, const std::string& type_name);

}  // namespace coalprof
