// An option of the launch with several values: it is swept, and a parameter of the points.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/pattern/plan.h"

namespace coalprof {

// The values that an axis can change: everything that options say of a launch.
struct ChosenLaunch {
    std::optional<Op> op;  // none: the pattern's own
    ElementType type = ElementType::f32;
    LaunchShape shape;
    PatternOptions options;
    std::optional<LoadModifier> dlcm;  // none: each machine's default
    StoreModifier dscm = StoreModifier::wb;
    std::optional<Carveout> carveout;
    std::optional<std::uint32_t> l2_fetch_bytes;
    Allocation allocation = Allocation::device;
    LoadPath path = LoadPath::ld;
};

struct AxisValue {
    Value shown;  // as a parameter of the point
    std::function<void(ChosenLaunch&)> choose;
    NamedValues also = {};  // further parameters; the same keys for every value
};

struct Axis {
    std::string key;  // of the parameter: "block"
    std::vector<AxisValue> values;
};

// The number of combinations; 2^64-1 for more.
std::uint64_t count_of(const std::vector<Axis>& axes);

// Makes the combination of this number in `choice` and names it in `parameters`. The last axis
// varies fastest.
void choose(const std::vector<Axis>& axes, std::uint64_t number, ChosenLaunch& choice,
            NamedValues& parameters);

// True if points have this key as a parameter.
bool has_axis(const std::vector<Axis>& axes, std::string_view key);

}  // namespace coalprof
