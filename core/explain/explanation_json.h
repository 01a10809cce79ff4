// An explanation as JSON, for `coalprof explain --json`: lanes, lines and sectors with the bytes
// used of each, the counts under the keys of every other output, and the sentences. Schema:
// docs/coalprof.schema.json.
#pragma once

#include <string>

#include "core/explain/explanation.h"
#include "core/result/result.h"

namespace coalprof {

// The whole document, ended by a newline. "meta" is made from the head, whose machine may be empty.
// `worst`: another warp of the launch, which costs more. `status`: partial where it has a fault.
std::string json_document(const ResultHead& head, const Explanation& explanation,
                          const Explanation* worst = nullptr, Status status = Status::complete);

}  // namespace coalprof
