// The code that counted instructions call on the GPU, and its record of each site.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/program/site.h"

namespace coalprof {

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

}  // namespace coalprof
