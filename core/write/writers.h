// The formats' constructors, one per file; formats.cpp lists them. Each answers a ResultSink that
// streams with flat memory and has handed over every byte when finish() returns.
#pragma once

#include <memory>

#include "core/result/result.h"
#include "core/write/byte_sink.h"
#include "core/write/table_style.h"

namespace coalprof {

std::unique_ptr<ResultSink> make_table(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_json(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_jsonl(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_markdown(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_latex(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_csv(ByteSink& out, const TableStyle& style);
// These gather all points before they write, and take several results: a begin() each, one
// finish().
std::unique_ptr<ResultSink> make_openmetrics(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_svg(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_plot(ByteSink& out, const TableStyle& style);
std::unique_ptr<ResultSink> make_html(ByteSink& out, const TableStyle& style);

}  // namespace coalprof
