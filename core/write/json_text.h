// JSON as text: strings, small values, the head and the tail. The only writer that includes
// nlohmann/json; bytes that are no UTF-8 become U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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
// The sweep without its long members: the text of formulas, their file, and options of this pattern
// alone.
std::string json_of_short_sweep(const ResultHead& head);
// "status", "verdicts" where there are some, and "warnings"; `between` follows their commas.
void put_tail_members(TextBuffer& out, const ResultTail& tail, std::string_view between = {});

using Json = nlohmann::ordered_json;

// In one line, or indented by `indent` blanks; bytes that are no UTF-8 become U+FFFD, and it holds
// nothing that a terminal obeys but line ends between members.
std::string text_of(const Json& json, int indent = -1);

Json tree_of(const Value& value);
Json tree_of(const NamedValues& values);
// The "meta" object of a result.
Json meta_of(const ResultHead& head);
Json tree_of(const std::vector<Warning>& warnings);
Json tree_of(const LineFinding& finding);

}  // namespace coalprof
