// A formula as typed: its text, its parameters and its launch; or a layout, which becomes one. For
// `coalprof formula`, `layout`, `explain formula` and `explain layout`.
#pragma once

#include <string>
#include <vector>

#include "cli/sweep_options.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

struct FormulaOptions {
    std::string text;
    std::vector<std::string> variables;  // "k=0..32"
    std::vector<std::string> arrays;     // "col=@col.npy"
    // If `is_layout`, `text` is a layout, and the others say how it is accessed.
    bool is_layout = false, has_values = false;
    std::string vector, space;

    void add_to(CLI::App& command, OptionValues values = OptionValues::several);
    void add_layout_to(CLI::App& command);
    // Throws UsageError.
    std::vector<FormulaParameter> parameters() const;
    // The arrays go into `sweep`. Throws UsageError.
    void declare(FormulaSweep& sweep) const;
};

// The formula that was typed. Machines are left out. Throws UsageError.
FormulaSweep sweep_of(const FormulaOptions& formula, const SweepOptions& options);

}  // namespace coalprof
