// The content of a launch's arrays: zeros, 0 1 2 ..., random numbers, or a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/pattern/array_text.h"
#include "core/program/launch_memory.h"

namespace coalprof {

// An element of an array, as types are typed: "f32", "u8", "i64".
struct ElementKind {
    char kind = 'f';  // f, u, i
    std::uint32_t bytes = 4;
};
// Throws UsageError naming `option`.
ElementKind read_element_kind(std::string_view word, std::string_view option);
// "float4" of "float4 const*", "unsignedint" of "unsigned int"; empty: a pointer to pointers.
std::string element_of_type(std::string_view type);
// The element of "unsigned int const*" or "float4*", the number of "int"; nothing if it is no plain
// one.
std::optional<ElementKind> kind_of_type(std::string_view type);

struct ArrayFile {
    std::shared_ptr<const ArrayContents> contents;
    std::uint64_t size_bytes = 0;
    std::optional<ElementKind> kind = {};  // type of a .npy file that was not converted
    bool is_text = false;                  // which few mean as numbers
};
// "int64", as NumPy calls it.
std::string dtype_of(ElementKind kind);
std::shared_ptr<const ArrayContents> contents_of_bytes(std::string bytes);
// The elements of a .npy file (C order), converted to the `wanted` kind, or all bytes of another
// file. Throws UsageError naming `option`: an element that is no number of that kind.
ArrayFile contents_of_file(const std::string& path, const std::optional<ElementKind>& wanted,
                           std::string_view option);

// Random integers are below `elements`, random reals below 1. `rule` is one.
std::shared_ptr<const ArrayContents> contents_by_rule(ArrayRule rule, std::uint64_t seed,
                                                      ElementKind kind, std::uint64_t elements);

}  // namespace coalprof
