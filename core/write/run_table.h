// The table of a program that ran: its kernels by the cost of their waste, those of one name
// folded, then fixes for the worst. It fits a screen; `-v` shows the rest.
#pragma once

#include <memory>

#include "core/result/result.h"
#include "core/write/byte_sink.h"
#include "core/write/table.h"

namespace coalprof {

// Every other result, and a run that has no waste measured, goes to `general`.
std::unique_ptr<ResultSink> with_run_table(ByteSink& out, const TableStyle& style,
                                           std::unique_ptr<TableRenderer> renderer,
                                           std::unique_ptr<ResultSink> general);

}  // namespace coalprof
