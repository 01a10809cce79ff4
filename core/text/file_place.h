// Where something stands in a file, for messages that editors can follow: FILE:LINE:COLUMN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.h"

namespace coalprof {

struct FilePlace {
    std::uint32_t line = 1;
    std::uint32_t column = 1;  // in bytes
};

// Answers the places of offsets in a text. Asked for rising offsets it reads the text once.
class PlaceFinder {
 public:
    explicit PlaceFinder(std::string_view text) : text_(text) {}
    FilePlace at(std::size_t offset);

 private:
    std::string_view text_;
    std::size_t counted_ = 0;     // lines that begin at or before it are counted
    std::size_t line_start_ = 0;  // of the last of them
    std::uint32_t line_ = 1;
};

// "FILE:LINE:COLUMN"
std::string text_of(const std::string& file, const FilePlace& place);

// A text that stands in a file, quoted or escaped as it may be there.
struct TextPlace {
    std::string file;               // as messages call it; empty: the text stands in no file
    std::vector<FilePlace> places;  // of each byte of the text, and of its end

    bool is_in_file() const { return !file.empty(); }
    // The error of a parser that was given `text` and knows nothing of files, with the place of its
    // caret before the sentence; of the text's start where the caret is not in that text.
    UsageError located(const UsageError& error, std::string_view text) const;
};

}  // namespace coalprof
