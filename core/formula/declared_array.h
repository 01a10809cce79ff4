// --array NAME=WHAT: the extents of an array, or its content where its values make indices.
#pragma once

#include <string>

#include "core/formula/tree.h"

namespace coalprof {

// "in=f32[2048][2048]", "col=@col.npy", "col=i32[1000]=random:7", "col=i32[1000]=@raw.bin". Throws
// UsageError.
DeclaredArray read_declared_array(const std::string& typed);

}  // namespace coalprof
