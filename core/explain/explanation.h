// One warp of a launch explained: its accesses with the lines and sectors they touch, the model's
// counts, their reasons, and a comparison with the other warps of the launch. Plain values;
// drawing.h shows them to people, explanation_json.h to programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/count/coalescer.h"
#include "core/explain/near_memory.h"
#include "core/explain/reasons.h"
#include "core/explain/shape.h"
#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/differ.h"
#include "core/result/reading.h"
#include "core/result/result.h"
#include "core/sweep/formula_sweep.h"

namespace coalprof {

// One instruction of the program.
struct ExplainedInstruction {
    AccessKind kind = AccessKind::load;
    std::string array;    // "a"; empty where the addresses belong to none
    GlobalCounts counts;  // counts of global memory from compute capability 7.0 on
    Readings readings;    // the same counts under the keys of every other output
};

// Instructions that touch the same places, explained once. Byte addresses count from the start of
// their array, or for a warp without arrays from `origin_address`.
struct ExplainedAccess {
    std::vector<ExplainedInstruction> instructions;  // at least one
    WarpAccess access;
    std::uint64_t origin_address = 0;
    std::uint32_t element_bytes = 0;        // size of an element; 0: the array's begin is not known
    std::vector<TouchedLine> lines;         // of global memory, and of local memory as interleaved
    std::optional<BankUse> banks;           // only shared memory has banks
    std::vector<NearPass> constant_passes;  // passes through constant memory
    WarpShape shape;
    Reasons reasons;
    // Findings of a program's line say more than one warp does, and stand instead of the reasons.
    std::vector<LineFinding> findings = {};
};

// The time of the whole launch, an estimate: nine of ten measured launches lie between low and
// high.
struct LaunchTime {
    Amount seconds;
    Limit limit = Limit::start;
};

struct Explanation {
    std::string name;                // "offset=11"
    std::string formula;             // "a[i + offset]"; empty for a warp on its own
    std::string choice;              // reason for this value of the parameter; empty: it was given
    std::string settings;            // "op rmw, type f32"
    NamedValues sweep;               // pattern, parameter, value, op and type, for programs
    std::string machine;             // "h200"
    std::string evidence;            // how well its rules are known: "rules measured"
    std::uint64_t warp = 0;          // counted over the launch
    std::uint64_t warps = 1;         // all warps of the launch
    std::uint64_t first_thread = 0;  // logical index of lane 0
    std::vector<ExplainedAccess> accesses;
    std::optional<LaunchTime> time;  // time of the whole launch
    std::vector<Warning> warnings;   // limits of the machine that the launch exceeds
    bool names_source = false;       // a line is then one of the source, unless it says "cache"
};

// The chosen or commonest warp, and the one that costs most if it is another.
struct DrawnWarps {
    Explanation first;
    std::optional<Explanation> worst = {};
    Status status = Status::complete;  // partial: the launch has a fault
};

// The purpose of an access's instructions, taken together.
Purpose purpose_of(const ExplainedAccess& access);

// Warp `warp` of the plan's launch; by default the first whose lanes are all active. The plan's
// program is built. Throws UsageError for a warp that is not there, and for shared, constant and
// local memory of machines before compute capability 7.0.
Explanation explanation_of(const Plan& plan, const Machine& machine,
                           std::optional<std::uint64_t> warp = {});

// A warp instruction with explicit addresses, multiples of its width, and the facts about its
// array.
struct NamedWarp {
    WarpAccess access;
    std::string array = {};  // empty: nothing is known
    std::optional<std::uint64_t> first_address = std::nullopt;
    std::uint32_t element_bytes = 4;
    std::vector<LineFinding> findings = {};
};
// The same for a warp of one line. Throws UsageError for machines as above.
Explanation explanation_of(const std::string& name, const std::vector<NamedWarp>& warps,
                           const Machine& machine);
Explanation explanation_of(const std::string& name, const WarpAccess& access,
                           const Machine& machine);

// The same of a user's formula, under the name and with the text that the user gave it. `point` is
// the only one of `sweep`.
Explanation explanation_of(const FormulaSweep& sweep, const PlannedPoint& point,
                           const Machine& machine, std::optional<std::uint64_t> warp = {});

// The time of a launch is not computed for a drawing where more warps than these repeat no other:
// each takes some microseconds.
inline constexpr std::uint64_t most_timed_warps = 1ull << 21;

struct TimedLaunch {
    std::optional<LaunchTime> time = {};  // none: the machine's rates are not known
    std::optional<Warning> omitted = {};  // why the time was not computed
};

// The plan's program is built.
TimedLaunch timed(const Plan& plan, const Machine& machine);

}  // namespace coalprof
