// Rewrites PTX so that its memory instructions count themselves: before each load, store and atomic
// of global or shared memory a call is put that adds up, on the GPU, what the instruction asks of
// memory, and that keeps the addresses of some of its warps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/access/warp_access.h"

namespace coalprof {

// Why code cannot be made to count itself: a clause, "it holds machine code and no PTX".
struct NoPtx {
    std::string reason;
};

struct SourceLine {
    std::string file;        // empty: the code was built without -lineinfo
    std::uint64_t line = 0;  // from 1
    friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

// Whether the file is a header of the toolkit, or of Triton's language: not the user's own.
bool is_of_toolkit(const SourceLine& place);

// A memory instruction of the program. A generic one has two sites, one for each memory that it can
// reach.
struct PtxSite {
    std::string function;  // mangled: the kernel, or a function that kernels call
    SourceLine source;
    // Where the function that `source` lies in was inlined: the innermost place that is not the
    // toolkit's; empty: nowhere.
    SourceLine inlined_at;
    std::string instruction;  // "ld.global.v4.f32"
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
    std::uint32_t width_bytes = 4;  // a lane
};

// What the GPU keeps of a site: counts, in this order, then samples. All numbers are 64 bits wide,
// little-endian.
struct SiteTotals {
    std::uint64_t executed = 0;        // warps
    std::uint64_t lanes = 0;           // active, over all of them
    std::uint64_t sectors = 0;         // distinct in a warp
    std::uint64_t lines = 0;           // of 128 bytes, likewise
    std::uint64_t places = 0;          // distinct addresses, likewise
    std::uint64_t ideal_sectors = 0;   // of as many lanes side by side; at most `sectors`
    std::uint64_t needed_sectors = 0;  // the fewest that could hold the distinct bytes

    SiteTotals& operator+=(const SiteTotals& other) {
        executed += other.executed;
        lanes += other.lanes;
        sectors += other.sectors;
        lines += other.lines;
        places += other.places;
        ideal_sectors += other.ideal_sectors;
        needed_sectors += other.needed_sectors;
        return *this;
    }
};
inline constexpr std::size_t site_counts = sizeof(SiteTotals) / sizeof(std::uint64_t);
// Of one warp: a number (from 1; 0: none), its active lanes, then for each lane the address in the
// low 48 bits, and above them a set bit with the low 15 bits of the number less one. Samples are
// spread over all executions.
inline constexpr std::size_t sample_words = 2 + warp_lanes;
inline constexpr const char* counts_symbol = "coalprof_counts";
inline constexpr const char* samples_symbol = "coalprof_samples";

struct ProbedPtx {
    std::string text;
    std::vector<PtxSite> sites;  // site n has the counts and samples n
    std::size_t samples_of_each = 0;
};

// Of the functions whose mangled name `wants` accepts; functions that are no kernels always. NoPtx:
// there is nothing to count in it, or its text is for GPUs before compute capability 7.0.
std::variant<ProbedPtx, NoPtx> probe(std::string_view ptx,
                                     const std::function<bool(const std::string&)>& wants);

// The warps that a site's samples hold (samples_of_each x sample_words numbers). One that two warps
// wrote to at the same time is left out.
std::vector<WarpAccess> accesses_of(const PtxSite& site, const std::vector<std::uint64_t>& words);

}  // namespace coalprof
