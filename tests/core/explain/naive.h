// The facts of a warp's access worked out the obvious way, with sets of bytes: what the sentences
// and drawings of `explain` are held against.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/access/warp_access.h"

namespace coalprof::naive {

struct Facts {
    std::vector<std::uint64_t> addresses;             // of the active lanes, in lane order
    std::vector<std::uint32_t> lanes;                 // their numbers
    std::map<std::uint64_t, std::uint32_t> lanes_at;  // address -> how many
    std::set<std::uint64_t> bytes;
    std::map<std::uint64_t, std::uint32_t> used_of_sector;  // sector number -> bytes used
    std::set<std::uint64_t> lines;
    std::uint32_t width_bytes = 0;

    std::uint64_t sectors() const { return used_of_sector.size(); }
    std::uint64_t sectors_needed() const { return (bytes.size() + 31) / 32; }
    std::uint64_t lines_needed() const { return (bytes.size() + 127) / 128; }
    bool is_contiguous() const {
        return !bytes.empty() && *bytes.rbegin() - *bytes.begin() + 1 == bytes.size();
    }
    std::uint64_t runs() const {
        std::uint64_t runs = 0;
        for (const std::uint64_t byte : bytes) runs += byte == 0 || bytes.count(byte - 1) == 0;
        return runs;
    }
    // Differences between neighbouring distinct addresses.
    std::set<std::uint64_t> distances() const {
        std::set<std::uint64_t> distances;
        for (auto at = lanes_at.begin(); at != lanes_at.end(); ++at)
            if (auto next = std::next(at); next != lanes_at.end())
                distances.insert(next->first - at->first);
        return distances;
    }
    std::set<std::uint32_t> used_counts() const {
        std::set<std::uint32_t> counts;
        for (const auto& [sector, used] : used_of_sector) counts.insert(used);
        return counts;
    }
    std::uint32_t most_lanes_at_one() const {
        std::uint32_t most = 0;
        for (const auto& [address, lanes] : lanes_at) most = std::max(most, lanes);
        return most;
    }
};

inline Facts facts_of(const WarpAccess& access, std::int64_t shift_bytes = 0) {
    Facts facts;
    facts.width_bytes = access.width_bytes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
        if ((access.active_lanes >> lane & 1) == 0) continue;
        const std::uint64_t address =
            access.addresses[lane] + static_cast<std::uint64_t>(shift_bytes);
        facts.lanes.push_back(lane);
        facts.addresses.push_back(address);
        ++facts.lanes_at[address];
        for (std::uint32_t i = 0; i < access.width_bytes; ++i) facts.bytes.insert(address + i);
    }
    for (const std::uint64_t byte : facts.bytes) {
        ++facts.used_of_sector[byte / 32];
        facts.lines.insert(byte / 128);
    }
    return facts;
}

}  // namespace coalprof::naive
