// Pasted kernels of Numba, translated to C.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/formula/tree.h"

namespace coalprof {

// `a[x, y]` becomes `a[x][y]`. A text that speaks of Numba's `cuda` is Python: a line is a
// statement, indented ones belong to the `if` or `for` above them, and `x, y = cuda.grid(2)` are
// two numbers, `a.shape[0]` those of `arrays`. Other texts come back as they are.
std::string c_of_python(std::string_view text, const std::vector<DeclaredArray>& arrays);

}  // namespace coalprof
