// L2's view of a launch: its accesses to sampled lines, of all of its blocks or the first ones, in
// the order in which blocks run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/sim/l2_sample.h"
#include "core/sim/lines_of_warp.h"
#include "core/sim/sampled_lines.h"
#include "core/sim/slices.h"

namespace coalprof {

struct L2SampleSize {
    std::size_t most_kept = 40'000;  // accesses
    // Of fewer lines more accesses are kept. Only where one thread takes them all: threads would
    // differ in what they know.
    std::size_t fewest_lines = 0;
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
    std::uint64_t blocks_within_limit(const BlockBox& box, std::uint64_t first) const;
    void take_run(const Run& run, const LineTouch& first);
    void keep_access(const Run& run, const LineTouch& touch, std::uint64_t line,
                     std::uint64_t number);
    std::uint64_t block_of(const L2Access& one) const {
        return (one.order >> 48) * blocks_at_once_ + (one.order & 0xFFFF'FFFF);
    }
    LineCounts& stores_at(std::uint32_t site) {
        return stores_.try_emplace(site, lines_of_slice).first->second;
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
    SampledLines sampled_;
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

}  // namespace coalprof
