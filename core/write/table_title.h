// The line above a table: what was swept, on which machine, predicted or measured.
#pragma once

#include <string>

#include "core/result/result.h"
#include "core/write/table_style.h"

namespace coalprof {

std::string title_of(const ResultHead& head, const TableStyle& style);

}  // namespace coalprof
