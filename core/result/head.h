// The head of a result, written before its first point: who made it, for which GPU, of which sweep.
// Everything that is known by name is a member; lists hold the rest. In files each part is one flat
// object: values_of() and from_values() turn it into named values and back, by one list of its
// members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result/reading.h"

namespace coalprof {

// The GPU that the model predicts for. Empty text and absent numbers are not in files.
struct MachineFacts {
    std::string name = {};                // "h200"; for several "c870,c1060"
    std::string evidence = {};            // how well its rules are known: "rules measured"
    std::string compute_capability = {};  // "9.0"; empty for several machines
    std::string family = {};              // likewise
    std::string board = {};               // "NVIDIA H200"; empty for a bare capability
    NamedValues more = {};                // what later versions add
};

// The driver's description of the measured GPU, and this run's measurements of it.
struct MeasuredDevice {
    std::optional<std::uint64_t> index = {};  // CUDA's
    std::string name = {};                    // "NVIDIA H200"
    std::string uuid = {};
    std::string pci_bus_id = {};
    std::string compute_capability = {};
    std::optional<std::uint64_t> multiprocessors = {};
    std::optional<std::uint64_t> l2_bytes = {};
    std::optional<std::uint64_t> memory_bytes = {};
    std::optional<std::uint64_t> clock_hz = {};
    std::optional<std::uint64_t> memory_clock_hz = {};
    std::optional<std::uint64_t> memory_bus_bits = {};
    std::optional<bool> ecc = {};
    std::optional<std::uint64_t> driver_version = {};  // 13000 is 13.0
    std::optional<std::uint64_t> nvrtc_version = {};
    // Its measured rates of reading and copying, in bytes per second; not there where no time was
    // measured.
    Reading read_ceiling = {};
    Reading copy_ceiling = {};
    Reading start = {};     // seconds that a launch takes to start; likewise
    NamedValues more = {};  // what later versions add
};

// The swept parameter, and the settings that all points share.
struct SweepFacts {
    std::string pattern = {};    // "offset"; "formula", "warps", "verify"
    std::string formula = {};    // "a[i + offset]"; empty if there is none, or several
    std::string file = {};       // the file with formulas or warps
    std::string parameter = {};  // the key of the swept parameter; empty: see parameter_of()
    std::string op = {};         // empty: each point has one, or there is none
    std::string type = {};       // likewise
    std::optional<std::uint64_t> size_bytes = {};
    std::optional<std::uint64_t> block = {};       // threads
    std::optional<std::uint64_t> per_thread = {};  // elements
    // The dimensions of blocks, and of a grid that was asked for; `block` stays the product.
    std::optional<std::uint64_t> block_x = {};
    std::optional<std::uint64_t> block_y = {};
    std::optional<std::uint64_t> block_z = {};
    std::optional<std::uint64_t> grid_x = {};
    std::optional<std::uint64_t> grid_y = {};
    std::optional<std::uint64_t> grid_z = {};
    NamedValues settings = {};               // of memory: dlcm (if the user chose it), dscm, ...
    std::string variant = {};                // which transpose it is
    std::optional<std::uint64_t> tile = {};  // its columns
    // The pattern's own options, the formulas of a file, a default dlcm; unknown members of later
    // versions.
    NamedValues more = {};
    std::optional<std::uint64_t> repeat = {};  // timed launches of each point
    std::string cache = {};                    // "cold", "warm"
};

struct ResultHead {
    std::string coalprof_version;
    std::vector<std::string> argv;
    std::string time_utc;  // "2026-11-21T05:20:00Z"
    // Variables by which other tools load code into the process and can change its measurements, as
    // far as they are set: CUDA_INJECTION64_PATH, LD_PRELOAD.
    NamedValues environment = {};
    MachineFacts machine;
    std::optional<MeasuredDevice> device;  // none: not measured
    std::string backend;                   // "model" or "device"
    std::uint64_t passes = 0;              // hardware passes of the counters; 0: none were read
    SweepFacts sweep;
    bool compares_settings = false;       // points differ in settings of memory
    std::optional<std::uint64_t> points;  // number to come, where that is known
    // Points come the slowest first: tables show as many as fit a screen. Not in files.
    bool is_ranking = false;
    // The only counters to show; empty: all.
    std::vector<Counter> columns;
    // The counters that formats other than JSON show; empty: all. Not in files.
    std::vector<Counter> table_columns = {};
    // The counters by which points are judged or ordered: tables keep them where space is short.
    std::vector<Counter> foremost;
};

// The key that varies from point to point: the swept one, else one that distinguishes points.
std::string_view parameter_of(const SweepFacts& sweep);

// All keys that a sweep of any pattern may have: "op", "dlcm".
std::vector<std::string_view> names_in_sweeps();

// As in files: one value for each member that is there, in a fixed order.
NamedValues values_of(const MachineFacts& machine);
NamedValues values_of(const MeasuredDevice& device);
NamedValues values_of(const SweepFacts& sweep);

// The inverse of values_of(). A value of no known name is kept in the list of its place. Throws
// std::invalid_argument, with the name as what(), where a value of a known name is of another kind.
MachineFacts machine_from(const NamedValues& values);
MeasuredDevice device_from(const NamedValues& values);
SweepFacts sweep_from(const NamedValues& values);

// Comparing the machine, GPU and settings in two heads: are the results of the same sweep?

struct HeadDifference {
    std::string name;  // "machine", "device", or a member of the sweep: "dlcm"
    std::string text;  // "dlcm (ca and cg)", printable
};

// The differences, except for files, repetitions and the settings that distinguish the shards of
// one sweep.
std::vector<HeadDifference> differences(const ResultHead& one, const ResultHead& other);

// The names in which two results may differ: every setting that a sweep can have, and others in
// these.
std::vector<std::string> comparable_names(const ResultHead& one, const ResultHead& other);

}  // namespace coalprof
