// The places that warps of a block were at before: accesses that repeat each other.
#pragma once

#include <cstdint>
#include <vector>

#include "core/access/warp_access.h"
#include "core/sim/line_table.h"

namespace coalprof {

class VisitedPlaces {
 public:
    enum class Before : std::uint8_t {
        never,
        before_barrier,
        since_barrier,  // no other thread may have been there in between
    };
    // The warp begins, or goes on after a barrier.
    void resume(std::uint32_t warp);
    // When all active lanes were where they are now. Lanes that were active then may be idle.
    Before visit(const WarpAccess& access);
    void clear();

 private:
    struct Visit {
        WarpAccess access;
        std::uint64_t warp = 0;
        std::uint64_t stretch = 0;
    };
    Visit* find(const WarpAccess& access, std::uint64_t key);

    std::uint64_t warp_ = 0;
    std::uint64_t stretch_ = 0;  // of any warp, from barrier to barrier
    std::size_t last_ = 0;       // in visits_
    std::vector<Visit> visits_;
    LineTable places_;  // in visits_, by the warp and the address of its first lane
};

}  // namespace coalprof
