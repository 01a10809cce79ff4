// The document of `coalprof explain --json`, read back.
#pragma once

#include "core/explain/explanation.h"
#include "core/result/parts.h"

namespace coalprof {

struct SavedExplanation {
    ResultHead head;  // without a sweep, which the explanation has
    // What json_document() writes. What only the drawing needs (shapes, settings) is not in files.
    Explanation explanation;
    std::optional<Explanation> worst = {};
};

// Throws PartError where the document is none.
SavedExplanation explanation_from(JsonView document);

}  // namespace coalprof
