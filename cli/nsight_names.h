// What Nsight Compute calls our counters (ncu --metrics).
#pragma once

#include <optional>
#include <string_view>

#include "core/result/counter.h"

namespace coalprof {

// Empty: it has none, or this build knows none.
std::string_view nsight_name_of(Counter counter);
// The other way; a name that stands for several counters is none.
std::optional<Counter> find_nsight_name(std::string_view name);

}  // namespace coalprof
