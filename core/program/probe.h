// Rewrites PTX so that its memory instructions count themselves: before each load, store and atomic
// of global, shared or local memory a call is put that adds up, on the GPU, the instruction's
// requests, and that keeps the addresses of some of its warps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/program/site.h"

namespace coalprof {

// The code that counted instructions call on the GPU, and its record of each site.
inline constexpr std::size_t site_counts = sizeof(SiteTotals) / sizeof(std::uint64_t);
// Words of one warp: a number (from 1; 0: none), its active lanes, then for each lane the address
// in the low 48 bits, and above them a set bit with the low 15 bits of the number less one. Samples
// are spread over all executions.
inline constexpr std::size_t sample_words = 2 + warp_lanes;
inline constexpr const char* counts_symbol = "coalprof_counts";
inline constexpr const char* samples_symbol = "coalprof_samples";

// The number of samples of each site that fit, for this many sites.
std::size_t samples_of_each_of(std::size_t sites);
// The second argument of the function: the site and its properties.
std::uint32_t probe_word(std::size_t site, const PtxSite& of);
// A function, coalprof_probe, and its memory, whose names end in `mark`: code that is linked from
// several texts has one for each.
std::string probe_code(std::size_t sites, std::size_t samples_of_each, std::string_view mark = {});

// The warps in a site's samples (samples_of_each x sample_words numbers). A sample that two warps
// wrote at the same time is left out.
std::vector<WarpAccess> accesses_of(const PtxSite& site, const std::vector<std::uint64_t>& words);

// The reason why code cannot be made to count itself: a clause, "it holds machine code and no PTX".
struct NoPtx {
    std::string reason;
};

struct ProbedPtx {
    std::string text;
    std::vector<PtxSite> sites;  // site n has counts and samples n
    std::size_t samples_of_each = 0;
};

// Rewrites the functions whose mangled name `wants` accepts; always functions that are no kernels.
// NoPtx: there is nothing to count in it, or its text is for GPUs before compute capability 7.0.
// `mark`: see probe_code().
std::variant<ProbedPtx, NoPtx> probe(std::string_view ptx,
                                     const std::function<bool(const std::string&)>& wants,
                                     std::string_view mark = {});

// The mangled names of the kernels in it.
std::vector<std::string> kernels_in(std::string_view ptx);

}  // namespace coalprof
