// The report of the library inside a user's program (cupti/attach) to the command that started it:
// a file of JSON lines, each written whole as kernels are counted, so that the finished kernels of
// a program that crashes or is killed are kept. Versioned: library and command are two files.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/probe.h"
#include "core/result/reading.h"

namespace coalprof {

inline constexpr std::uint64_t trace_version = 5;

// Launches that are the same for our purposes.
struct TracedKernel {
    std::string name;                    // the program's symbol: mangled
    std::array<std::uint32_t, 3> grid;   // blocks
    std::array<std::uint32_t, 3> block;  // threads
    std::uint64_t device = 0;            // CUDA's index in the program
    friend auto operator<=>(const TracedKernel&, const TracedKernel&) = default;
};

// All launches of CUDA graphs on a GPU, under one name.
TracedKernel graph_launch(std::uint64_t device);
bool is_graph(const TracedKernel& kernel);

struct CountedLaunch {
    std::uint64_t number = 0;  // number among all launches of the process, from 1
    TracedKernel kernel;
    Readings measured;  // duration_seconds: while the GPU had warps of it
};

// Times of launches that were not counted, from CUPTI's records; for a graph, of its kernels
// together.
struct TimedLaunches {
    std::uint64_t launches = 0;
    double median_seconds = 0;
    double total_seconds = 0;
};

// A memory instruction of a program whose code was rewritten: the sum of all its executions.
struct TracedSite {
    std::string id;  // unique in the process
    PtxSite site;
    SiteTotals totals;
    std::vector<WarpAccess> samples;  // some of its warps
};

// A memory instruction of machine code, with CUPTI's counts over chosen launches of its function.
struct TracedInstruction {
    std::string function;      // mangled
    std::uint64_t offset = 0;  // bytes, from the function's begin
    SourceLine source;
    // By metric (core/program/machine_code.h), over all executions; absent: not counted.
    std::map<std::string, std::uint64_t> counts;
};

struct TracedProcess {
    std::uint64_t id = 0;
    std::string program;  // its file
};

// The trace of one process, as far as it was written.
struct Trace {
    TracedProcess process;
    std::vector<CountedLaunch> counted;
    std::map<TracedKernel, TimedLaunches> timed;  // the last records
    // Every kernel that was launched and how often, counted or not; written at the end: none where
    // the program ended without that.
    std::optional<std::map<TracedKernel, std::uint64_t>> launches;
    std::vector<std::string> problems;  // sentences
    std::set<std::string> unfinished;   // kernels that did not end within the wait
    std::set<std::string> libraries;    // paths of some loaded libraries
    // For code that was loaded: see may_have_lines().
    std::set<std::string> rewritable;         // kernels, by their mangled names
    std::set<std::string> rewritten;          // those that count themselves
    std::set<std::string> lacks_ptx;          // reasons: clauses
    std::set<std::string> unknown_code;       // reasons: clauses
    std::set<std::string> ranges;             // some NVTX ranges that were opened
    std::map<std::string, TracedSite> sites;  // id -> its last record
    // For one function; of its launches, `launches` has those that were counted.
    std::vector<TracedInstruction> instructions;
};

// One of these sets, united over all processes.
std::set<std::string> names_in(const std::vector<Trace>& traces,
                               std::set<std::string> Trace::*part);

// Throws Error where a line cannot be written.
class TraceWriter {
 public:
    // Makes a new file. Where the name is taken, by a process of another PID namespace or by this
    // process before exec(), it is another: 1234-2.trace instead of 1234.trace.
    TraceWriter(std::string path, const TracedProcess& process);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    const std::string& path() const { return path_; }
    void counted(const CountedLaunch& launch);
    void timed(const TracedKernel& kernel, const TimedLaunches& times);
    void problem(std::string_view sentence);
    void range(std::string_view name);
    void unfinished(std::string_view kernel);
    void loaded(std::string_view path);  // a library
    void rewritable(std::string_view kernel);
    void rewritten(std::string_view kernel);
    void lacks_ptx(std::string_view reason);
    void unknown_code(std::string_view reason);
    void site(const TracedSite& site);  // replaces the earlier record of it
    void instruction(const TracedInstruction& told);
    void end(const std::map<TracedKernel, std::uint64_t>& launches);

 private:
    void line(const std::string& text);
    // True if the descriptor is still the trace's.
    bool is_ours() const;
    void reopen();
    std::string path_;
    int fd_ = -1;
    dev_t device_ = 0;
    ino_t file_ = 0;
};

// All whole lines; an incomplete last line of a killed program is skipped. Other unreadable lines,
// or an unreadable file, are a problem of the trace: the rest is read.
Trace read_trace(const std::string& path);

}  // namespace coalprof
