// The events of warps of some blocks, in the order in which ptxas schedules them: accesses with
// their lines, what each waits for, and how many instructions are issued between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/count/coalescer.h"
#include "core/count/shared_memory.h"
#include "core/program/execute.h"
#include "core/sim/instruction_cost.h"
#include "core/sim/lines_of_warp.h"

namespace coalprof {

enum class TraceUnit : std::uint8_t { load, store, atomic, reduce, shared, barrier, none };

struct TraceEvent {
    TraceUnit unit = TraceUnit::none;
    bool goes_past_l1 = false;
    L1Passes passes = {};          // shared memory: of data
    std::uint32_t site = 0;        // in Code::sites
    std::uint32_t number = 0;      // of the warp's events, for waits
    std::uint32_t part = 0;        // of the warp's rounds: what lies between two is left out
    std::uint32_t waits_for = 0;   // 1 + the number of the event to wait for; 0: none
    std::uint32_t first_line = 0;  // in BlockTraces::lines
    std::uint32_t lines = 0;
    IssueCost cost = {};  // of the instructions issued before it, and itself
};

struct WarpEvents {
    std::vector<TraceEvent> events;
};

struct BlockTraces {
    std::vector<std::vector<WarpEvents>> blocks;  // warps of each
    std::vector<LineTouch> lines;
    std::size_t events = 0;  // that were kept
    double kept_share = 1;   // of the events of the blocks
};

// By site: how passes of its atomics on shared memory are counted.
std::vector<SharedAtomic> sorts_of_atomics(const Code& code, const Machine& machine);

// An instruction's accesses as they would be without their waste.
struct SiteMend {
    enum class Kind : std::uint8_t {
        none,
        adjacent,     // words in the order in which warps reach them, each bank asked once
        padded,       // each row is longer
        in_register,  // a warp goes to a place once, until it comes to a barrier
    };
    Kind kind = Kind::none;
    std::uint64_t row_bytes = 0;  // of padded rows
    std::uint64_t pad_bytes = 0;  // that each gets
};
using SiteMends = std::vector<SiteMend>;  // by Code::sites; empty: none

// Executes these blocks one after the other, each for itself. `share`: of the rounds of long loops
// that are kept, parts of some rounds from the first one on; 1: all, up to a limit for each warp;
// `without_limit`: whole warps.
inline constexpr double without_limit = 2;
BlockTraces trace_blocks(const Code& code, const KernelLaunch& launch, const LaunchMemory& memory,
                         const Machine& machine, const std::vector<std::uint64_t>& blocks,
                         const SiteMends& mends = {}, double share = 1);

// Of global memory, that the traced part of these blocks asks for.
std::vector<double> sectors_of_sites(const BlockTraces& traces, std::size_t sites);

}  // namespace coalprof
