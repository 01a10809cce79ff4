// The part that all sweeps share: the number of points is known, and each can be made separately.
#pragma once

#include <cstdint>
#include <optional>

#include "core/pattern/access_set.h"
#include "core/sweep/point_source.h"
#include "core/sweep/shard.h"

namespace coalprof {

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
