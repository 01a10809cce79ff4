// The files that a command reads and those that it writes, by identity and not by name: an input is
// never written. Whatever opens a file notes it here (byte_source.h for reading, core/write for
// writing), so that no option can forget to.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/error.h"

namespace coalprof {

// None where no regular file is: a terminal, a pipe or /dev/null may be read and written at once.
struct FileIdentity {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
std::optional<FileIdentity> identity_of(int fd);
// With errno set where there is none: ENOENT, or why it cannot be told.
std::optional<FileIdentity> identity_of(const std::string& path);

// Inputs are remembered while one lives. main() has it; tests, which read their own output, have
// none unless they test this.
class InputMemory {
 public:
    InputMemory();
    ~InputMemory();
    InputMemory(const InputMemory&) = delete;
    InputMemory& operator=(const InputMemory&) = delete;
};

// The file is read, now or later. Throws UsageError where it is an output.
void note_input(const std::optional<FileIdentity>& file, const std::string& name);
// The same for a path; "-" is standard input.
void note_input(const std::string& path);

// An output, as long as this lives.
class OutputClaim {
 public:
    struct Files {
        std::optional<FileIdentity> replaced = {};  // the file there now
        std::optional<FileIdentity> part = {};      // and the place of an interrupted run's part
    };
    // `name` is for people; `place`, the absolute path, identifies outputs that are not there yet.
    // Throws UsageError where a file is an input, or another output goes to the same place.
    OutputClaim(std::string name, std::string place, const Files& files);
    ~OutputClaim();
    OutputClaim(const OutputClaim&) = delete;
    OutputClaim& operator=(const OutputClaim&) = delete;

    const std::string& name() const { return name_; }
    bool writes(const FileIdentity& file) const {
        return files_.replaced == file || files_.part == file;
    }

 private:
    bool shares_place_with(const OutputClaim& other) const;

    std::string name_;
    std::string place_;
    Files files_;
};

// A place in a file, for messages that editors can follow: FILE:LINE:COLUMN.

struct FilePlace {
    std::uint32_t line = 1;
    std::uint32_t column = 1;  // counted in bytes from 1
};

// Finds lines and columns of offsets in a text. For rising offsets it reads the text once.
class PlaceFinder {
 public:
    explicit PlaceFinder(std::string_view text) : text_(text) {}
    FilePlace at(std::size_t offset);

 private:
    std::string_view text_;
    std::size_t counted_ = 0;     // lines that begin up to here are counted
    std::size_t line_start_ = 0;  // where the last such line begins
    std::uint32_t line_ = 1;
};

// "FILE:LINE:COLUMN"
std::string text_of(const std::string& file, const FilePlace& place);

}  // namespace coalprof
