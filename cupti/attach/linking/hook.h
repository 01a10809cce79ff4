// The interface of the two libraries in a program: the one in front of NVIDIA's linker, and the one
// that counts.
#pragma once

#include <cstddef>

namespace coalprof {

// The PTX to link in place of an input, with its size; nullptr: the input stays.
using LinkerInput = const void* (*)(const void* data, std::size_t bytes, std::size_t* new_bytes);

// The function by which it is requested: void(LinkerInput).
inline constexpr const char* take_linker_input_symbol = "coalprof_take_linker_input";

}  // namespace coalprof
