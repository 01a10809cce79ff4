// Readable names of kernels, from the compilers' symbols.
#pragma once

#include <string>
#include <vector>

namespace coalprof {

// "_Z5scalePf" is "scale(float*)"; other names stay as they are, and those that stand for more than
// 64 KiB.
std::string demangled(const std::string& name);

// "float*" and "int" of "_Z5scalePfi"; none where the name keeps no types.
std::vector<std::string> parameter_types(const std::string& symbol);

// "scale<float, 4>": a kernel's name with its template arguments.
std::string long_kernel_name(const std::string& symbol);

// A kernel's own name, from its symbol: without result, template arguments and parameters.
std::string kernel_name(const std::string& symbol);

// The same with the arguments that distinguish instances of a template, for people:
// "vectorized_elementwise_kernel<4, MulFunctor<float>>", "transpose(float32[:, :], ...)" of Numba.
std::string short_kernel_name(const std::string& symbol);

}  // namespace coalprof
