// JSON as text: strings, small values, the head and the tail. The one place of the writers that
// knows nlohmann/json; bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <string>
#include <string_view>

#include "core/result/result.h"
#include "core/write/text_buffer.h"

namespace coalprof {

inline constexpr std::string_view result_schema = "coalprof/1";

// `text` in quotes, escaped.
std::string json_of_text(std::string_view text);
void put_json_text(TextBuffer& out, std::string_view text);
void put_json_value(TextBuffer& out, const Value& value);

std::string json_of_values(const NamedValues& values);
// The "meta" object of a result.
std::string json_of_meta(const ResultHead& head);
// The members of `head.sweep` that tell two runs apart at a glance: pattern, type and op.
std::string json_of_short_sweep(const ResultHead& head);
std::string json_of_verdicts(const std::vector<Verdict>& verdicts);
std::string json_of_warnings(const std::vector<Warning>& warnings);

}  // namespace coalprof
