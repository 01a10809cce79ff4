// Which sectors, fetches of 64 bytes and lines are touched at all, and which by each group of
// warps: the overlap of blocks, and how much of an array is reached.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace coalprof {

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
