// The line above a table: the sweep, the machine, predicted or measured. And the text of a launch,
// for callers with other titles.
#pragma once

#include <string>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

std::string title_of(const ResultHead& head, const TableStyle& style);

// "64x64", "32x8", "256": the launch's dimensions; empty where the head has none.
std::string grid_text(const SweepFacts& sweep);
std::string block_text(const SweepFacts& sweep);

}  // namespace coalprof
