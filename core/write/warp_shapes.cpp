#include "core/write/warp_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/text/describe.h"
#include "core/write/json_text.h"

namespace coalprof {
namespace {

std::string runs_of(const WarpAccess& access) {
    std::uint64_t lowest = ~0ull;
    std::vector<std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
        if ((access.active_lanes >> lane & 1) != 0) {
            lanes.push_back(lane);
            lowest = std::min(lowest, access.addresses[lane]);
        }
    const std::uint64_t start = lowest / line_bytes * line_bytes;
    std::string text;
    for (std::size_t k = 0; k < lanes.size();) {
        const auto further = [&](std::size_t at) {
            return static_cast<std::int64_t>(access.addresses[lanes[at + 1]] -
                                             access.addresses[lanes[at]]);
        };
        std::size_t end = k + 1;
        const bool has_next = end < lanes.size() && lanes[end] == lanes[k] + 1;
        const std::int64_t step = has_next ? further(k) : 0;
        while (end < lanes.size() && lanes[end] == lanes[end - 1] + 1 && further(end - 1) == step)
            ++end;
        text += fmt::format("{}{},{},{},{}", text.empty() ? "" : ",", lanes[k], end - k,
                            access.addresses[lanes[k]] - start, step);
        k = end;
    }
    return text;
}

std::string shape_of(const PointWarp& warp) {
    std::string text = "[";
    for (const PointWarp::Instruction& one : warp.instructions)
        text += fmt::format("{}[{},{},[{}]]", text.size() == 1 ? "" : ",",
                            json_of_text(printable(one.label)), one.access.width_bytes,
                            runs_of(one.access));
    return text + "]";
}

}  // namespace

void WarpShapes::add(const std::optional<PointWarp>& warp) {
    of_points_.push_back(-1);
    warps_.push_back(warp ? warp->index : 0);
    if (!warp || is_full()) return;
    std::string shape = shape_of(*warp);
    const auto [known, is_new] = known_.try_emplace(shape, static_cast<int>(shapes_.size()));
    of_points_.back() = known->second;
    bytes_ += 4;
    if (!is_new) return;
    bytes_ += shape.size();
    shapes_.push_back(std::move(shape));
}

}  // namespace coalprof
