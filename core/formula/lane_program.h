// One access of a formula compiled for the CPU: a flat list of steps over registers of 32 lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/access/vectors.h"
#include "core/formula/facts.h"
#include "core/formula/lane_kernels.h"
#include "core/formula/scope.h"
#include "core/formula/tree.h"

namespace coalprof {

enum class Checking : std::uint8_t {
    off,  // for launches that were found free of failures, which would wrap around
    on,   // every operator that is not proven safe, and the index
};

class LaneProgram {
 public:
    // `condition`: none when every lane takes part. An index above `largest_index` fails.
    LaneProgram(const std::vector<Node>& nodes, const std::vector<NodeFacts>& facts,
                const Scope& scope, NodeId index, std::optional<NodeId> condition,
                Checking checking, std::int64_t largest_index, Vectors vectors = best_vectors());

    // elements[k] = the index in thread first + k, or idle_lane; 32 of them, those of threads
    // beyond the launch meaningless. Returns true if some lane failed (never without checking),
    // which may be one beyond the launch.
    bool run(std::uint64_t first, std::uint64_t* elements) const;

    const Scope& scope() const { return scope_; }
    std::size_t step_count() const { return steps_.size(); }

 private:
    friend class LaneCompiler;

    Scope scope_;
    Vectors vectors_;
    std::vector<LaneStep> steps_;
    std::uint16_t registers_ = 0;
    std::uint16_t index_ = 0;
    std::optional<std::uint16_t> condition_;
    bool check_index_ = false;
    std::int64_t largest_index_ = 0;
};

}  // namespace coalprof
