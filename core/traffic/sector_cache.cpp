#include "core/traffic/sector_cache.h"

#include <algorithm>

#include "core/access/warp_access.h"
#include "core/traffic/line_hash.h"

namespace coalprof {
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

}  // namespace coalprof
