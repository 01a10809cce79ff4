// The source of a program, whose places a result names but whose text it does not hold. Code that
// may read files can find it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace coalprof {

// The parameter of a point with its line's file, as the compiler wrote it down.
inline constexpr std::string_view source_file_parameter = "source_file";

struct SourceText {
    std::string text;
    std::string why_not;  // the reason for a missing text; empty: there is one
};

// `file` comes from a result, which may be from anybody.
using FindSource = std::function<SourceText(const std::string& file)>;

}  // namespace coalprof
