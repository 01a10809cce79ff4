// What the drawing of a point needs beyond its numbers: where the lanes of one of its warps go.
// Results do not hold it; whoever knows how points are made can tell it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/access/warp_access.h"
#include "core/result/head.h"

namespace coalprof {

struct PointWarp {
    struct Instruction {
        std::string label;  // "load a"
        WarpAccess access;
    };
    std::uint64_t index = 0;  // counted over the launch
    std::vector<Instruction> instructions;
};

// None where it is not known.
using FindPointWarp =
    std::function<std::optional<PointWarp>(const ResultHead& head, const NamedValues& parameters)>;

}  // namespace coalprof
