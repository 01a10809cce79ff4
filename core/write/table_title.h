// The line above a table: what was swept, on which machine, predicted or measured. And how a launch
// is written, for those that say it otherwise.
#pragma once

#include <string>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

std::string title_of(const ResultHead& head, const TableStyle& style);

// "64x64", "32x8", "256": what a launch is made of; empty where the head does not say.
std::string grid_text(const SweepFacts& sweep);
std::string block_text(const SweepFacts& sweep);

}  // namespace coalprof
