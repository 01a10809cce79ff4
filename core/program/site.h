// A memory instruction of a program's PTX, and the sum of all its executions.
#pragma once

#include <cstdint>
#include <string>

#include "core/access/warp_access.h"

namespace coalprof {

struct SourceLine {
    std::string file;        // empty: the code was built without -lineinfo
    std::uint64_t line = 0;  // counted from 1
    friend auto operator<=>(const SourceLine&, const SourceLine&) = default;
};

// True if the file is a header of the toolkit, or of Triton's language: not the user's.
bool is_of_toolkit(const SourceLine& place);

// A memory instruction of the program. A generic one has two sites, one for each possible memory.
struct PtxSite {
    std::string function;  // mangled: the kernel, or a function that kernels call
    SourceLine source;
    // The innermost place where the function of `source` was inlined that is not the toolkit's;
    // empty: nowhere.
    SourceLine inlined_at;
    std::string instruction;  // "ld.global.v4.f32"
    AccessKind kind = AccessKind::load;
    Space space = Space::global;
    std::uint32_t width_bytes = 4;  // a lane
    std::string array = {};         // the accessed array, see array_names.h; empty: not known
};

// Local memory is interleaved by words of this size.
inline constexpr std::uint32_t local_word_bytes = 4;

// The record of a site on the GPU: counts, in this order, then samples. All numbers are 64 bits
// wide, little-endian.
struct SiteTotals {
    std::uint64_t executed = 0;        // warps
    std::uint64_t lanes = 0;           // active, over all of them
    std::uint64_t sectors = 0;         // distinct in a warp
    std::uint64_t lines = 0;           // lines of 128 bytes, likewise
    std::uint64_t places = 0;          // distinct addresses, likewise
    std::uint64_t ideal_sectors = 0;   // sectors of as many adjacent lanes; at most `sectors`
    std::uint64_t needed_sectors = 0;  // the fewest that could hold the distinct bytes
    std::uint64_t passes = 0;          // passes through the banks of shared memory
    std::uint64_t ideal_passes = 0;    // passes if no banks conflicted

    SiteTotals& operator+=(const SiteTotals& other) {
        executed += other.executed;
        lanes += other.lanes;
        sectors += other.sectors;
        lines += other.lines;
        places += other.places;
        ideal_sectors += other.ideal_sectors;
        needed_sectors += other.needed_sectors;
        passes += other.passes;
        ideal_passes += other.ideal_passes;
        return *this;
    }
};

}  // namespace coalprof
