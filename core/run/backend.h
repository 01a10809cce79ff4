// The source of answers for the points of a run: the model, or a GPU together with the model.
#pragma once

#include "core/result/result.h"
#include "core/sweep/swept_points.h"

namespace coalprof {

// Takes a backend's answers. One thread at a time.
class Delivery {
 public:
    virtual ~Delivery() = default;
    virtual void point(const Point& point) = 0;
    virtual void warn(Warning warning) = 0;
    // Some points are missing because a signal asked to stop.
    virtual void interrupted() = 0;
};

class Backend {
 public:
    virtual ~Backend() = default;
    // Before the first point: the head's facts of this backend, a GPU among them.
    virtual void begin(ResultHead& head) = 0;
    // Takes points until there are no more, and delivers each in its order, from the calling
    // thread. Exceptions from making a point, and Stopped, are thrown after the points before were
    // delivered.
    virtual void answer(PointSource& source, Delivery& delivery) = 0;
};

class ModelBackend : public Backend {
 public:
    // `cache`: the state that launches find, which decides their estimates.
    explicit ModelBackend(CacheState cache = CacheState::cold) : cache_(cache) {}
    void begin(ResultHead& head) override;
    // Memory follows the points in flight: some hundred for each thread at most. The order and the
    // numbers are those of one thread.
    void answer(PointSource& source, Delivery& delivery) override;

 private:
    CacheState cache_;
};

}  // namespace coalprof
