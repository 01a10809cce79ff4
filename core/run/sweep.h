// A sweep: the values of a pattern's parameter and of the settings that take lists, expanded to one
// plan per point. Everything that can be wrong with a point is found here, before anything runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.h"
#include "core/pattern/plan.h"
#include "core/result/result.h"

namespace coalprof {

// What the user asked for; every list but `dlcm` holds at least one entry.
struct Sweep {
    std::string pattern;
    std::vector<std::uint64_t> values;
    std::optional<Op> op;  // none: the pattern's own
    ElementType type = ElementType::f32;
    LaunchShape shape;
    PatternOptions options;
    std::vector<LoadModifier> dlcm;  // empty: what each machine does without the option
    std::vector<StoreModifier> dscm{StoreModifier::wb};
    std::vector<std::optional<Carveout>> carveouts{std::nullopt};
    std::vector<std::optional<std::uint32_t>> l2_fetch_bytes{std::nullopt};
    std::vector<Allocation> allocations{Allocation::device};
    std::vector<LoadPath> paths{LoadPath::ld};
    std::vector<Machine> machines;
    // The pitch in bytes of rows of so many bytes on the device present; none: the usual one.
    std::function<std::uint64_t(std::uint64_t row_bytes)> auto_pitch;
};

struct PlannedPoint {
    Plan plan;
    Machine machine;
    std::string name;  // "offset=11", with the settings that are swept: "offset=11 dlcm=cg"
    NamedValues parameters = {};  // the same as values, and what follows from them
    NamedValues scope = {};     // of the parameters: which machine or GPU, where there are several
    NamedValues settings = {};  // of the parameters: the settings that are swept
};

// The parameter varies fastest. Throws UsageError for more than most_range_points points and for
// any point whose plan does not fit together.
std::vector<PlannedPoint> expand(const Sweep& sweep);

// The head's description of the sweep: pattern, parameter, op, type, sizes and single settings.
NamedValues describe_sweep(const Sweep& sweep);

}  // namespace coalprof
