#include "core/traffic/touched_lines.h"

#include <algorithm>
#include <bit>

#include "core/access/warp_access.h"

namespace coalprof {

std::uint32_t TouchedLines::position_of(std::uint64_t line) {
    std::size_t slot = hash_of(line) >> 58;
    while (slots_[slot] != 0 && lines_[slots_[slot] - 1u].line != line)
        slot = (slot + 1) % slots_.size();
    if (slots_[slot] == 0) {
        lines_[count_] = {line, 0};
        slots_[slot] = static_cast<std::uint8_t>(++count_);
    }
    return slots_[slot] - 1u;
}

void TouchedLines::set(const WarpAccess& access) {
    count_ = 0;
    slots_.fill(0);
    std::uint32_t last = 0;
    for (std::uint32_t rest = access.active_lanes; rest != 0; rest &= rest - 1) {
        const std::uint64_t address =
            access.addresses[static_cast<std::uint32_t>(std::countr_zero(rest))];
        const std::uint64_t line = address / line_bytes;
        // Neighbouring lanes mostly lie in one line.
        if (count_ == 0 || lines_[last].line != line) last = position_of(line);
        lines_[last].sectors |= 1u << (address / sector_bytes % 4);
    }
}

namespace {

// Sets are chosen by a hash, as in hardware, so that no stride falls into few of them; the real
// hash and number of ways are not known.
constexpr std::uint32_t ways_of_set = 16;

}  // namespace

SectorCache::SectorCache(std::uint64_t bytes)
    : sets_(
          static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes / line_bytes / ways_of_set))),
      ways_(std::size_t{sets_} * ways_of_set) {}

std::vector<SectorCache::Way>::iterator SectorCache::set_of(std::uint64_t line) {
    return ways_.begin() +
           static_cast<std::ptrdiff_t>((hash_of(line) >> 32) * sets_ >> 32) * ways_of_set;
}

SectorCache::Way& SectorCache::way_of(std::uint64_t line) {
    ++clock_;
    const auto set = set_of(line);
    auto oldest = set;
    for (auto way = set; way != set + ways_of_set; ++way) {
        if (way->line == line) {
            if (way->last_use < born_) way->sectors = 0;
            way->last_use = clock_;
            return *way;
        }
        if (way->last_use < oldest->last_use) oldest = way;
    }
    *oldest = {line, 0, clock_};
    return *oldest;
}

std::uint32_t SectorCache::touch(std::uint64_t line, std::uint32_t sectors) {
    Way& way = way_of(line);
    const std::uint32_t held = way.sectors & sectors;
    way.sectors |= sectors;
    return held;
}

void SectorCache::store(std::uint64_t line, std::uint32_t sectors) {
    way_of(line).sectors &= ~sectors;
}

namespace {

constexpr std::uint64_t bits_in(std::uint32_t bits) {
    return static_cast<std::uint64_t>(std::popcount(bits));
}

// Units of each size that hold some of a line's sectors.
using Counts = std::array<std::uint64_t, reach_unit_bytes.size()>;
constexpr Counts units_of(std::uint32_t sectors) {
    return {bits_in(sectors), bits_in((sectors | sectors >> 1) & 5u), sectors != 0 ? 1u : 0u};
}

// Counts the units that `sectors` add to `known`, and adds them.
void take_in(std::uint16_t& known, std::uint32_t sectors, Counts& counts) {
    const std::uint32_t all = known | sectors;
    if (all == known) return;
    const Counts before = units_of(known);
    const Counts after = units_of(all);
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += after[k] - before[k];
    known = static_cast<std::uint16_t>(all);
}

}  // namespace

Units UnitTally::doubles(const Counts& counts) {
    Units units;
    for (std::size_t k = 0; k < units.size(); ++k) units[k] = static_cast<double>(counts[k]);
    return units;
}

void UnitTally::begin(std::uint64_t lines, std::uint64_t most_lines) {
    constexpr std::uint32_t most_groups = 1u << 31;
    drawn_ = std::bit_ceil((lines + most_lines - 1) / most_lines + (lines == 0)) - 1;
    const std::uint64_t size = std::bit_ceil(2 * std::min(lines, most_lines) + 64);
    if (entries_.size() < size || group_ > most_groups) {
        entries_.assign(std::max<std::size_t>(size, entries_.size()), {});
        group_ = 0;
    }
    shift_ = 64 - std::countr_zero(entries_.size());
    left_ = entries_.size() / 4 * 3;
    first_group_ = ++group_;
    touched_sectors_ = 0;
    of_groups_ = of_all_ = {};
}

void UnitTally::touch(std::uint64_t line, std::uint32_t sectors) {
    const std::uint64_t hash = hash_of(line);
    // From the middle of the hash, since its top is the position.
    if ((hash >> 20 & drawn_) != 0) return;
    std::size_t at = hash >> shift_;
    while (entries_[at].group >= first_group_ && entries_[at].line != line)
        at = (at + 1) & (entries_.size() - 1);
    Entry& entry = entries_[at];
    if (entry.group < first_group_) {
        if (left_ == 0) return;
        --left_;
        entry = {line, group_, 0, 0};
    }
    if (entry.group != group_) {
        entry.group = group_;
        entry.of_group = 0;
    }
    touched_sectors_ += bits_in(sectors);
    take_in(entry.of_group, sectors, of_groups_);
    take_in(entry.of_all, sectors, of_all_);
}

}  // namespace coalprof
