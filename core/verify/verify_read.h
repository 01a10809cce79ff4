// The document of `coalprof verify --json`, read back.
#pragma once

#include "core/read/parts.h"
#include "core/verify/verify.h"

namespace coalprof {

// Throws PartError where the document is none.
VerifyReport verification_from(JsonView document);

}  // namespace coalprof
