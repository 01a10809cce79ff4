// What L2 is simulated with: the accesses to some of a launch's lines, and where its work is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/program/execute.h"
#include "core/sim/line_counts.h"

namespace coalprof {

struct L2Access {
    std::uint64_t order = 0;  // time of arrival: by wave, then progress of the warp, then block
    std::uint64_t line = 0;
    std::uint32_t site = 0;
    AccessKind kind = AccessKind::load;
    std::uint8_t sectors = 0;
    std::uint8_t whole = 0;
    std::uint8_t bytes = 0;  // touched bytes of a partial sector
};

// The distribution of a launch's work: accesses, or the blocks that have some, by the positions of
// blocks, from 0 to 1 in starting order.
class WorkShape {
 public:
    void add(double first, double last, double amount);
    void add(const WorkShape& other);
    double all() const;
    double middle() const;               // position of half of the work
    double density(double place) const;  // relative to a launch of equal blocks

 private:
    static constexpr std::size_t parts = 64;
    std::array<std::uint64_t, parts> amounts_{};
};

struct L2Sample {
    std::vector<L2Access> accesses;
    double share = 1;          // of all lines
    std::uint64_t blocks = 0;  // replayed, from the first one on
    std::uint64_t blocks_of_launch = 0;
    std::uint64_t blocks_at_once = 1;
    // The block of the warp with the most accesses, and their number relative to others.
    std::uint64_t longest_block = 0;
    double longest = 1;
    double accesses_of_warp = 0;  // of any memory
    WorkShape work = {};
    WorkShape working = {};                    // blocks: others leave at once
    LineShares atomics = {};                   // their sectors
    std::vector<LineShares> stores = {};       // likewise, by site
    std::vector<BlockBox> working_boxes = {};  // these blocks; empty: too many boxes to list
};

}  // namespace coalprof
