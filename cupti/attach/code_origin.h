// Where code without PTX comes from, and what has whoever builds it leave PTX in it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace coalprof {

// A program's file, or that of a library that it has loaded.
struct CodeFile {
    std::string path;
    std::set<std::string> needed;  // libraries, by the names that it asks for them
};

// The one that these bytes of this process were loaded with; none: they are no file's.
std::optional<CodeFile> file_around(const void* bytes);

// Why its machine code has no lines, and what to do: a clause. `file`: none for code that the
// program made or read itself. `capability`: of the GPU, 90 is 9.0.
std::string why_without_ptx(const std::optional<CodeFile>& file, std::uint32_t capability);

// Of an image that the driver loads, and why it has no PTX.
std::string reason_for_image(const std::string& reason, const void* image,
                             std::uint32_t capability);

}  // namespace coalprof
