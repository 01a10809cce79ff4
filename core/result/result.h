// The result of a command: a head, points one after the other, and a tail. Plain values, filled by
// measurement and read by writers, which do not know each other.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result/counter.h"
#include "core/result/head.h"
#include "core/result/reading.h"
#include "core/runtime/signal.h"
#include "core/text/error.h"

namespace coalprof {

// The uncertainty of predicted values that are no exact counts: an interval each, and what limits
// the launch. Exact counters are never in it.

// An interval that holds nine of ten measured launches.
struct Interval {
    Counter counter;
    double low = 0;
    double high = 0;
};

// The part of the GPU that limits a launch.
enum class Limit : std::uint8_t {
    start,
    blocks,
    instructions,
    latency,
    l1,
    l2,
    dram,
    same_line,
    atomics,
};
inline constexpr std::size_t limit_count = static_cast<std::size_t>(Limit::atomics) + 1;
std::string_view name_of(Limit limit);    // its name in JSON: "same_line"
std::string_view word_of(Limit limit);    // its word in a table's column: "one line"
std::string_view phrase_of(Limit limit);  // what follows "limited by": "launching blocks"
std::optional<Limit> find_limit(std::string_view name);

struct Estimates {
    std::vector<Interval> intervals;  // the order is that of the counters
    std::vector<Limit> limits;        // what limits the time, the strongest first

    // None: the counter is exact, or missing.
    const Interval* of(Counter counter) const;
};

struct Timing {
    std::uint64_t repeats = 0;
    double median_seconds = 0;
    double low_seconds = 0;   // 25th percentile
    double high_seconds = 0;  // 75th percentile
    double min_seconds = 0;
    double max_seconds = 0;
};

// The settings of a launch as the driver made it.
struct LaunchSettings {
    std::string architecture = {};  // what the code was compiled for: "sm_90"
    std::uint64_t grid_blocks = 0;
    std::uint32_t block_threads = 0;
    std::uint32_t registers = 0;     // a thread's registers
    std::uint64_t local_bytes = 0;   // a thread's arrays and spilled registers
    std::uint64_t shared_bytes = 0;  // a block's shared memory
    std::uint32_t blocks_per_multiprocessor = 0;
    double occupancy = 0;  // resident warps, as a share of the most
    // Shared memory's part of L1, per cent of the most that it can be; none: the driver's choice.
    std::optional<std::uint32_t> carveout_percent = {};
    std::optional<std::uint64_t> l2_fetch_bytes = {};  // none: the device does not say
};

// One of several instructions of a launch.
struct InstructionResult {
    std::string array;   // "tile"
    std::string op;      // "load", "shared_store"
    std::string type;    // "f32"
    std::string index;   // "i*3", as it was written; empty: not written
    std::string access;  // an access that is no array[index]: "p[i].x", "*(p + i)"
    Readings predicted;  // the launch's share of it, up to L1; L2 sees them all together
};

struct Point {
    std::string name;        // "offset=11", or the warp's NAME
    NamedValues parameters;  // offset: 11, dlcm: "ca"
    Readings predicted;
    std::optional<Estimates> estimates;           // none: all predictions are exact
    std::vector<InstructionResult> instructions;  // the program's order; empty for a single one
    std::optional<Readings> measured;             // none: nothing was measured
    std::optional<Timing> timing;
    std::optional<LaunchSettings> launch;  // none: nothing was launched
    std::string failure;                   // the reason for a failed point; empty: it did not fail
};

struct Warning {
    std::string code;   // "W-MISMATCH"
    std::string point;  // its name; empty: the whole run
    std::string text;
};

// True for a warning that only says what was assumed.
bool is_note(const Warning& warning);
// As one sentence for people: "warning W-MISMATCH: offset=1: ...".
std::string describe(const Warning& warning);

// The best of several combinations, as --best finds it.
struct Verdict {
    NamedValues scope = {};  // the counter that decides, and where there are several the size
    std::uint64_t combinations = 0;
    std::uint64_t values = 0;  // compared values of the parameter
    std::vector<NamedValues> best =
        {};                 // several: they are equally good; empty if there is no verdict
    double gain = 1;        // how many times more the worst one takes than the best
    std::string text = {};  // the same as a sentence
};

// Wasted memory traffic in a kernel, and a fix: one for each cause.
struct LineFinding {
    std::string point;                     // the most wasteful instruction, by its name
    std::vector<std::string> others = {};  // further ones with the same cause
    std::string kernel = {};               // its short name; empty: not known
    std::string cause;                     // "strided"
    std::string text;                      // the reason, a sentence or two
    std::string fix;
    // What draws it, as explain takes it: "kernel FILE --line 3", or the pattern that it looks
    // like, "stride --at 3"; may be empty.
    std::string like;
    // One of its warps as a line of a warps file, relative to the line of its lowest address;
    // empty: none was kept.
    std::string warp = {};
    // About, for all launches: the kernel's time multiplied by the wasted share of its sectors, or
    // the time of the passes. None: the kernel's time is not known.
    std::optional<double> saves_seconds = {};
    std::optional<double> kernel_seconds = {};  // all its launches together
    std::optional<std::uint64_t> launches = {};
    // The measured saving in the programs that were fixed by hand: least and most.
    std::optional<std::array<double, 2>> saves_interval_seconds = {};
};

enum class Status : std::uint8_t { complete, partial, interrupted };
std::string_view name_of(Status status);

struct ResultTail {
    Status status = Status::complete;
    std::vector<Warning> warnings = {};
    std::vector<Verdict> verdicts = {};
    std::vector<LineFinding> findings = {};  // the costliest first
};

// Takes a result while it is made: a format, several of them, a test.
class ResultSink {
 public:
    virtual ~ResultSink() = default;
    virtual void begin(const ResultHead& head) = 0;
    virtual void point(const Point& point) = 0;
    // The end of one of several results, which finish() ends together.
    virtual void end_of_part(const ResultTail&) {}
    virtual void finish(const ResultTail& tail) = 0;
};

// The end of a run by a signal: it ends after the point in flight, or in the middle of a long
// prediction, and finished points are delivered.

// The exit code of a result that ended so: 0, 4, or 128 and the number of the signal, as in shells.
ExitCode exit_code_of(Status status);

// Visits every text in a result, names of values included. In one place, so that an added member is
// not forgotten: tests/cli/hostile_test.py finds those that are.

using VisitText = std::function<void(std::string&)>;
using LookAtText = std::function<void(const std::string&)>;

// Without the reasons of readings, which are always printable: see keep_reason().
void each_text(ResultHead& head, const VisitText& visit);
void each_text(Point& point, const VisitText& visit);
void each_text(const Point& point, const LookAtText& look);
void each_text(ResultTail& tail, const VisitText& visit);
void each_text(NamedValues& values, const VisitText& visit);

}  // namespace coalprof
