// The document of `coalprof verify --json`, read back.
#pragma once

#include "core/judge/verify.h"
#include "core/result/parts.h"

namespace coalprof {

// Throws PartError where the document is none.
VerifyReport verification_from(JsonView document);

}  // namespace coalprof
