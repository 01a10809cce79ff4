// The part that all sweeps share: the number of points is known, and each can be made separately.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"
#include "core/pattern/access_set.h"
#include "core/pattern/plan.h"
#include "core/result/result.h"
#include "core/sweep/shard.h"

namespace coalprof {

// The source of the points of a run. A source makes each point when it is asked for: memory follows
// the points in flight, not those of the whole run.
struct PlannedPoint {
    std::uint64_t number = 0;  // its number among the source's points, from 0
    Plan plan;
    // A single warp instruction, without a plan.
    std::optional<WarpAccess> warp = std::nullopt;
    Machine machine;
    std::string name;             // "offset=11", with swept settings "offset=11 dlcm=cg"
    NamedValues parameters = {};  // the same as values, and values that follow from them
};

class PointSource {
 public:
    virtual ~PointSource() = default;

    // The number of points, where that is known before the last of them.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
    // True if they differ in settings of memory.
    virtual bool compares_settings() const { return false; }

    // Before anything else: errors that would make a result pointless are thrown here.
    virtual void open() {}
    // Begins the next point in `point`, which may hold an earlier one; false at the end. For one
    // thread at a time, which waits for input here and nowhere else. Throws Error, Stopped.
    virtual bool next(PlannedPoint& point) = 0;
    // False where next() would wait for input. Throws as next() would.
    virtual bool is_ready() { return true; }
    // Completes a point that next() began, in any thread. Throws Error, Stopped.
    virtual void make(PlannedPoint&) const {}
};

class SweptPoints : public PointSource {
 public:
    virtual std::uint64_t count() const = 0;
    std::optional<std::uint64_t> size() const final { return end() - first_; }
    bool next(PlannedPoint& point) final;

    // The point of this number, made from the beginning. Throws UsageError.
    PlannedPoint at(std::uint64_t number) const;
    // Makes every point once, on all threads, and keeps none. Throws the UsageError of the first
    // that does not fit together; returns the accesses of all.
    AccessSet check() const;
    // The number of warps to evaluate one by one, about, from a few of its points.
    std::uint64_t warps_walked() const;
    // Gives only this part of the points; call it before the first is taken.
    void keep(const Shard& shard);

 private:
    std::uint64_t end() const { return end_.value_or(count()); }

    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0;
    std::optional<std::uint64_t> end_;
};

}  // namespace coalprof
