// The types of C that an index expression names: casts convert to them, sizeof asks for their size.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace coalprof {

struct ValueType {
    std::uint32_t bytes = 0;
    bool is_integer = false;  // its values may make an index
    bool is_signed = true;
};

// "float4", "size_t", "unsigned long long": words with a blank between them; also f32x4, u64x2 and
// the like, as --type has them.
std::optional<ValueType> find_value_type(std::string_view words);

// True if a type may begin with the word: "unsigned", "const", "float4".
bool begins_type(std::string_view word);

}  // namespace coalprof
