// What arrays of a launch hold: zeros, 0 1 2 ..., random numbers, or a file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/program/launch_memory.h"

namespace coalprof {

// An element of an array, as types are typed: "f32", "u8", "i64".
struct ElementKind {
    char kind = 'f';  // f, u, i
    std::uint32_t bytes = 4;
};
// Throws UsageError naming `option`.
ElementKind read_element_kind(std::string_view word, std::string_view option);

struct ArrayFile {
    std::shared_ptr<const ArrayContents> contents;
    std::uint64_t size_bytes = 0;
};
std::shared_ptr<const ArrayContents> contents_of_bytes(std::string bytes);
// The elements of a .npy file (C order), or all bytes of another one. Throws UsageError.
ArrayFile contents_of_file(const std::string& path);

// "0", "iota", "random", "random:7". Random integers are below `elements`, random reals below 1.
// Throws UsageError naming `option`.
std::shared_ptr<const ArrayContents> contents_by_rule(std::string_view rule, ElementKind kind,
                                                      std::uint64_t elements,
                                                      std::string_view option);

}  // namespace coalprof
