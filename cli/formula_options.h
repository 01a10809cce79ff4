// A formula as typed: its text, its parameters and its launch. For `coalprof formula` and
// `coalprof explain formula`.
#pragma once

#include <string>
#include <vector>

#include "cli/sweep_options.h"
#include "core/formula/formula_file.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

struct FormulaOptions {
    std::string text;
    std::vector<std::string> variables;   // "k=0..32"
    std::vector<std::string> structures;  // "struct P { float x, y, z; }"
    std::vector<std::string> arrays;      // "col=@col.npy"

    void add_to(CLI::App& command, OptionValues values = OptionValues::several);
    // Throws UsageError.
    std::vector<FormulaParameter> parameters() const;
    // Structures and arrays go into `sweep`. Throws UsageError.
    void declare(FormulaSweep& sweep) const;
};

// The formula that was typed. Machines are left out. Throws UsageError.
FormulaSweep sweep_of(const FormulaOptions& formula, const SweepOptions& options);

// A saved formula; options that `command` was given and the values of `typed` parameters override
// the file's. Machines are left out. Throws UsageError.
FormulaSweep sweep_of(const SavedFormula& saved, const FormulaOptions& typed,
                      const SweepOptions& options, const CLI::App& command);

}  // namespace coalprof
