// The source of an input's bytes: a file, stdin, or a text in memory. Read in blocks, so that an
// input of any length costs the same memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coalprof {

class ByteSource {
 public:
    virtual ~ByteSource() = default;
    // Fills the front of `into` with available bytes, waiting only when there are none, and returns
    // how many; 0 is the end. Throws Error when the input cannot be read.
    virtual std::size_t read(std::span<char> into) = 0;
    // True if the input can be read twice: regular files yes, pipes and terminals no.
    virtual bool can_rewind() const = 0;
    // Back to the begin of the reading. Only when can_rewind().
    virtual void rewind() = 0;
};

// Opens a file; "-" is stdin. It is an input from now on (files_in_use.h). `is_stopped` is called
// before and after every read, also one that a signal interrupts: true ends the input there. It may
// throw; without it, a signal that asks for the end throws Stopped, also where a pipe has no writer
// yet. Throws Error (exit code 2) when there is no such file, it is a folder, or it may not be
// read; UsageError when it is an output.
std::unique_ptr<ByteSource> open_bytes(const std::string& path,
                                       std::function<bool()> is_stopped = {});

// The same for an open descriptor, which it owns from now on: no wait for the writer of a pipe.
std::unique_ptr<ByteSource> bytes_of_descriptor(int descriptor, const std::string& name);

// The same for a file that this program keeps and continues to write (core/write/part_file.h).
std::unique_ptr<ByteSource> open_own_bytes(const std::string& path,
                                           std::function<bool()> is_stopped = {});

// Which of the files beside one that is not there may be meant, as a hint; empty: none.
std::string hint_for_missing(const std::string& typed);

// All of its bytes; none if more than `most_bytes`.
std::optional<std::string> read_whole(ByteSource& source, std::size_t most_bytes);

}  // namespace coalprof
