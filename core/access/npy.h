// NumPy's files of one array. Source: NumPy's NEP 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct NpyArray {
    char kind = 'f';  // i, u, f, b (bool)
    std::uint32_t element_bytes = 4;
    std::vector<std::uint64_t> shape;
    std::string_view data;  // a view of the bytes that were given
};

bool is_npy(std::string_view bytes);
// Throws UsageError naming `path`: a cut file, one in Fortran's order, or one with other than plain
// little-endian numbers.
NpyArray read_npy(std::string_view bytes, const std::string& path);
// Throws UsageError where they are no integers.
std::vector<std::int64_t> integers_in(const NpyArray& array, const std::string& path);

}  // namespace coalprof
