// The named sets of --counters, made for what a launch executes. No CUDA types.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cupti/metric_table.h"

namespace coalprof {

enum class CounterSet : std::uint8_t {
    basic,   // one hardware pass for the accesses of any one op on one memory, on every GPU from cc
             // 7.5 on, and for shared memory an instrumented one; one more for a transpose through
             // shared memory, and from GH100 on for textures beside loads or stores
    memory,  // and lines, tag wavefronts, unique bytes and what follows from them: an instrumented
             // pass, and one or two more of hardware
    all,     // every counter that concerns the launch
};
std::optional<CounterSet> find_counter_set(std::string_view name);

// The counters of `set` that concern a launch with these accesses, in output order. Counters that
// are measured elsewhere (time) are not among them.
std::vector<Counter> counters_of(CounterSet set, AccessSet accesses);

}  // namespace coalprof
