// Prose broken into lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct Folding {
    std::size_t columns = 0;  // of a line at most, its indent included; 0: no limit
    std::size_t indent = 0;   // of every line
    std::size_t hanging = 0;  // of the lines after the first, more
    bool cuts_words = false;  // those longer than a line; else they stand alone, and over it
};

// `text` broken at blanks: at least one line, perhaps an empty one.
std::vector<std::string> folded(std::string_view text, const Folding& folding);

// The lines, each ended by a newline.
std::string folded_text(std::string_view text, const Folding& folding);

}  // namespace coalprof
