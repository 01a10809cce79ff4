// The agreement of prediction and measurement as JSON, for `coalprof verify --json`. Schema:
// docs/coalprof.schema.json.
#pragma once

#include <string>

#include "core/judge/verify.h"

namespace coalprof {

// The whole document, ended by a newline; one finding a line.
std::string json_document(const VerifyReport& report);

}  // namespace coalprof
