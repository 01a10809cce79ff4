// The addresses of one warp, which the drawing of a point needs beyond its numbers. Results do not
// hold them; code that knows how points are made can give them.
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

// None: not known.
using FindPointWarp =
    std::function<std::optional<PointWarp>(const ResultHead& head, const NamedValues& parameters)>;

}  // namespace coalprof
