#include "core/explain/shape.h"

#include <algorithm>
#include <bit>

#include "core/access/lane_set.h"

namespace coalprof {
namespace {

std::vector<std::uint64_t> addresses_in_lane_order(const WarpAccess& access) {
    std::vector<std::uint64_t> addresses;
    each_lane(access.active_lanes,
              [&](std::uint32_t lane) { addresses.push_back(access.addresses[lane]); });
    return addresses;
}

void set_distance(WarpShape& shape, const std::vector<std::uint64_t>& places) {
    if (places.size() < 2) return;
    const std::uint64_t distance = places[1] - places[0];
    for (std::size_t i = 2; i < places.size(); ++i)
        if (places[i] - places[i - 1] != distance) return;
    shape.distance_bytes = distance;
}

bool are_neighbours(std::uint32_t lanes) {
    const std::uint32_t from_first = lanes >> std::countr_zero(lanes);
    return (from_first & (from_first + 1)) == 0;
}

// True if every address is `step` above the one before; `step` may be negative, modulo 2^64.
bool rises_by(const std::vector<std::uint64_t>& addresses, std::uint64_t step) {
    for (std::size_t i = 1; i < addresses.size(); ++i)
        if (addresses[i] - addresses[i - 1] != step) return false;
    return true;
}

std::uint64_t magnitude(std::uint64_t step) { return std::min(step, 0 - step); }

// `by_lane`: addresses of neighbouring lanes, beginning with a row's first.
std::optional<LaneRows> lane_rows_of(const std::vector<std::uint64_t>& by_lane) {
    for (std::size_t lanes = 2; lanes < by_lane.size(); lanes *= 2) {
        const std::uint64_t step = by_lane[1] - by_lane[0];
        const std::uint64_t row_step = by_lane[lanes] - by_lane[0];
        bool fits = true;
        for (std::size_t i = 0; i < by_lane.size(); ++i)
            fits = fits && by_lane[i] == by_lane[0] + i % lanes * step + i / lanes * row_step;
        if (fits)
            return LaneRows{static_cast<std::uint32_t>(lanes), magnitude(step),
                            magnitude(row_step)};
    }
    return std::nullopt;
}

}  // namespace

std::vector<TouchedLine> touched_lines(const WarpAccess& access) {
    std::vector<TouchedLine> lines;
    for (std::uint64_t address : addresses_in_lane_order(access))
        lines.push_back({address - address % line_bytes, {}});
    const auto by_address = [](const TouchedLine& a, const TouchedLine& b) {
        return a.address < b.address;
    };
    std::sort(lines.begin(), lines.end(), by_address);
    const auto same = [](const TouchedLine& a, const TouchedLine& b) {
        return a.address == b.address;
    };
    lines.erase(std::unique(lines.begin(), lines.end(), same), lines.end());

    // Readers of files ensure that no access crosses its sector; one that does ends there.
    each_lane(access.active_lanes, [&](std::uint32_t lane) {
        const std::uint64_t address = access.addresses[lane];
        const TouchedLine key{address - address % line_bytes, {}};
        TouchedLine& line = *std::lower_bound(lines.begin(), lines.end(), key, by_address);
        TouchedSector& sector = line.sectors[address % line_bytes / sector_bytes];
        const auto byte = static_cast<std::uint32_t>(address % sector_bytes);
        sector.lanes |= 1u << lane;
        sector.used_bytes |= static_cast<std::uint32_t>((1ull << access.width_bytes) - 1) << byte;
        const std::uint32_t end =
            std::min(byte + access.width_bytes, static_cast<std::uint32_t>(sector_bytes));
        for (std::uint32_t word = byte / 4; word * 4 < end; ++word) ++sector.lanes_of_word[word];
    });
    return lines;
}

WarpShape shape_of(const WarpAccess& access) {
    WarpShape shape;
    shape.width_bytes = access.width_bytes;
    if (access.active_lanes == 0) return shape;
    const std::vector<std::uint64_t> by_lane = addresses_in_lane_order(access);
    shape.active_lanes = static_cast<std::uint32_t>(by_lane.size());
    shape.lanes_rise = std::is_sorted(by_lane.begin(), by_lane.end());

    std::vector<std::uint64_t> places = by_lane;
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size();) {
        std::size_t end = i;
        while (end < places.size() && places[end] == places[i]) ++end;
        shape.most_lanes_a_place =
            std::max(shape.most_lanes_a_place, static_cast<std::uint32_t>(end - i));
        i = end;
    }
    places.erase(std::unique(places.begin(), places.end()), places.end());
    shape.places = static_cast<std::uint32_t>(places.size());
    shape.first_byte = places.front();
    shape.runs = 1;
    for (std::size_t i = 1; i < places.size(); ++i)
        shape.runs += places[i] != places[i - 1] + access.width_bytes;
    set_distance(shape, places);
    if (shape.distance_bytes && are_neighbours(access.active_lanes))
        shape.lanes_keep_distance = rises_by(by_lane, *shape.distance_bytes) ||
                                    rises_by(by_lane, 0 - *shape.distance_bytes);
    if (!shape.lanes_keep_distance && are_neighbours(access.active_lanes) &&
        (access.active_lanes & 1) != 0)
        shape.rows = lane_rows_of(by_lane);
    shape.least_used_bytes = sector_bytes;
    for (const TouchedLine& line : touched_lines(access)) {
        ++shape.lines;
        for (const TouchedSector& sector : line.sectors) {
            if (sector.lanes == 0) continue;
            ++shape.sectors;
            const auto used = static_cast<std::uint32_t>(std::popcount(sector.used_bytes));
            shape.least_used_bytes = std::min(shape.least_used_bytes, used);
            shape.most_used_bytes = std::max(shape.most_used_bytes, used);
        }
    }
    return shape;
}

}  // namespace coalprof
