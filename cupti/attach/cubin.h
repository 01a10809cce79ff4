// Machine code of NVIDIA's as an ELF file: which functions are in it.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

inline constexpr std::size_t unknown_size = ~std::size_t{0};

bool is_cubin(const void* image);

// By their mangled names, kernels and others; none where it is damaged or of another kind. Of an
// image in memory nobody tells the size: it is to be as whole as its headers say.
std::vector<std::string> functions_of_cubin(const void* image, std::size_t size = unknown_size);

// What follows `beginning` in the names that begin so, of symbols and sections, each once.
std::set<std::string> names_of_cubin(const void* image, std::string_view beginning,
                                     std::size_t size = unknown_size);

}  // namespace coalprof
