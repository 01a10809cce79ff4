// A layout of CuTe or Triton as typed, and how it is accessed. For `coalprof layout` and
// `coalprof explain layout`.
#pragma once

#include <string>

#include "cli/sweep_options.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

struct LayoutOptions {
    std::string vector;
    std::string space;
    bool has_values = false;

    void add_to(CLI::App& command);
};

// The layout as a formula, called by its text. Machines are left out. Throws UsageError.
FormulaSweep sweep_of(const std::string& text, const LayoutOptions& layout, SweepOptions options);

}  // namespace coalprof
