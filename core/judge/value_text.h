// One number of a counter for sentences: "163,840", "80.0 %", "15.2 us".
#pragma once

#include <string>

#include "core/result/counter.h"

namespace coalprof {

std::string value_text(Counter counter, double value);
// "load_sectors 128 -> 160 (+25 %)"
std::string change_text(Counter counter, double before, double now);

}  // namespace coalprof
