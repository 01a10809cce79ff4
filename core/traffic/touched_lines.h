// The lines that one warp touches, each with its sectors: an instruction as caches see it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/access/warp_access.h"

namespace coalprof {

struct LineTouched {
    std::uint64_t line = 0;     // address / 128
    std::uint32_t sectors = 0;  // one bit each, of 4
};

class TouchedLines {
 public:
    // In the order of lanes.
    void set(const WarpAccess& access);
    std::span<const LineTouched> lines() const { return {lines_.data(), count_}; }

 private:
    std::uint32_t position_of(std::uint64_t line);

    std::array<LineTouched, warp_lanes> lines_;
    std::uint32_t count_ = 0;
    // Positions of lines in lines_, from 1, by their hash; 0: free.
    std::array<std::uint8_t, 2 * warp_lanes> slots_;
};

// One hash of line numbers for all tables of a replay; its upper bits are well mixed. Fibonacci
// hashing: neighbouring lines, and those of a stride, fall to different slots.
constexpr std::uint64_t hash_of(std::uint64_t line) { return line * 0x9E37'79B9'7F4A'7C15ull; }

// A cache of 128-byte lines with requested sectors: L1 for a replay.
class SectorCache {
 public:
    explicit SectorCache(std::uint64_t bytes);
    // Returns those of `sectors` that it held; from now on it holds them all.
    std::uint32_t touch(std::uint64_t line, std::uint32_t sectors);
    // Removes `sectors`. Their line is allocated from now on, like a loaded one.
    void store(std::uint64_t line, std::uint32_t sectors);
    void clear() { born_ = clock_ + 1; }

 private:
    struct Way {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint32_t sectors = 0;
        std::uint32_t last_use = 0;
    };
    std::vector<Way>::iterator set_of(std::uint64_t line);
    Way& way_of(std::uint64_t line);

    std::uint32_t sets_;
    std::uint32_t clock_ = 0;
    std::uint32_t born_ = 1;  // older entries are gone
    std::vector<Way> ways_;
};

// Which sectors, fetches of 64 bytes and lines are touched at all, and which by each group of
// warps: the overlap of blocks, and how much of an array is reached.
inline constexpr std::array<std::uint64_t, 3> reach_unit_bytes{32, 64, 128};

// Distinct units of each size.
using Units = std::array<double, reach_unit_bytes.size()>;

class UnitTally {
 public:
    // Forgets everything. About `lines` will be touched. If that is more than `most_lines`, a share
    // of them, selected by their hash, is counted; the answers are for these alone.
    void begin(std::uint64_t lines, std::uint64_t most_lines);
    void next_group() { ++group_; }
    void touch(std::uint64_t line, std::uint32_t sectors);

    std::uint64_t touched_sectors() const { return touched_sectors_; }  // again and again
    Units of_groups() const { return doubles(of_groups_); }             // each once a group
    Units of_all() const { return doubles(of_all_); }                   // each once

 private:
    using Counts = std::array<std::uint64_t, reach_unit_bytes.size()>;
    struct Entry {
        std::uint64_t line = 0;
        std::uint32_t group = 0;     // the last one; before first_group_: the entry is free
        std::uint16_t of_group = 0;  // sectors of that group
        std::uint16_t of_all = 0;
    };
    static Units doubles(const Counts& counts);

    std::vector<Entry> entries_;
    int shift_ = 0;            // of the hash, to a position
    std::uint64_t left_ = 0;   // free entries
    std::uint64_t drawn_ = 0;  // bits of a line's hash that must be 0 for it to count
    std::uint32_t group_ = 0;
    std::uint32_t first_group_ = 1;
    std::uint64_t touched_sectors_ = 0;
    Counts of_groups_{};
    Counts of_all_{};
};

}  // namespace coalprof
