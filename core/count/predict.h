// The model's answer: from a warp, or from the program of a whole launch, to readings under the
// same keys that the device is read under. Counts that are not deterministic are unavailable with
// their reason, never a guess.
#pragma once

#include "core/count/coalescer.h"
#include "core/count/shared_memory.h"
#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/reading.h"
#include "core/result/result.h"

namespace coalprof {

class Predictor {
 public:
    explicit Predictor(const Machine& machine);

    // One warp alone, caches cold. `readings` is cleared first.
    void predict_warp(const WarpAccess& access, Readings& readings) const;
    // A whole launch. `placement` holds the arrays' addresses; an empty one means aligned bases.
    // Each of several instructions goes into `apart` as well, if that is given.
    Readings predict_launch(const Plan& plan, const Placement& placement,
                            std::vector<InstructionResult>* apart = nullptr) const;

    const Machine& machine() const { return machine_; }

 private:
    // Machines before compute capability 7.0 count transactions, later ones sectors.
    bool counts_transactions() const;
    using Apart = std::vector<InstructionResult>;
    Readings predict_transactions(const Plan& plan, const Placement& placement, Apart& apart) const;
    // Adds the counters of shared, constant and local memory.
    void add_near_memories(const Program& program, const Placement& placement, Readings& readings,
                           Apart& apart) const;
    // Adds the counters of loads through textures.
    void add_texture_loads(const Program& program, const Placement& placement, Readings& readings,
                           Apart& apart) const;
    GlobalCounts sum_sectors(const Program& program, const Placement& placement,
                             const Instruction& instruction) const;
    Readings predict_sectors(const Plan& plan, const Placement& placement, Apart& apart) const;

    Machine machine_;
    Coalescer coalescer_;
    SharedMemory shared_memory_;
};

}  // namespace coalprof
