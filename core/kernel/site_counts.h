// What the accesses of a kernel come to on a machine, instruction by instruction. Exact: boxes of
// blocks whose addresses grow from block to block are counted by where they lie in their lines.
#pragma once

#include <cstdint>
#include <vector>

#include "core/count/coalescer.h"
#include "core/count/local_memory.h"
#include "core/count/shared_memory.h"
#include "core/count/transactions.h"
#include "core/machine/machine.h"
#include "core/program/execute.h"
#include "core/result/reading.h"

namespace coalprof {

inline constexpr std::size_t most_samples = 64;

struct SiteCounts {
    std::uint64_t warps = 0;  // that had a lane to serve
    std::uint64_t lanes = 0;  // active, over all of them
    GlobalCounts global;
    TransactionCounts transactions;
    SharedCounts shared;
    LocalCounts local;
    std::uint64_t needed_sectors = 0;  // the fewest that could hold the distinct bytes
    Space space = Space::global;
    std::vector<WarpAccess> samples;
    void add(const SiteCounts& other);
    // The counters of the instruction, by the machine's rules.
    Readings readings(AccessKind kind, const Machine& machine) const;
};

class SiteCounter : public AccessSink {
 public:
    // `samples`: how many accesses of a site are kept.
    SiteCounter(const Machine& machine, std::size_t sites, std::size_t samples = most_samples);
    void take(std::uint32_t site, Space space, const WarpAccess& access, const Growth& growth,
              const BlockBox& box) override;
    void keep() override;
    void drop() override;
    const std::vector<SiteCounts>& counts() const { return kept_; }

 private:
    void count(SiteCounts& counts, const WarpAccess& access, std::uint64_t times) const;
    void count_each(SiteCounts& counts, const WarpAccess& access, const Growth& growth,
                    const BlockBox& box) const;
    static void add(SiteCounts& counts, const GlobalCounts& of_warp, std::uint64_t times);
    SiteCounts& attempt(std::uint32_t site);

    Machine machine_;
    Coalescer hashing_;    // for accesses whose addresses are known
    Coalescer coalescer_;  // for those of which only their places in lines are
    Transactions transactions_;
    SharedMemory shared_;
    LocalMemory local_;
    bool counts_sectors_;
    std::size_t samples_;
    std::vector<SiteCounts> kept_;
    std::vector<SiteCounts> attempt_;
    std::vector<std::uint32_t> touched_;  // sites of the attempt
};

}  // namespace coalprof
