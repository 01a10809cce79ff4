// Machine code of NVIDIA's as an ELF file: which functions are in it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace coalprof {

inline constexpr std::size_t unknown_size = ~std::size_t{0};

bool is_cubin(const void* image);

// By their mangled names, kernels and others; none where it is damaged or of another kind. Of an
// image in memory nobody tells the size: it is to be as whole as its headers say.
std::vector<std::string> functions_of_cubin(const void* image, std::size_t size = unknown_size);

}  // namespace coalprof
