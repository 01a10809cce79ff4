// The value of an option while it is read: what every parser of options holds in order to say, in
// one style, what it cannot read. "--range 0..x: expected an integer after '..'".
#pragma once

#include <cstddef>
#include <string_view>

#include "core/text/error.h"

namespace coalprof {

struct OptionText {
    std::string_view option;  // "--range", or "--var k=" where the value follows directly
    std::string_view text;    // as the user typed it
    std::string_view hint;    // what such values look like

    // Throws the UsageError. `caret` is a byte offset into `text`, or UsageError::no_caret.
    [[noreturn]] void refuse(std::size_t caret, std::string_view why) const;
    [[noreturn]] void refuse(std::size_t caret, std::string_view why,
                             std::string_view other_hint) const;
};

// Without blanks, tabs and line ends on either side.
std::string_view trimmed(std::string_view text);

}  // namespace coalprof
