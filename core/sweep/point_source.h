// The source of the points of a run. A source makes each point when it is asked for: memory follows
// the points in flight, not those of the whole run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/access/warp_access.h"
#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/result.h"

namespace coalprof {

struct PlannedPoint {
    std::uint64_t number = 0;  // among its source's points, from 0
    Plan plan;
    // A single warp instruction, without a plan.
    std::optional<WarpAccess> warp = std::nullopt;
    Machine machine;
    std::string name;             // "offset=11", with swept settings "offset=11 dlcm=cg"
    NamedValues parameters = {};  // the same as values, and values that follow from them
    NamedValues scope = {};     // those of the parameters that name one of several machines or GPUs
    NamedValues settings = {};  // those of the parameters that are swept settings
};

class PointSource {
 public:
    virtual ~PointSource() = default;

    // The number of points, where that is known before the last of them.
    virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
    // True if they differ in settings that are compared with each other at the end.
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

}  // namespace coalprof
