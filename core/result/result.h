// The result of a command: a head, points one after the other, and a tail. Plain values: what
// measures fills them, what writes reads them, and neither knows the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/result/reading.h"

namespace coalprof {

// A small tree-free value of the head, printed as it is: text, integer, real, flag or nothing.
using Value = std::variant<std::monostate, std::string, std::int64_t, double, bool>;
using NamedValues = std::vector<std::pair<std::string, Value>>;

struct ResultHead {
    std::string coalprof_version;
    std::vector<std::string> argv;
    std::string time_utc;  // "2026-11-21T05:20:00Z"
    NamedValues machine;   // what the model predicts for: name, compute_capability, ...
    std::optional<NamedValues> device;    // the GPU that was measured; none: nothing was
    std::vector<NamedValues> devices;     // each of them, where several were measured
    std::string backend;                  // "model" or "device"
    std::uint64_t passes = 0;             // hardware passes of the counters; 0 where none were read
    NamedValues sweep;                    // pattern, parameter, type, op, size_bytes, block, ...
    std::string parameter;                // the swept parameter's key ("offset"); "name" for warps
    bool compares_settings = false;       // points differ in settings that are judged at the end
    std::optional<std::uint64_t> points;  // how many will come, where that is known
    // The only counters that are to be shown; empty: all that there are.
    std::vector<Counter> columns;
};

struct Timing {
    std::uint64_t repeats = 0;
    double median_seconds = 0;
    double low_seconds = 0;   // 25th percentile
    double high_seconds = 0;  // 75th percentile
    double min_seconds = 0;
    double max_seconds = 0;
};

struct Point {
    std::string name;        // "offset=11", or the warp's NAME
    NamedValues parameters;  // offset: 11, dlcm: "ca"
    Readings predicted;
    std::optional<Readings> measured;  // none: nothing was measured
    std::optional<Timing> timing;
    std::string failure;  // why this point failed; empty: it did not
};

struct Warning {
    std::string code;   // "W-MISMATCH"
    std::string point;  // its name; empty: the whole run
    std::string text;
};

// As one sentence for people: "warning W-MISMATCH: offset=1: ...".
std::string describe(const Warning& warning);

// Which of several combinations of settings serves a pattern best.
struct Verdict {
    enum class Basis : std::uint8_t {
        none,  // nothing is known of all combinations
        measured_time,
        predicted_bandwidth,
        predicted_traffic,
        predicted_l1_reuse,  // the traffic is the same, but not every split of L1 keeps shared
                             // lines
    };
    NamedValues scope = {};  // the machine or GPU that it holds for; empty: the whole result
    Basis basis = Basis::none;
    std::uint64_t combinations = 0;
    std::uint64_t values = 0;            // of the parameter that were compared
    std::vector<NamedValues> best = {};  // several: nothing tells them apart; none: no verdict
    double gain = 1;                     // how many times more the worst one takes than the best
    std::string text = {};               // the same as a sentence
};
std::string_view name_of(Verdict::Basis basis);

enum class Status : std::uint8_t { complete, partial, interrupted };
std::string_view name_of(Status status);

struct ResultTail {
    Status status = Status::complete;
    std::vector<Warning> warnings;
    std::vector<Verdict> verdicts = {};
};

// Whoever receives a result as it is made: a format, several of them, a test.
class ResultSink {
 public:
    virtual ~ResultSink() = default;
    virtual void begin(const ResultHead& head) = 0;
    virtual void point(const Point& point) = 0;
    virtual void finish(const ResultTail& tail) = 0;
};

}  // namespace coalprof
