// What the model counts of a warp's load, counted in the obvious way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"

namespace coalprof::bench {

struct ReferenceCounts {
    std::uint64_t sectors = 0;
    std::uint64_t lines = 0;
    std::uint64_t unique_bytes = 0;
    std::uint64_t tag_wavefronts = 0;
    std::uint64_t data_wavefronts = 0;
    bool operator==(const ReferenceCounts&) const = default;
};

inline std::uint32_t tag_bank_of(std::uint64_t line, const TagBanks& banks) {
    const auto parity = [](std::uint64_t bits) {
        return static_cast<std::uint32_t>(std::popcount(bits)) % 2;
    };
    return 2 * parity(line & banks.high_mask) + parity(line & banks.low_mask);
}

// What the model counts of a load, the way one writes it down first. Addresses are multiples of the
// width, at most 16 bytes: an element lies within one sector.
inline ReferenceCounts count_with_sets(const WarpAccess& access, const TagBanks& banks) {
    ReferenceCounts counts;
    std::set<std::uint64_t> sectors, elements;
    std::map<std::uint64_t, std::uint32_t> wavefront_of_line;
    std::map<std::uint32_t, std::uint32_t> lines_of_bank;
    // Distinct words that meet in a word bank, by wavefront, phase and word bank.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::set<std::uint64_t>>
        words;
    const std::uint32_t phases = access.width_bytes <= 4 ? 1 : access.width_bytes / 4;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) == 0) continue;
        const std::uint64_t address = access.addresses[lane];
        const std::uint64_t line = address / line_bytes;
        sectors.insert(address / sector_bytes);
        elements.insert(address);
        if (!wavefront_of_line.contains(line))
            wavefront_of_line[line] = lines_of_bank[tag_bank_of(line, banks)]++;
        for (std::uint64_t word = address / 4; word * 4 < address + access.width_bytes; ++word)
            words[{wavefront_of_line[line], lane / (warp_lanes / phases), word % 32}].insert(word);
    }
    counts.sectors = sectors.size();
    counts.lines = wavefront_of_line.size();
    counts.unique_bytes = elements.size() * access.width_bytes;
    for (const auto& [bank, lines] : lines_of_bank)
        counts.tag_wavefronts = std::max<std::uint64_t>(counts.tag_wavefronts, lines);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> passes;
    for (const auto& [place, different] : words) {
        std::uint64_t& most = passes[{std::get<0>(place), std::get<1>(place)}];
        most = std::max<std::uint64_t>(most, different.size());
    }
    for (const auto& [place, most] : passes) counts.data_wavefronts += most;
    return counts;
}

}  // namespace coalprof::bench
