// The counts of a kernel's accesses on a machine, instruction by instruction. Exact: boxes of
// blocks whose addresses grow from block to block are counted by their places in their lines.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/count/coalescer.h"
#include "core/count/near_memory.h"
#include "core/count/shared_memory.h"
#include "core/count/transactions.h"
#include "core/machine/machine.h"
#include "core/program/execute.h"
#include "core/result/reading.h"
#include "core/sim/visited_places.h"

namespace coalprof {

inline constexpr std::size_t most_samples = 64;

// A warp that is kept: its selection depends on its accesses alone, so that it is the same
// whichever thread executed its block.
struct SampledWarp {
    WarpAccess access;
    std::uint64_t block = 0;   // the block's number: z, then y, then x
    std::uint64_t number = 0;  // number among the block's accesses, in order
    std::uint64_t draw = 0;    // the lowest stay; of equal ones the first
};

struct SiteCounts {
    std::uint64_t warps = 0;  // that had a lane to serve
    std::uint64_t lanes = 0;  // active, over all of them
    // Warps whose lanes each went on from where they were; of shared memory to the next element.
    std::uint64_t walks = 0;
    std::uint64_t repeats = 0;         // that stored where they had stored since the last barrier
    std::uint64_t repeated_bytes = 0;  // distinct in a warp, of all that stored there before
    GlobalCounts global;
    TransactionCounts transactions;
    SharedCounts shared;
    LocalCounts local;
    Space space = Space::global;  // where generic addresses reach several, the first as declared
    std::vector<SampledWarp> samples;  // the order is by block
    void add(const SiteCounts& other, std::size_t most = most_samples);
    // The same ones are kept in whatever order they come: no two have the same key.
    using SampleKey = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    static SampleKey key_of(const SampledWarp& warp) {
        return {warp.draw, warp.block, warp.number};
    }
    SampleKey highest_key = {};  // the highest key among them
    void keep(const SampledWarp& warp, std::size_t most);
    bool would_keep(const SampleKey& key, std::size_t most) const {
        return most != 0 && (samples.size() < most || key < highest_key);
    }
    std::vector<WarpAccess> warps_kept() const;
    void add_accesses(const SiteCounts& other, std::uint64_t times);
    // The counters of the instruction, by the machine's rules.
    Readings readings(AccessKind kind, const Machine& machine) const;
};

class SiteCounter : public AccessSink {
 public:
    // `samples`: how many accesses of a site are kept.
    // `atomics`: the sorts of those on shared memory, site by site; empty: unknown.
    SiteCounter(const Machine& machine, std::size_t sites, std::size_t samples = most_samples,
                std::vector<SharedAtomic> atomics = {});
    void begin(const BlockBox& box) override;
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth& growth,
              const BlockBox& box) override;
    void resume(std::uint32_t warp) override { stored_.resume(warp); }
    void keep() override;
    void drop() override;
    const std::vector<SiteCounts>& counts() const { return kept_; }

 private:
    // The counts of one warp, in those of its memory.
    SiteCounts counts_of(std::uint32_t site, const WarpAccess& access) const;
    // Those of all blocks of the box.
    SiteCounts counts_of_box(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                             const BlockBox& box) const;
    const SiteCounts& counts_of_site(std::uint32_t site, const WarpAccess& access,
                                     const Growth& growth, const BlockBox& box);
    void count_each(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                    const BlockBox& box);
    void sample(std::uint32_t site, const WarpAccess& access, const Growth& growth,
                const BlockBox& box);
    SiteCounts& attempt(std::uint32_t site);

    Machine machine_;
    Coalescer hashing_;    // counts accesses whose addresses are known
    Coalescer coalescer_;  // counts those of which only positions in lines are known
    Transactions transactions_;
    SharedMemory shared_;
    LocalMemory local_;
    bool counts_sectors_;
    std::size_t samples_;
    std::vector<SharedAtomic> atomics_;
    std::uint64_t taken_ = 0;
    std::vector<SiteCounts> kept_;
    std::vector<SiteCounts> attempt_;
    std::vector<std::uint32_t> touched_;  // sites of the attempt
    // Accesses of each site and what they came to in all blocks of a box, by where the first lane's
    // address lies in its line: warps of a kernel mostly repeat each other, moved by whole lines,
    // and loops come back to the same places.
    struct Counted {
        WarpAccess access;
        Growth growth{};
        std::array<std::uint32_t, 3> blocks{};
        SiteCounts counts;
    };
    std::size_t counted_of_site_;
    std::vector<Counted> counted_;
    // The blocks of the box whose warps are candidates for samples.
    struct BlockInBox {
        std::array<std::uint32_t, 3> at{};
        std::uint64_t number = 0;
    };
    std::vector<BlockInBox> blocks_;
    VisitedPlaces stored_;
    std::vector<WarpAccess> previous_;  // of each site, of global memory, block by block
    std::vector<std::uint64_t> next_;   // of each site: the element behind that of its first lane
};

}  // namespace coalprof
