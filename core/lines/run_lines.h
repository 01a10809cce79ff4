// The lines of a program that ran: their points, the findings, and the reasons for missing lines.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/lines/line_report.h"
#include "core/machine/machine.h"
#include "core/program/traced_kernels.h"
#include "core/result/result.h"
#include "core/write/output_file.h"

namespace coalprof {

// A run in which CUPTI counted the machine code of one kernel.
struct MachineCodeRun {
    std::string kernel;  // its mangled name
    std::vector<Trace> traces;
};

// The traces of a program's runs.
struct LineTraces {
    std::vector<Trace> first;   // which the hardware counted
    std::vector<Trace> of_ptx;  // which counted itself
    std::vector<MachineCodeRun> of_machine_code;
};

struct RunLines {
    // By mangled names, with those that execute no access.
    std::set<std::string> counted_kernels;
    std::vector<LineReport> reports;  // those that could save most time first
    std::vector<Point> points;        // one point for each report
    std::vector<LineFinding> findings;
    std::vector<Warning> warnings;
};

// `kernels` were counted by the hardware, `traces` come from a GPU of this kind, whose
// multiprocessors together pass this many requests through shared memory in a second; 0: not known.
RunLines lines_of_run(const std::vector<KernelSummary>& kernels, const LineTraces& traces,
                      const Machine& machine, double passes_per_second);

// Writes the kept warps as a warps file. Without any, the file is not changed and a warning says
// so. Throws Error (ExitCode::output).
std::vector<Warning> save_addresses(OutputFile& file, const RunLines& lines);

}  // namespace coalprof
