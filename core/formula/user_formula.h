// One access of a user's formula in one launch, as a custom index formula: the model evaluates it,
// the kernels get its source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/formula/facts.h"
#include "core/formula/lane_program.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"
#include "core/pattern/program.h"

namespace coalprof {

class UserFormula : public CustomFormula {
 public:
    // The launch was checked (check_launch): no thread fails.
    UserFormula(std::shared_ptr<const ParsedFormula> formula, const FormulaAccess& access,
                const Scope& scope, const std::vector<NodeFacts>& facts);

    void evaluate(std::uint64_t first, std::uint32_t count, std::uint64_t* elements) const override;
    std::optional<Period> period() const override { return period_; }
    bool may_idle() const override { return access_.condition.has_value(); }
    bool has_choices() const override;
    Computed computed(ExpressionsSeen& seen) const override;
    bool is_same_as(const CustomFormula& other) const override;
    Functor functor(const std::string& type_name) const override;
    std::string text() const override;
    std::string index_text() const override;
    std::string access_text() const override;

    const ParsedFormula& formula() const { return *formula_; }
    const FormulaAccess& access() const { return access_; }
    const Scope& scope() const { return program_.scope(); }

 private:
    std::string written() const;
    std::optional<std::int64_t> number_of(const Node& node) const;
    bool adds_a_number(const Node& node) const;

    std::shared_ptr<const ParsedFormula> formula_;
    FormulaAccess access_;        // a condition that holds in every thread is left out
    std::vector<bool> is_short_;  // short_divisions()
    LaneProgram program_;
    std::optional<Period> period_;
};

// By node: a division for which 32 bits are enough.
std::vector<bool> short_divisions(const std::vector<Node>& nodes,
                                  const std::vector<NodeFacts>& facts);

// From the tree to C++ source that NVRTC compiles: made of the tree's operators and numbers only,
// so that nothing a user typed ever reaches a compiler. The same text compiles on the host, where
// it is tested. It is the access's element in each thread of the launch, idle_lane where its
// condition switches the thread off; what follows from parameters alone is a number of the functor,
// so that one text serves a sweep. It needs core/pattern/formulas.h before it. It is defined for
// threads that do not fail (check_launch); operands that are not evaluated there are not evaluated
// here.
Functor emit_functor(const ParsedFormula& formula, const FormulaAccess& access, const Scope& scope,
                     const std::vector<bool>& is_short, const std::string& type_name);

}  // namespace coalprof
