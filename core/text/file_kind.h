// What a file is by its beginning, and what takes such a file: for commands that were given a file
// of another kind.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace coalprof {

class ByteSource;

inline constexpr std::size_t bytes_to_know_a_file = 4096;

// At most so many bytes of a source that nothing was read of. Throws as it does.
std::string beginning_of(ByteSource& source);

// "a document of coalprof", "CUDA source": by the file's first bytes.
std::string_view kind_of_file(std::string_view beginning);
// "coalprof report run.json": what takes a file of this kind; empty: nothing does.
std::string way_of_file(std::string_view beginning, const std::string& file);
// Throws UsageError: `wanted`, "a pattern", is no such file. `hint`: for files of kernels, and
// those that nothing takes.
[[noreturn]] void refuse_kind(std::string_view beginning, const std::string& file,
                              std::string_view wanted, std::string hint);
// The same where `typed` names a file.
void refuse_file(const std::string& typed, std::string_view wanted, std::string hint);

}  // namespace coalprof
