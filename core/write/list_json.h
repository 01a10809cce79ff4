// The JSON document of commands that list things: {"schema": "coalprof/1", KEY: [rows]}, followed
// by the members of `more` that hold something.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result/result.h"

namespace coalprof {

std::string list_document(std::string_view key, const std::vector<NamedValues>& rows,
                          const NamedValues& more = {});

}  // namespace coalprof
