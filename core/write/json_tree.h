// The parts of a result as JSON trees, for documents composed of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

using Json = nlohmann::ordered_json;

// In one line, or indented by `indent` blanks; bytes that are no UTF-8 become U+FFFD, and it holds
// nothing that a terminal obeys but line ends between members.
std::string text_of(const Json& json, int indent = -1);

Json tree_of(const Value& value);
Json tree_of(const NamedValues& values);
// The "meta" object of a result.
Json meta_of(const ResultHead& head);
Json tree_of(const std::vector<Warning>& warnings);

}  // namespace coalprof
