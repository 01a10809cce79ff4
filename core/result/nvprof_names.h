// What nvprof called our counters, which it measured on GPUs before compute capability 7.5.
#pragma once

#include <span>
#include <string_view>

#include "core/result/counter.h"

namespace coalprof {

struct NvprofName {
    std::string_view name;  // "gld_efficiency"
    Counter counter;
    std::string_view meaning;  // where it differs from the counter, by generation; may be empty
};

std::span<const NvprofName> nvprof_names();

}  // namespace coalprof
