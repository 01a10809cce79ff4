// Text folded into lines of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coalprof {

struct Folding {
    std::size_t columns = 0;  // longest line with its indent; 0: no limit
    std::size_t indent = 0;   // blanks before every line
    std::size_t hanging = 0;  // further indent of lines after the first
    bool cuts_words = false;  // cuts words longer than a line; else they get an overlong line
    // Quotations and options with their values stay on one line, so that they can be copied.
    bool keeps_commands = false;
};

// `text` broken at blanks: at least one line, perhaps an empty one.
std::vector<std::string> folded(std::string_view text, const Folding& folding);

// The lines, each ended by a newline.
std::string folded_text(std::string_view text, const Folding& folding);

// Lines that services which show logs take for commands: GitHub those that begin with "::", after
// any blanks, Azure and TeamCity those with "##". A name in a result may begin like that, in a
// table's first column or where a sentence is folded.

// True if `line` begins like that.
bool begins_like_command(std::string_view line);

// `text` with a backslash before each such beginning.
std::string without_commands(std::string_view text);

// The progress of a run, in a line of text.

// "12 of 33 points, 4.1 a second, 5 s left". `all`: none if not known.
std::string progress_text(std::uint64_t done, std::optional<std::uint64_t> all, double seconds,
                          std::string_view what = "points");

// "5 s", "3 min", "2 h": smaller differences do not matter.
std::string rounded_time(double seconds);

}  // namespace coalprof
