// An index formula made of its text, for programs that tests put together.
#pragma once

#include <memory>
#include <string>

#include "core/formula/formula.h"

namespace coalprof {

inline Formula index_of(const std::string& text, std::uint64_t threads = 1 << 20,
                        std::uint32_t block = 256) {
    const FormulaLaunch launch{.type = ElementType::u8,
                               .shape = {.size_bytes = threads, .block = block}};
    const auto formula = std::make_shared<const ParsedFormula>(parse_formula(text, {}));
    return make_formula_program(formula, launch).instructions.front().formula;
}

}  // namespace coalprof
