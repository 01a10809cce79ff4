// The lines of a program by what they waste: why, what would fix it, and what that could save.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/program/traced_lines.h"
#include "core/result/result.h"

namespace coalprof {

// What the GPU takes, as far as it is known.
struct LineCosts {
    std::map<std::string, double> seconds_of_kernel;  // by mangled name, all launches together
    double passes_per_second = 0;  // of shared memory, all multiprocessors; 0: not known
};

struct LineReport {
    LineSummary line;
    Readings measured;   // of global memory, counted by the program's own code; of machine code all
    Readings predicted;  // of shared memory: passes, by the rule of the model
    double wasted_share = 0;  // of the line's sectors, or passes, from 0 to 1
    std::optional<double> saves_seconds;
    std::optional<double> kernel_seconds;  // that all launches of its kernel take
};

// Those that could save most time first, then, or where no time is known, those that waste most
// sectors.
std::vector<LineReport> report_lines(std::vector<LineSummary> lines, const LineCosts& costs);

// None: it wastes less than a tenth, or no warp that was kept does. `point`: its name in the
// result.
std::optional<LineFinding> finding_of(const LineReport& report, const std::string& point,
                                      const Machine& machine);

// The same of all machine code of a function, by its mangled name: of its instructions no warps are
// kept. It stands at the one that wastes most. `points`: the names of all reports in the result.
std::optional<LineFinding> finding_of_machine_code(const std::vector<LineReport>& reports,
                                                   const std::string& function,
                                                   const std::vector<std::string>& points);

}  // namespace coalprof
