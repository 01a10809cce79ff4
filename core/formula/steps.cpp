#include "core/formula/steps.h"

#include <algorithm>
#include <vector>

namespace coalprof {
namespace {

std::vector<std::int64_t> differences_of(std::span<const std::int64_t> values) {
    std::vector<std::int64_t> differences;
    for (std::size_t k = 1; k < values.size(); ++k)
        differences.push_back(values[k] - values[k - 1]);
    return differences;
}

}  // namespace

LaneSteps steps_of(std::span<const std::int64_t> values) {
    const std::vector<std::int64_t> differences = differences_of(values);
    if (differences.empty()) return {};
    // The usual step is the most frequent one; all others must be equal.
    std::vector<std::int64_t> sorted = differences;
    std::sort(sorted.begin(), sorted.end());
    LaneSteps steps;
    std::size_t most = 0;
    for (std::size_t k = 0; k < sorted.size();) {
        const auto end = std::upper_bound(sorted.begin(), sorted.end(), sorted[k]);
        const auto count = static_cast<std::size_t>(end - sorted.begin()) - k;
        if (count > most) {
            most = count;
            steps.step = sorted[k];
        }
        k += count;
    }
    std::vector<std::uint32_t> jumps;  // the lanes before them
    for (std::uint32_t k = 0; k < differences.size(); ++k) {
        if (differences[k] == steps.step) continue;
        if (!jumps.empty() && differences[k] != steps.jump) return {LaneSteps::Kind::irregular};
        steps.jump = differences[k];
        jumps.push_back(k);
    }
    if (jumps.empty()) {
        steps.kind = steps.step == 0 ? LaneSteps::Kind::same : LaneSteps::Kind::even;
        return steps;
    }
    steps.at = jumps.front();
    if (jumps.size() == 1) {
        // In the middle of the warp one jump looks like a group of 16, which is the same.
        steps.group = steps.at + 1;
        const bool is_half = values.size() == 2 * std::size_t{steps.group};
        steps.kind = LaneSteps::Kind::one_jump;
        if (is_half && steps.step == 0) steps.kind = LaneSteps::Kind::groups;
        if (is_half && steps.step != 0 && values[steps.at + 1] == values[0])
            steps.kind = LaneSteps::Kind::restarting;
        return steps;
    }
    steps.group = jumps[1] - jumps[0];
    for (std::size_t k = 1; k < jumps.size(); ++k)
        if (jumps[k] - jumps[k - 1] != steps.group) return {LaneSteps::Kind::irregular};
    // Before the first and after the last jump there is no more than a group.
    if (steps.at >= steps.group || values.size() - 1 - jumps.back() > steps.group)
        return {LaneSteps::Kind::irregular};
    if (steps.step == 0) {
        steps.kind = LaneSteps::Kind::groups;
    } else if (steps.step * (std::int64_t{steps.group} - 1) + steps.jump == 0) {
        steps.kind = LaneSteps::Kind::restarting;
    } else {
        steps.kind = LaneSteps::Kind::two_steps;
    }
    return steps;
}

}  // namespace coalprof
