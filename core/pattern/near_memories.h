// The patterns of memories other than global: shared, constant and local. Made like the others, by
// the catalog.
#pragma once

#include "core/pattern/plan.h"

namespace coalprof {

Program make_shared_stride(const Plan& plan);
Program make_shared_pad(const Plan& plan);
// Its columns: 32, or 16 if chosen. Throws UsageError for any other.
std::uint64_t shared_pad_tile(const PatternOptions& options);
Program make_shared_broadcast(const Plan& plan);
Program make_shared_random(const Plan& plan);
Program make_constant(const Plan& plan);
Program make_local(const Plan& plan);

}  // namespace coalprof
