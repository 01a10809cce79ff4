// L2's view of a launch: lines selected by a hash, for all of its blocks or the first ones, in the
// order in which blocks run. A hash table of lines in the order of their use, as large as L2,
// decides what comes from device memory and what is written back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/program/execute.h"
#include "core/sim/line_counts.h"
#include "core/sim/lines_of_warp.h"

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

// The slices of L2 that accesses keep busy, if so many of them lie in so many lines: few lines are
// in few slices; of many a hash gives one slice more than others.
double busy_slices(double lines, double slices);

struct L2SampleSize {
    std::size_t most_kept = 40'000;                  // accesses
    std::uint64_t most_counted = ~std::uint64_t{0};  // lines that a site stores to
    double expected = 0;                             // lines that warps ask for; 0: not known
};

class L2Stream {
 public:
    // `blocks_at_once`: resident on the whole GPU; `sites`: of the code.
    L2Stream(const KernelLaunch& launch, std::uint64_t blocks_at_once, std::size_t sites,
             const L2SampleSize& size = {});
    void begin(const BlockBox& box) { box_ = box; }
    void resume(std::uint32_t warp) { warp_ = warp; }
    void take(std::uint32_t site, const WarpAccess& access, const Growth& growth,
              const BlockBox& box);
    // An access of any memory.
    void note_work() { ++accesses_of_box_; }
    // An access of a warp, by its number among them.
    struct Asker {
        std::uint32_t sequence = 0;
        std::uint32_t site = 0;
        AccessKind kind = AccessKind::load;
    };
    // The same where several ask for the same addresses.
    void take_at(std::span<const Asker> askers, const WarpAccess& access, const Growth& growth,
                 const BlockBox& box);
    // Leaves out blocks from here on; none before.
    void cut(std::uint64_t blocks) {
        block_limit_ = blocks;
        is_cut_ = blocks < blocks_;
    }
    void keep();
    void drop();
    // Adds the stream of another thread.
    void add(L2Stream& other);

    L2Sample sample();  // moves them out

 private:
    // The same access of blocks that follow each other.
    struct Run {
        std::span<const Asker> askers;
        std::uint64_t first_block = 0, block_step = 0;
        std::uint64_t count = 0;
        std::int64_t lines = 0;  // between two of them
    };
    bool is_sampled(std::uint64_t line) const;
    std::uint64_t blocks_within_limit(const BlockBox& box, std::uint64_t first) const;
    void take_run(const Run& run, const LineTouch& first);
    std::uint64_t next_sampled(std::uint64_t line, std::int64_t step) const;
    void keep_access(const Run& run, const LineTouch& touch, std::uint64_t line,
                     std::uint64_t number);
    std::uint64_t block_of(const L2Access& one) const {
        return (one.order >> 48) * blocks_at_once_ + (one.order & 0xFFFF'FFFF);
    }
    void end_box();
    void keep_counts();
    void make_room();
    std::size_t lines_of_attempt() const;
    void erase_unsampled(std::size_t from);
    void lengthen(std::uint32_t accesses, std::uint64_t block);

    KernelLaunch launch_;
    L2SampleSize size_;
    std::uint64_t blocks_;
    std::uint64_t blocks_at_once_;
    std::uint64_t block_limit_ = ~std::uint64_t{0};
    bool is_cut_ = false;  // blocks from the limit on were left out
    std::uint64_t sequence_limit_ = ~std::uint64_t{0};
    std::uint32_t halvings_ = 0;       // of the share of lines
    std::uint32_t kept_halvings_ = 0;  // before the attempt
    std::uint32_t warp_ = 0;
    std::vector<std::uint32_t> sequence_;  // accesses of each warp so far
    BlockBox box_;
    std::uint32_t longest_ = 0;
    std::uint64_t longest_block_ = 0;
    double accesses_ = 0, warps_ = 0;
    WorkShape work_, working_;
    std::uint64_t accesses_of_box_ = 0;  // of any memory, in a block of the attempt
    std::vector<BlockBox> working_boxes_;
    std::size_t working_box_count_ = 0;
    std::vector<L2Access> kept_;
    std::size_t attempt_ = 0;  // begin of the attempt's accesses
    LineCounts atomics_;
    std::map<std::uint32_t, LineCounts> stores_;  // by site
};

// What one activation of a row of device memory serves: addresses beyond are in other channels
// (strides of tests/data/h100 and h200).
inline constexpr std::uint64_t dram_row_lines = 2;

using Ages = std::array<double, 29>;

// Traffic of device memory. The time of its transfers is in bytes of a long run that take as long.
struct L2Traffic {
    double read_bytes = 0;
    double write_bytes = 0;
    double dirty_bytes = 0;                  // of these, those that L2 still has at the end
    std::vector<double> read_bytes_of_site;  // by Code::sites
    std::vector<double> write_bytes_of_site;
    std::vector<double> read_time_of_site;
    std::vector<double> write_time_of_site;
    std::vector<double> turn_time_of_site;  // in it, or to be added, where reads come between
    std::vector<double> sectors_of_site;    // that warps ask for
    // Those that their multiprocessor loaded before, by age: bits of the number of accesses since.
    std::vector<Ages> repeats_of_site;
};
struct L2Sizes {
    double bytes = 0;
    double most_dirty_bytes = 0;    // of lines, however much of each is dirty
    double most_partial_bytes = 0;  // of lines that are to be completed by a read
    std::uint32_t fetch_bytes = 64;
    // Bytes that device memory reads or writes in a long run while it activates one row.
    double read_row_bytes = 0;
    double write_row_bytes = 0;
    double turn_bytes = 0;  // likewise, while it turns from reads to the write of a line
    bool is_warm = false;   // the same launch came before
    std::uint32_t multiprocessors = 1;
    // By site: the share of repeats that L1 answers, so that they do not reach L2; empty: none.
    std::vector<Ages> kept_by_l1 = {};
};
L2Traffic replay_l2(L2Sample& sample, const L2Sizes& sizes, std::size_t sites);

}  // namespace coalprof
