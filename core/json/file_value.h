// A configuration file as a plain tree, with the place of every value for messages. What is wrong
// with a key or a type is the reader's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coalprof {

inline constexpr std::size_t max_config_bytes = 1u << 20;
inline constexpr std::size_t max_config_depth = 16;
inline constexpr std::size_t max_config_names = 1000;  // in one object

struct FileMember;

struct FileValue {
    enum class Kind : std::uint8_t { integer, text, list, object, other };

    Kind kind = Kind::other;
    std::string type = "nothing";  // as people call it: "an integer", "a list", "true or false"
    std::size_t at = 0;            // where it begins, counted in bytes of the file
    std::int64_t integer = 0;
    std::string text;
    std::vector<std::uint32_t>
        text_at;                      // where each byte of `text` stands in the file, and its end
    std::vector<FileValue> items;     // of a list
    std::vector<FileMember> members;  // of an object; no name comes twice
};

struct FileMember {
    std::string name;
    std::size_t at = 0;  // where the name begins
    FileValue value;
};

}  // namespace coalprof
