// What `coalprof run --lines` tells of the lines of a program.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"
#include "core/program/traced_kernels.h"
#include "core/result/result.h"
#include "core/text/error.h"
#include "core/write/output_file.h"

namespace coalprof {

struct RunLines {
    std::vector<Point> points;  // those that could save most time first
    std::vector<LineFinding> findings;
    std::vector<Warning> warnings;
    std::optional<Error> failure;  // of the file of addresses: to be thrown behind the result
};

// A run in which CUPTI counted the machine code of one kernel.
struct MachineCodeRun {
    std::string kernel;  // by its mangled name
    std::vector<Trace> traces;
};

// What the runs of a program told of its lines.
struct LineTraces {
    std::vector<Trace> of_ptx;  // which counted itself
    std::vector<MachineCodeRun> of_machine_code;
    bool may_ask_for_more = false;  // as nobody did, and there are such kernels
};

// `kernels` were counted by the hardware, `traces` come from the GPU of `facts`. `addresses`: a
// warps file for the warps that were kept, which is left as it is where none were; may be null.
RunLines lines_of_run(const std::vector<KernelSummary>& kernels, const LineTraces& traces,
                      const std::optional<DeviceFacts>& facts, OutputFile* addresses);

// Of a program whose first run told that a second one would tell no lines: what its code is like.
std::vector<Warning> why_it_ran_once(const std::vector<Trace>& traces);

// The sentences of all processes, each once.
std::vector<Warning> problems_of(const std::vector<Trace>& traces, std::string_view code);

}  // namespace coalprof
