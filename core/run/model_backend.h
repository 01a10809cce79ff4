// The model alone, on all threads.
#pragma once

#include "core/run/backend.h"

namespace coalprof {

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
