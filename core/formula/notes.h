// The reasons why a formula touches memory as it does, part by part: which term moves from lane to
// lane, by how many bytes, and where the warp starts. For `coalprof explain`, beside the drawing of
// the warp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/formula/user_formula.h"

namespace coalprof {

// Sentences about the warp whose lane 0 is `first_thread` and which has `lanes` lanes; elements are
// `width_bytes` wide. The launch was checked. At least one sentence.
std::vector<std::string> formula_notes(const UserFormula& formula, std::uint32_t width_bytes,
                                       std::uint64_t first_thread, std::uint32_t lanes);

// The motion of a value from lane to lane, as people describe it: by a fixed step, in groups,
// starting again, or by no rule.
struct LaneSteps {
    enum class Kind : std::uint8_t {
        same,        // every lane has one value
        even,        // each lane is `step` from the one before
        groups,      // `group` equal lanes, then `jump`
        restarting,  // by `step`, beginning again every `group` lanes
        two_steps,   // by `step`, but by `jump` every `group` lanes
        one_jump,    // by `step`, but by `jump` from lane `at` to the next
        irregular,
    };
    Kind kind = Kind::same;
    std::int64_t step = 0;
    std::int64_t jump = 0;
    std::uint32_t group = 0;
    std::uint32_t at = 0;
};

// For the values of lanes 0, 1, 2, ...
LaneSteps steps_of(std::span<const std::int64_t> values);

}  // namespace coalprof
