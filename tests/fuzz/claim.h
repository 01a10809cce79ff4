// What fuzz targets hold on to: claims that are true whatever the input, and text that may be
// printed whatever the user typed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/text/describe.h"
#include "core/text/utf8.h"

namespace coalprof::fuzz {

// Ends the process when it does not hold, in every build.
inline void claim(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// An error that was refused is a usage error, and what users read is a few bounded lines of
// printable text.
inline void claim_printable(const UsageError& error) {
    const std::string lines = describe(error);
    claim(error.code() == ExitCode::usage, "the exit code of a usage error is 2");
    claim(error.caret() == UsageError::no_caret || error.caret() <= error.text().size(),
          "a caret stands in or right behind its text");
    claim(is_valid_utf8(lines), "an error is valid UTF-8");
    claim(lines.size() < 4096, "an error is short");
    claim(lines.starts_with("coalprof: ") && lines.ends_with('\n'), "an error is whole lines");
    for (const char c : lines)
        claim(c == '\n' || static_cast<unsigned char>(c) >= ' ', "an error has no control bytes");
}

}  // namespace coalprof::fuzz
